// Package clitest is what tests of several packages of the command need. Nothing but tests imports it.
package clitest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// Timeout is how long tests wait for what comes within a second on a machine that has nothing else to do.
const Timeout = time.Minute

// App is what commands work with in a test, and what it writes.
func App() (a *terminal.App, out, errOut *bytes.Buffer) {
	out, errOut = new(bytes.Buffer), new(bytes.Buffer)
	return &terminal.App{Out: out, Err: errOut, Getenv: func(string) string { return "" }, Version: "test"}, out, errOut
}

// AppAt is App where CMEMD_HOME, and no other variable, is set.
func AppAt(home string) (a *terminal.App, out, errOut *bytes.Buffer) {
	a, out, errOut = App()
	a.Getenv = func(name string) string { return map[string]string{"CMEMD_HOME": home}[name] }
	return a, out, errOut
}

// HomeWith makes a home with a file of settings.
func HomeWith(tb testing.TB, settings string) string {
	tb.Helper()
	home := tb.TempDir()
	if err := os.WriteFile(filepath.Join(home, config.FileName), []byte(settings), 0o600); err != nil {
		tb.Fatal(err)
	}
	return home
}

// JSON is v as JSON. It panics on what has none.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TempHome makes a home, and settings by which its daemon has no port.
func TempHome(tb testing.TB) (homedir.Paths, *config.Loaded) {
	tb.Helper()
	p := homedir.PathsOf(tb.TempDir())
	if err := p.Make(); err != nil {
		tb.Fatal(err)
	}
	l := config.Standard()
	l.Listen = ""
	return p, l
}
