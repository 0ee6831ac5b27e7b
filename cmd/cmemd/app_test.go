package main

import (
	"bytes"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// testApp is what commands work with in a test, and what it writes.
func testApp() (a *terminal.App, out, errOut *bytes.Buffer) {
	out, errOut = new(bytes.Buffer), new(bytes.Buffer)
	return &terminal.App{Out: out, Err: errOut, Getenv: func(string) string { return "" }, Version: "test"}, out, errOut
}
