// Package socket gives tests places to listen at.
package socket

import (
	"net"
	"os"
	"testing"
)

// Dir is a temporary folder whose path leaves room for that of a unix socket below it, of which macOS takes 104 bytes. It is removed
// with all that is in it when the test is over.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// FreeAddress is a loopback address that nobody listens at, or did a moment ago.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
