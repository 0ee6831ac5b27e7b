package peer

import (
	"net"
	"path/filepath"
	"testing"
)

// BenchmarkOf asks who is at the other end of a connection: this process, with whatever stands above it.
func BenchmarkOf(b *testing.B) {
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	asking, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer asking.Close()
	conn, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	agents := Agents{Programs: []string{"claude", "codex"}, Variables: []string{"CLAUDECODE", "CODEX_CI"}}
	for b.Loop() {
		Of(conn, agents)
	}
}
