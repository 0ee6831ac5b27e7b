package relay

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// TestStreamIsInterrupted while the other side neither reads nor answers.
func TestStreamIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]func(Stream) error{
		"reading": func(s Stream) error {
			_, err := s.Read(make([]byte, 10))
			return err
		},
		"writing": func(s Stream) error {
			_, err := s.Write(make([]byte, 8<<20))
			return err
		},
	} {
		s := listening(t)
		failed := make(chan error, 1)
		go func() { failed <- block(s) }()
		select {
		case err := <-failed:
			t.Errorf("%s does not wait: %v", name, err)
		case <-time.After(20 * time.Millisecond):
			s.Interrupt()
		}
		if err := <-failed; err == nil {
			t.Errorf("%s went on", name)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
		s.Interrupt() // of what is closed: nothing
	}
}

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	startDaemon(t, home, says("HTTP/1.1 204 OK\r\n\r\n"))
	s, err := openStream(t.Context(), SocketPath(home))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := io.WriteString(s, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(s); err != nil || string(got) != "HTTP/1.1 204 OK\r\n\r\n" {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := openStream(t.Context(), filepath.Join(home, "none")); !errors.Is(err, fs.ErrNotExist) || !absent(err) {
		t.Errorf("without a socket: %v", err)
	}
}

// listening is a stream to a listener that accepts nothing.
func listening(t *testing.T) Stream {
	t.Helper()
	path := filepath.Join(shortHome(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s, err := openStream(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
