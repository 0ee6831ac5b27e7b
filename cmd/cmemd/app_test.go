package main

import "bytes"

// testApp is what commands work with in a test, and what it writes.
func testApp() (a *app, out, errOut *bytes.Buffer) {
	out, errOut = new(bytes.Buffer), new(bytes.Buffer)
	return &app{out: out, err: errOut, getenv: func(string) string { return "" }, version: "test"}, out, errOut
}
