package eventlog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestLeftCopies finds what a killed CopyTo left beside the log: only who may write removes it, and nothing else.
func TestLeftCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	mustClose(t, openLog(t, path))
	for _, name := range []string{"log.copy-123", "log.copy-", "log.copy-mine", "copy-1", "blog.copy-1"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fileOf("half a log")(t, filepath.Join(dir, "log.copy-123", "log.456.tmp"))
	fileOf("a file")(t, filepath.Join(dir, "log.copy-7"))
	l, err := eventlog.OpenReadOnly(path, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	if _, err := os.Stat(filepath.Join(dir, "log.copy-123")); err != nil {
		t.Errorf("OpenReadOnly removed a copy: %v", err)
	}
	openLog(t, path)
	want := []string{"blog.copy-1", "copy-1", "log", "log.copy-", "log.copy-7", "log.copy-mine"}
	if diff := cmp.Diff(want, namesIn(t, dir)); diff != "" {
		t.Errorf("after Open (-want +got):\n%s", diff)
	}
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// slowWriter tells when it is written to, and takes it once it may.
type slowWriter struct{ reached, free chan struct{} }

func (w slowWriter) Write(b []byte) (int, error) {
	select {
	case w.reached <- struct{}{}:
	default:
	}
	<-w.free
	return len(b), nil
}

// TestCopyToSlow copies to somebody slow: nothing of it has a name meanwhile, and the log is compacted and copied to others. Those
// are few: each copy takes the room of the log.
func TestCopyToSlow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, filepath.Join(dir, "log"))
	mustAppend(t, l, logtest.Session("a"), 0, "x")
	slow := slowWriter{reached: make(chan struct{}, 1), free: make(chan struct{})}
	const few = 4
	done := make(chan error, few)
	for range few {
		go func() {
			_, err := l.CopyTo(t.Context(), slow)
			done <- err
		}()
		<-slow.reached
	}
	if err := l.Compact(t.Context()); err != nil {
		t.Errorf("Compact: %v", err)
	}
	if runtime.GOOS != "windows" {
		if diff := cmp.Diff([]string{"log"}, namesIn(t, dir)); diff != "" {
			t.Errorf("while the copy is taken (-want +got):\n%s", diff)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if n, err := l.CopyTo(ctx, slow); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one CopyTo more: got %d, %v; want it to wait until its context ends", n, err)
	}
	close(slow.free)
	for range few {
		if err := <-done; err != nil {
			t.Errorf("CopyTo: %v", err)
		}
	}
	if _, err := l.CopyTo(t.Context(), slow); err != nil {
		t.Errorf("CopyTo after the first: %v", err)
	}
}
