package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// run starts x.Run and returns what stops it and waits.
func run(t *testing.T, x *Index) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("run: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

func TestRunFollowsTheLog(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "p")
	x, err := Open(t.Context(), t.TempDir(), w.log, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	stop := run(t, x)
	for i := range 20 {
		id := w.observe(s, fmt.Sprintf("note%d", i), "")
		last, err := w.log.Last(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Wait(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		res := mustSearch(t, x, Query{Text: fmt.Sprintf("note%d", i)})
		if len(res.Hits) != 1 || res.Hits[0].ID != id || res.Position < last {
			t.Fatalf("after position %d: got %+v, want %v", last, res, id)
		}
	}
	stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := x.Wait(ctx, 1000); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait for what never comes: got %v", err)
	}
}

func TestReopenGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "p")
	a := w.observe(s, "alpha", "")
	dir := t.TempDir()
	x := w.mustOpen(dir)
	at := x.Position()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	y, err := Open(t.Context(), dir, w.log, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { y.Close() })
	if y.Position() != at || len(mustSearch(t, y, Query{Text: "alpha"}).Hits) != 1 {
		t.Errorf("at position %d after a clean stop, want %d and what was there", y.Position(), at)
	}
	b := w.observe(s, "alpha beta", "")
	if err := y.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The session's start was read before the restart: its project must still be known.
	if diff := cmp.Diff(sorted([]events.ID{a, b}), sorted(idsOf(mustSearch(t, y, Query{Text: "alpha", Project: "/src/p"})))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// What is found must not depend on damage, another format, or another log.
func TestUntrustedIndexStartsAnew(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"torn segment": func(t *testing.T, dir string) {
			eachFile(t, dir, "*.zap", func(b []byte) []byte { return b[:len(b)/2] })
		},
		"empty segment":   func(t *testing.T, dir string) { eachFile(t, dir, "*.zap", func([]byte) []byte { return nil }) },
		"missing segment": func(t *testing.T, dir string) { eachFile(t, dir, "*.zap", nil) },
		"flipped bits":    func(t *testing.T, dir string) { eachFile(t, dir, "*.zap", flip) },
		"torn root": func(t *testing.T, dir string) {
			eachFile(t, dir, "root.bolt", func(b []byte) []byte { return b[:5000] })
		},
		"overwritten root": func(t *testing.T, dir string) {
			eachFile(t, dir, "root.bolt", func(b []byte) []byte { return make([]byte, len(b)) })
		},
		"root full of junk": func(t *testing.T, dir string) { eachFile(t, dir, "root.bolt", junk) },
		"no current file":   func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "current")) },
		"strange current file": func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "current"), []byte("../../etc\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			s := w.open("codex", "s", "p")
			for i := range 50 {
				w.observe(s, fmt.Sprintf("alpha %d", i), "and beta")
			}
			dir := t.TempDir()
			x := w.mustOpen(dir)
			want := sorted(idsOf(mustSearch(t, x, Query{Text: "beta"})))
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, firstStore, dirtyFile), nil, 0o600); err != nil {
				t.Fatal(err) // as a kill leaves it
			}
			spoil(t, dir)
			y := w.mustOpen(dir)
			if diff := cmp.Diff(want, sorted(idsOf(mustSearch(t, y, Query{Text: "beta"})))); diff != "" || len(want) != 50 {
				t.Errorf("%d wanted; -want +got\n%s", len(want), diff)
			}
		})
	}
}

func eachFile(t *testing.T, dir, pattern string, change func([]byte) []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "g*", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s in %s (%v)", pattern, dir, err)
	}
	for _, f := range files {
		if change == nil {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, change(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func flip(b []byte) []byte {
	for i := 0; i < len(b); i += 97 {
		b[i] ^= 0x55
	}
	return b
}

// junk keeps the first two pages, by which bbolt knows its files.
func junk(b []byte) []byte {
	for i := 8192; i < len(b); i++ {
		b[i] = byte(i * 31)
	}
	return b
}

func TestIndexOfAnotherLogStartsAnew(t *testing.T) {
	t.Parallel()
	for _, extra := range []int{0, 5} {
		first, second := newWriter(t), newWriter(t)
		dir := t.TempDir()
		s := first.open("codex", "s", "p")
		for range 10 {
			first.observe(s, "gone", "")
		}
		if err := first.mustOpen(dir).Close(); err != nil {
			t.Fatal(err)
		}
		s = second.open("codex", "s", "p")
		for range 5 + 2*extra {
			second.observe(s, "here", "")
		}
		x := second.mustOpen(dir)
		if n := mustSearch(t, x, Query{Text: "gone"}).Total; n != 0 {
			t.Errorf("%d documents of another log", n)
		}
		if n := mustSearch(t, x, Query{Text: "here"}).Total; n != 5+2*extra {
			t.Errorf("%d documents of this log, want %d", n, 5+2*extra)
		}
	}
}

func TestOtherFormatStartsAnew(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.observe(w.open("codex", "s", "p"), "alpha", "")
	dir := t.TempDir()
	x := w.mustOpen(dir)
	p := x.builder.store.point
	p.Format = format + 1
	x.builder.next = p
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	y := w.mustOpen(dir)
	if st, err := y.Stats(); err != nil || st.Documents != 1 || y.builder.store.point.Format != format {
		t.Errorf("got %+v, %v", st, err)
	}
	if filepath.Base(y.builder.store.dir) == firstStore {
		t.Error("the store of another format is still in use")
	}
}

func TestRebuildWhileServing(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.fill(newCorpus(3), 2000)
	s := w.open("codex", "s", "p")
	w.observe(s, "needle", "")
	x := w.mustOpen(t.TempDir())
	run(t, x)
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	readers.Go(func() {
		for ctx.Err() == nil {
			if res, err := x.Search(ctx, Query{Text: "needle"}); ctx.Err() == nil && (err != nil || res.Total == 0) {
				t.Errorf("during the rebuild: %+v, %v", res, err)
				return
			}
		}
	})
	var told []events.Position
	err := x.Rebuild(t.Context(), func(done, total events.Position) { told = append(told, done, total) })
	w.observe(s, "needle again", "")
	cancel()
	readers.Wait()
	if err != nil {
		t.Fatal(err)
	}
	last, _ := w.log.Last(t.Context())
	if err := x.Wait(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if n := mustSearch(t, x, Query{Text: "needle"}).Total; n != 2 {
		t.Errorf("%d hits after the rebuild, want 2", n)
	}
	if len(told) < 4 || told[0] > told[1] {
		t.Errorf("progress: %v", told)
	}
	dirs, _ := filepath.Glob(filepath.Join(x.dir, "g*"))
	if len(dirs) != 1 {
		t.Errorf("the old index stays: %v", dirs)
	}
}

func TestDamageFoundWhileRunningHeals(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	id := w.observe(w.open("codex", "s", "p"), "alpha", "")
	x := w.mustOpen(t.TempDir())
	run(t, x)
	if err := x.suspect(t.Context(), x.store.Load(), errDamaged); err != nil && !errors.Is(err, ErrRebuilding) {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		if name := x.currentName(); name != firstStore {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the index was not made anew")
		}
		time.Sleep(5 * time.Millisecond) // real files and scorch's own goroutines: no bubble
	}
	last, _ := w.log.Last(t.Context())
	if err := x.Wait(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]events.ID{id}, idsOf(mustSearch(t, x, Query{Text: "alpha"}))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// An index made anew finds what one does that followed the log in any slices, closed and opened at any point.
func TestRebuiltEqualsLive(t *testing.T) {
	t.Parallel()
	words := []string{"alpha", "beta", "gamma", "delta", "omega", "token_cache", "parseXml"}
	text := rapid.Custom(func(r *rapid.T) string {
		out := ""
		for _, w := range rapid.SliceOfN(rapid.SampledFrom(words), 1, 8).Draw(r, "words") {
			out += w + " "
		}
		return out
	})
	rapid.Check(t, func(r *rapid.T) {
		w := newWriter(t)
		dir, err := os.MkdirTemp(t.TempDir(), "live")
		if err != nil {
			t.Fatal(err)
		}
		x := w.mustOpen(dir)
		sessions := []events.SessionID{w.open("a", "1", "p"), w.open("b", "2", "q")}
		var known []events.ID
		for range rapid.IntRange(1, 25).Draw(r, "events") {
			s := rapid.SampledFrom(sessions).Draw(r, "session")
			switch rapid.IntRange(0, 9).Draw(r, "kind") {
			case 0:
				w.put(s.Stream(), events.PromptSubmitted{Text: text.Draw(r, "prompt")})
			case 1:
				w.put("daemon", events.MemorySaved{Memory: uuid.New(), Title: text.Draw(r, "title"), Session: "m"})
			case 2:
				if len(known) > 0 {
					w.put(s.Stream(), events.MemoryForgotten{IDs: []events.ID{rapid.SampledFrom(known).Draw(r, "forgotten")}})
				}
			case 3:
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
				x = w.mustOpen(dir)
			case 4:
				if err := x.catchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
			default:
				known = append(known, w.observe(s, text.Draw(r, "title"), text.Draw(r, "narrative")))
			}
		}
		if err := x.catchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		queries := []Query{{}, {Text: "alpha"}, {Text: "beta gamma omega"}, {Text: "token xml", Project: "/src/q"}}
		y := w.mustOpen(t.TempDir())
		for _, q := range queries {
			live, rebuilt := mustSearch(t, x, q), mustSearch(t, y, q)
			if diff := cmp.Diff(sorted(idsOf(live)), sorted(idsOf(rebuilt))); diff != "" {
				r.Errorf("%+v: -live +rebuilt\n%s", q, diff)
			}
		}
		x.Close()
		y.Close()
	})
}

func TestStats(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.observe(w.open("codex", "s", "p"), "alpha", "")
	x := w.mustOpen(t.TempDir())
	st, err := x.Stats()
	if err != nil || st.Documents != 1 || st.Bytes == 0 || st.Position != 2 || st.Version != format {
		t.Errorf("got %+v, %v", st, err)
	}
}

// TestBriefIsNotWritten: where the folder goes anyway nobody waits for batches that scorch keeps in memory.
func TestBriefIsNotWritten(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.fill(newCorpus(3), 5)
	for brief, waits := range map[bool]bool{true: false, false: true} {
		var said bytes.Buffer
		x, err := Open(t.Context(), t.TempDir(), w.log, Config{Logger: slog.New(slog.NewTextHandler(&said, nil)), Flush: time.Hour, Brief: brief})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(x.CatchUp(t.Context()), x.Close()); err != nil {
			t.Error(err)
		}
		if waited := strings.Contains(said.String(), "is not on disk"); waited != waits {
			t.Errorf("brief %v: waited %v, want %v", brief, waited, waits)
		}
	}
}
