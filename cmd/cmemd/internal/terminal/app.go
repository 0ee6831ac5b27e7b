package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
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

	writeErr error // the first error of writing to Out
}

// Home returns the folder of all of cmemd's files, whether or not it is there. It is an error where it cannot be, as its path leads
// through what is no folder.
func (a *App) Home() (home string, err error) {
	if a.HomeDir != "" {
		home, err = filepath.Abs(a.HomeDir)
	} else {
		home, err = relay.Home(a.Getenv)
	}
	if err != nil {
		return "", err
	}
	return home, checkFolder(home)
}

// checkFolder returns an error where a file or a device stands in the place of the folder dir, or of one above it. What else is wrong with
// dir is found by whoever opens what is in it. Nobody is advised to move what stands there: it may be the system's.
func checkFolder(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return Advise(fmt.Errorf("%s is no folder, and the home of cmemd is to be %s", at, dir), "let CMEMD_HOME or --home name another folder")
		}
		if !errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
	}
}

// WithClient calls do with a client of this home's daemon. Its error says what to do about one that hangs.
func (a *App) WithClient(do func(c *client.Client) error) error {
	home, err := a.Home()
	if err != nil {
		return err
	}
	c := client.Dial(home)
	defer c.Close()
	err = do(c)
	if errors.Is(err, api.ErrNoAnswer) {
		err = Advise(err, "%s", endHanging(home))
	}
	return err
}

// endHanging says how a daemon that hangs is ended.
func endHanging(home string) string {
	text := "try again; if it hangs, `cmemd stop --kill` ends it and `cmemd start` begins anew: what it accepted is in the log"
	if _, pid := relay.Advertised(home); pid != 0 {
		text += fmt.Sprintf("; its pid is %d: one that was suspended goes on after `kill -CONT %d`", pid, pid)
	}
	return text
}

// MaxSaid is how many bytes are shown of what another program said that failed.
const MaxSaid = 4 << 10

// EndOf is the end of what another program said, of at most MaxSaid bytes.
func EndOf(said string) string {
	said = strings.TrimSpace(said)
	return strings.ToValidUTF8(said[max(0, len(said)-MaxSaid):], "")
}

// Printf writes to standard output. What is captured text must have gone through Visible or VisibleLine.
func (a *App) Printf(format string, args ...any) {
	_, err := fmt.Fprintf(a.Out, format, args...)
	a.writeErr = cmp.Or(a.writeErr, err)
}

// WriteErr is why not all reached standard output that was to be printed; nil: it did.
func (a *App) WriteErr() error { return a.writeErr }

// Infof writes to standard error what is neither data nor an error; nothing with --json.
func (a *App) Infof(format string, args ...any) {
	if !a.JSON {
		fmt.Fprintf(a.Err, format+"\n", args...)
	}
}
