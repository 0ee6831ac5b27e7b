package operate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
)

func TestLastLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 5, ""}, {"a\n", 5, "a"}, {"a\nb\nc\n", 2, "b|c"}, {"a\nb\nc", 2, "b|c"}, {"a\nb\n", 0, ""}, {"a\n\nb\n", 2, "|b"},
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines, err := lastLines(f, c.n)
		var got []string
		for _, l := range lines {
			got = append(got, string(l))
		}
		if strings.Join(got, "|") != c.want || err != nil {
			t.Errorf("the last %d lines of %q are %q, %v", c.n, c.text, got, err)
		}
		if at, _ := f.Seek(0, 1); at != int64(len(c.text)) {
			t.Errorf("left at %d of %d", at, len(c.text))
		}
	}
}

// TestFollowOverRotation follows a log file that is renamed and made anew, as rotation does.
func TestFollowOverRotation(t *testing.T) {
	t.Parallel()
	p := homedir.PathsOf(t.TempDir())
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	write := func(line string) {
		f, err := os.OpenFile(p.LogFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, line)
		f.Close()
	}
	write("one\n")
	a, _, _ := clitest.App()
	out := &lockedBuffer{}
	a.Out = out
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- logs(ctx, a, p, 10, true) }()
	out.waitFor(t, "one\n")
	write("tw")
	write("o\n")
	out.waitFor(t, "two\n")
	if err := os.Rename(p.LogFile, p.LogFile+".1"); err != nil {
		t.Fatal(err)
	}
	write("three\n")
	out.waitFor(t, "one\ntwo\nthree\n")
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// lockedBuffer may be written to and read at once.
type lockedBuffer struct {
	mu sync.Mutex // guards b
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) waitFor(t *testing.T, want string) {
	t.Helper()
	for limit := time.Now().Add(clitest.Timeout); ; time.Sleep(5 * time.Millisecond) {
		l.mu.Lock()
		got := l.b.String()
		l.mu.Unlock()
		if strings.Contains(got, want) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("got %q, want %q in it", got, want)
		}
	}
}
