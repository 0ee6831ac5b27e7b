package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
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
	json     bool // --json
}

// run carries out one command line and returns the exit code.
func run(args []string) int {
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ(), getenv: os.Getenv, now: time.Now,
		version: version,
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	a.json = a.json || wantsJSON(err, args)
	a.complain(err)
	return exitCode(err)
}

// wantsJSON reports whether args ask for JSON after the place where err ended the reading of them.
func wantsJSON(err error, args []string) bool {
	var usage *usageError
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return errors.As(err, &usage) && (slices.Contains(args, "--json") || slices.Contains(args, "--json=true"))
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
	if !a.json {
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}
