package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestCompactWhileServing compacts a log to which four writers append, and that is read and followed meanwhile: nothing is
// lost or there twice, what was erased before is in no byte of the file, and the log goes on in the new file.
func TestCompactWhileServing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	mustAppend(t, l, logtest.Session("a"), 0, "before", "the erased secret", "after")
	mustAppend(t, l, logtest.Session("a"), 3, numbered("filler", 3000)...)
	if err := l.Erase(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	secret := [][]byte{[]byte("the erased secret")}
	if found(t, path, secret) == 0 {
		t.Error("nothing was found before compaction: the search does not work")
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var busy sync.WaitGroup
	for w := range 4 {
		busy.Go(func() {
			for v := events.Version(0); ctx.Err() == nil; v++ {
				if _, err := l.Append(ctx, logtest.Session(fmt.Sprint(w)), v, logtest.Draft("x")); err != nil && ctx.Err() == nil {
					t.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	seen := events.Position(0)
	busy.Go(func() {
		for r, err := range l.Follow(ctx, 1) {
			if err != nil || r.Position != seen+1 {
				t.Errorf("Follow: %d after %d, %v", r.Position, seen, err)
				return
			}
			seen = r.Position
		}
	})
	for range 5 {
		if err := l.Compact(t.Context()); err != nil {
			t.Errorf("Compact: %v", err)
		}
	}
	stop()
	busy.Wait()
	mustVerify(t, l)
	last, err := l.Last(t.Context())
	if err != nil || last <= 3003 || seen < 3003 {
		t.Fatalf("the log ends at %d, %v; %d were followed", last, err, seen)
	}
	if n := found(t, path, secret); n != 0 {
		t.Errorf("%d traces are in the file after compaction", n)
	}
	checkReopened(t, l, path)
}

// checkReopened holds that the file at path is what l says, and that nothing lies beside it.
func checkReopened(t *testing.T, l *eventlog.Bolt, path string) {
	t.Helper()
	want := contents(t, l)
	mustClose(t, l)
	again := openLog(t, path)
	mustVerify(t, again)
	if diff := cmp.Diff(want, contents(t, again)); diff != "" {
		t.Errorf("reopened (-want +got):\n%s", diff)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v; want the log alone", left, err)
	}
}

// TestCompactAndErase erases while the log is compacted: what Compact has copied already must not come back.
func TestCompactAndErase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	mustAppend(t, l, logtest.Session("a"), 0, numbered("word", 5000)...)
	var erasing sync.WaitGroup
	erasing.Go(func() {
		for p := events.Position(1); p <= 40; p++ {
			if err := l.Erase(t.Context(), p); err != nil {
				t.Errorf("Erase: %v", err)
			}
		}
	})
	for range 3 { // it may give up where something is erased all the time; it must not bring anything back
		_ = l.Compact(t.Context())
	}
	erasing.Wait()
	if err := l.Compact(t.Context()); err != nil {
		t.Fatalf("Compact: %v", err)
	}
	all := contents(t, l)
	if got := strings.Join(all[:41], ","); len(all) != 5000 || got != strings.Repeat(",", 40)+all[40] || all[40] == "" {
		t.Errorf("%d records, the first 41: %q", len(all), got)
	}
	checkReopened(t, l, path)
}

// TestCompactBesideAnErasureThatCommits begins a compaction when the writer has made an erasure that is not committed: what the
// compaction copies has the payload still, so it must not replace the log.
func TestCompactBesideAnErasureThatCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var held atomic.Bool
		pass := make(chan struct{}) // lets the writer make one append, while they are held
		path := filepath.Join(t.TempDir(), "log")
		l, err := eventlog.Open(path, eventlog.Config{Now: func() time.Time {
			if held.Load() {
				<-pass
			}
			return time.Now()
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		mustAppend(t, l, logtest.Session("a"), 0, "the erased secret", "after")

		held.Store(true)
		var busy sync.WaitGroup
		begin := func(what string, f func(context.Context) error) {
			busy.Go(func() {
				if err := f(t.Context()); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			})
			synctest.Wait()
		}
		appendTo := func(stream string) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := l.Append(ctx, logtest.Session(stream), 0, logtest.Draft("x"))
				return err
			}
		}
		begin("Append", appendTo("b")) // as long as this is made, the next two wait for one commit
		begin("Erase", func(ctx context.Context) error { return l.Erase(ctx, 1) })
		begin("Append", appendTo("c"))
		pass <- struct{}{}
		synctest.Wait() // the writer has erased, and makes the append that is committed with it
		begin("Compact", l.Compact)
		held.Store(false)
		pass <- struct{}{}
		busy.Wait()

		if diff := cmp.Diff([]string{"", "after", "x", "x"}, contents(t, l)); diff != "" {
			t.Errorf("after Erase and Compact (-want +got):\n%s", diff)
		}
		if n := found(t, path, [][]byte{[]byte("the erased secret")}); n != 0 {
			t.Errorf("%d traces are in the file", n)
		}
		mustVerify(t, l)
	})
}

func TestCompactRefuses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	mustAppend(t, l, logtest.Session("a"), 0, "1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
	mustClose(t, l)
	if err := l.Compact(t.Context()); !errors.Is(err, eventlog.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
	readOnly, err := eventlog.OpenReadOnly(path, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	if err := readOnly.Compact(t.Context()); !errors.Is(err, eventlog.ErrReadOnly) {
		t.Errorf("read-only: %v, want ErrReadOnly", err)
	}
}
