package main

import (
	"fmt"
	"io"
	"time"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
)

// app is what every sub-command works with: where it reads and writes, and what surrounds it.
type app struct {
	in       io.Reader
	out, err io.Writer
	environ  []string
	getenv   func(string) string
	now      func() time.Time
	version  string
	JSON     bool // --json
}

// home returns the folder of all of cmemd's files.
func (a *app) home() (string, error) { return relay.Home(a.getenv) }

// ask calls do with a client of this home's daemon.
func (a *app) ask(do func(c *api.Client) error) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	c := api.Dial(home)
	defer c.Close()
	return do(c)
}

// printf writes to standard output. What is captured text must have gone through visible or visibleLine.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// say writes to standard error what is neither data nor an error; nothing with --json.
func (a *app) say(format string, args ...any) {
	if !a.JSON {
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}
