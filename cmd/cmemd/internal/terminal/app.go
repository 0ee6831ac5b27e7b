package terminal

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api/client"
)

// App is what every sub-command works with: where it reads and writes, and what surrounds it.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string
	Getenv   func(string) string
	Now      func() time.Time
	Version  string
	HomeDir  string // --home; empty: CMEMD_HOME says it
	JSON     bool   // --json

	unwritten error // the first error of writing to Out
}

// Home returns the folder of all of cmemd's files.
func (a *App) Home() (string, error) {
	if a.HomeDir != "" {
		return filepath.Abs(a.HomeDir)
	}
	return relay.Home(a.Getenv)
}

// Ask calls do with a client of this home's daemon.
func (a *App) Ask(do func(c *client.Client) error) error {
	home, err := a.Home()
	if err != nil {
		return err
	}
	c := client.Dial(home)
	defer c.Close()
	return do(c)
}

// MaxSaid is how many bytes are shown of what another program said that failed.
const MaxSaid = 4 << 10

// Printf writes to standard output. What is captured text must have gone through Visible or VisibleLine.
func (a *App) Printf(format string, args ...any) {
	_, err := fmt.Fprintf(a.Out, format, args...)
	a.unwritten = cmp.Or(a.unwritten, err)
}

// Unwritten is why not all reached standard output that was to be printed; nil: it did.
func (a *App) Unwritten() error { return a.unwritten }

// Say writes to standard error what is neither data nor an error; nothing with --json.
func (a *App) Say(format string, args ...any) {
	if !a.JSON {
		fmt.Fprintf(a.Err, format+"\n", args...)
	}
}
