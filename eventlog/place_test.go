package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// refuses holds that l takes nothing any more, because of cause.
func refuses(t *testing.T, l *eventlog.Bolt, cause error) {
	t.Helper()
	_, err := l.Append(t.Context(), logtest.Session("late"), 0, logtest.Draft("late"))
	if !errors.Is(err, eventlog.ErrFailed) || !errors.Is(err, cause) {
		t.Errorf("Append: got %v, want ErrFailed and %v", err, cause)
	}
	<-l.Done()
	if err := l.Err(); !errors.Is(err, cause) {
		t.Errorf("Err: got %v, want %v", err, cause)
	}
}

// TestExchangedFile takes the file of an open log away in several ways: the first append is refused, the log ends, and what it had
// accepted is in a file beside its path.
func TestExchangedFile(t *testing.T) {
	t.Parallel()
	for name, exchange := range map[string]func(t *testing.T, l *eventlog.Bolt){
		"another file": func(t *testing.T, l *eventlog.Bolt) {
			backup := l.Path() + ".backup"
			if err := errors.Join(l.Backup(t.Context(), backup), os.Rename(backup, l.Path())); err != nil {
				t.Fatal(err)
			}
		},
		"removed": func(t *testing.T, l *eventlog.Bolt) {
			if err := os.Remove(l.Path()); err != nil {
				t.Fatal(err)
			}
		},
		"renamed": func(t *testing.T, l *eventlog.Bolt) {
			if err := os.Rename(l.Path(), l.Path()+".old"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := openLog(t, filepath.Join(t.TempDir(), "log"))
			mustAppend(t, l, logtest.Session("a"), 0, "one", "two")
			exchange(t, l)
			refuses(t, l, eventlog.ErrExchanged)
			at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
			for _, want := range []string{".held-20260506T070809Z", ".held-20260506T070809Z-2"} {
				held, err := l.SaveHeld(at)
				if err != nil || held != l.Path()+want {
					t.Fatalf("SaveHeld: got %q, %v, want %q", held, err, l.Path()+want)
				}
				saved := openLog(t, held)
				if got := contents(t, saved); !cmp.Equal(got, []string{"one", "two"}) {
					t.Errorf("the held file holds %q", got)
				}
				mustVerify(t, saved)
			}
		})
	}
}

// TestCompactInMovedFolder moves the folder of an open log, and opens another log at its old path: compacting refuses to rename a file
// there, whatever the first append after the move was.
func TestCompactInMovedFolder(t *testing.T) {
	t.Parallel()
	old := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	l := openLog(t, filepath.Join(old, "log"))
	mustAppend(t, l, logtest.Session("a"), 0, "secret", "two")
	moved := old + "-moved"
	if err := errors.Join(os.Rename(old, moved), os.Mkdir(old, 0o700)); err != nil {
		t.Fatal(err)
	}
	other := openLog(t, filepath.Join(old, "log"))
	mustAppend(t, other, logtest.Session("b"), 0, "of the other")
	if err := l.Compact(t.Context()); !errors.Is(err, eventlog.ErrExchanged) {
		t.Errorf("Compact: got %v, want ErrExchanged", err)
	}
	refuses(t, l, eventlog.ErrExchanged)
	mustAppend(t, other, logtest.Session("b"), 1, "goes on")
	if got := contents(t, other); !cmp.Equal(got, []string{"of the other", "goes on"}) {
		t.Errorf("the other log holds %q", got)
	}
	held, err := l.SaveHeld(time.Now())
	if err != nil || held != "" && held != filepath.Join(moved, "log") {
		t.Errorf("SaveHeld: got %q, %v; it is whole in %s", held, err, moved)
	}
	left, err := filepath.Glob(filepath.Join(old, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the other log lie %q", left)
	}
}

// TestCutWhileOpen cuts the file of an open log: nothing is accepted into what is no log any more.
func TestCutWhileOpen(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, pageSize} {
		l := tempLog(t)
		mustAppend(t, l, logtest.Session("a"), 0, "one", strings.Repeat("two", 20000))
		truncate(t, l.Path(), size)
		refuses(t, l, events.ErrCorrupt)
	}
}

// TestCutToNothing: a file that is emptied while it is open ends the log at the next reading, and nobody waits for bbolt's locks, which are
// held for good then.
func TestCutToNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	b := openLog(t, path)
	mustAppend(t, b, logtest.Session("a"), 0, "one", "two", "three")
	mustClose(t, b)
	b = openLog(t, path) // so that it has to be read
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := b.Get(ctx, 1)
		_, again := b.Get(ctx, 2)
		_, appended := eventlog.AppendEnd(ctx, b, logtest.Session("a"), logtest.Draft("four"))
		for _, e := range []error{err, again, appended} {
			if !errors.Is(e, eventlog.ErrFailed) {
				err = fmt.Errorf("got %v, want ErrFailed", e)
			}
		}
		ended <- errors.Join(err, b.Close())
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, events.ErrCorrupt) {
			t.Errorf("got %v, want that it is damaged", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for ever")
	}
}

// TestWrittenOver: a file whose content is another log's, though it is the same file, takes nothing any more.
func TestWrittenOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	b := openLog(t, path)
	mustAppend(t, b, logtest.Session("a"), 0, "one")
	backup := path + ".backup"
	if err := b.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		mustAppend(t, b, logtest.Session("a"), events.Version(i+1), "more")
	}
	copied, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(copied, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	refuses(t, b, events.ErrCorrupt)
}

// TestLinkedLog: what Compact writes anew takes the place of the file that a link leads to.
func TestLinkedLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := openLog(t, real).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no links here:", err)
	}
	b := openLog(t, link)
	records := mustAppend(t, b, logtest.Session("a"), 0, "wombatword")
	if err := errors.Join(b.Erase(t.Context(), records[0].Position), b.Compact(t.Context()), b.Close()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(real); err != nil || strings.Contains(string(text), "wombatword") {
		t.Errorf("the word is in the file: %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
}
