package process

import (
	"net"
	"os"
	"testing"
)

func TestListener(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if pid, command := Listener(port); pid != os.Getpid() || command == "" {
		t.Errorf("got %d, %q; want this process", pid, command)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if pid, command := Listener(0); pid != 0 || command != "" {
		t.Errorf("at no port: got %d, %q", pid, command)
	}
}

func FuzzListening(f *testing.F) {
	f.Add([]byte("  0: 0100007F:9415 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 27482 1 0 100 0 0 10 0\n"))
	f.Fuzz(func(_ *testing.T, table []byte) { listening(table, 37909) })
}
