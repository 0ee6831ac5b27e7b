//go:build linux || darwin

package relay

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHomesThatADaemonRefuses: in a home that another user made or may write to, or whose socket's folder is such a one, a hook
// posts nothing and starts nothing; and where it is the home itself, it writes nothing there either.
func TestHomesThatADaemonRefuses(t *testing.T) {
	t.Parallel()
	const stranger = 12345
	give := func(path string) error {
		if os.Getuid() != 0 {
			return errors.ErrUnsupported
		}
		return os.Chown(path, stranger, 0)
	}
	open := func(path string) error { return os.Chmod(path, 0o777) }
	for name, c := range map[string]struct {
		spoil   func(home string) error
		without bool // a folder for a socket
		want    error
		outcome Outcome
	}{
		"run is open to all":               {func(home string) error { return open(filepath.Join(home, "run")) }, false, ErrSocketDir, Spooled},
		"run is another's":                 {func(home string) error { return give(filepath.Join(home, "run")) }, false, ErrSocketDir, Spooled},
		"home is open to all":              {open, false, ErrSocketDir, Lost},
		"home is another's":                {give, false, ErrSocketDir, Lost},
		"a parent is open to all":          {func(home string) error { return open(filepath.Dir(home)) }, false, ErrSocketDir, Lost},
		"a parent is another's":            {func(home string) error { return give(filepath.Dir(home)) }, false, ErrSocketDir, Lost},
		"home is open, and has no run":     {open, true, ErrHome, Lost},
		"home is another's, without a run": {give, true, ErrHome, Lost},
	} {
		home := filepath.Join(shortHome(t), "h")
		run := filepath.Join(home, "run")
		if err := os.MkdirAll(run, 0o700); err != nil {
			t.Fatal(err)
		}
		if c.without {
			if err := os.Remove(run); err != nil {
				t.Fatal(err)
			}
		}
		posted := make(chan struct{}, 9)
		if !c.without {
			strangerAt(t, filepath.Join(run, "cmemd.sock"), posted)
		}
		switch err := c.spoil(home); {
		case errors.Is(err, errors.ErrUnsupported):
			continue
		case err != nil:
			t.Fatal(err)
		}
		before := filesOf(t, home)
		started := false
		r := runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse), Start: func(string) error { started = true; return nil }})
		if r.Outcome != c.outcome || !errors.Is(r.Err, c.want) || started || len(posted) > 0 {
			t.Errorf("%s: %+v, started %v, posted %d; want %s because %v", name, r, started, len(posted), c.outcome, c.want)
		}
		if after := filesOf(t, home); c.outcome == Lost && after != before {
			t.Errorf("%s: there is %s, before %s", name, after, before)
		}
	}
}

// TestNoHomeIsMadeInAnothersFolder: where a home would be made in a folder of another user, as below their HOME by sudo, a hook makes nothing
// there: what belongs to root they could not even remove.
func TestNoHomeIsMadeInAnothersFolder(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(string) error{
		"open":      func(dir string) error { return os.Chmod(dir, 0o777) },
		"another's": func(dir string) error { return os.Chown(dir, 12345, 0) },
	} {
		if name == "another's" && os.Getuid() != 0 {
			continue
		}
		person := filepath.Join(shortHome(t), "person")
		if err := errors.Join(os.Mkdir(person, 0o755), spoil(person)); err != nil {
			t.Fatal(err)
		}
		started := false
		r := runHook(t, Config{Home: filepath.Join(person, ".local", "share", "cmemd"), Stdin: strings.NewReader(toolUse),
			Start: func(string) error { started = true; return nil }})
		if r.Outcome != Lost || !errors.Is(r.Err, ErrHome) || started {
			t.Errorf("%s: %+v, started %v; want %s because %v", name, r, started, Lost, ErrHome)
		}
		if made, err := os.ReadDir(person); len(made) > 0 || err != nil {
			t.Errorf("%s: it made %v, %v", name, made, err)
		}
	}
}

// strangerAt listens at a socket and tells of whoever calls.
func strangerAt(t *testing.T, socket string, called chan<- struct{}) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			called <- struct{}{}
			_ = conn.SetDeadline(time.Now().Add(time.Second))
			_ = conn.Close()
		}
	}()
}
