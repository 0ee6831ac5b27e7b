package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/seeded"
)

// TestFault: what the system, another process or a reader's own end says is no damage; all else is.
func TestFault(t *testing.T) {
	t.Parallel()
	of := func(n syscall.Errno) error {
		return fmt.Errorf("scorch: %w", &fs.PathError{Op: "open", Path: "x", Err: n})
	}
	for _, c := range []struct {
		err     error
		damaged bool
	}{
		{of(syscall.ENOSPC), false},
		{of(syscall.EIO), false},
		{of(syscall.EMFILE), false},
		{of(syscall.EACCES), false},
		{of(syscall.EROFS), false},
		{of(syscall.ENOENT), true},
		{of(syscall.EINVAL), true}, // what mmap says of an empty file
		{fmt.Errorf("x: %w", bolterrors.ErrTimeout), false},
		{fmt.Errorf("x: %w", context.Canceled), false},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), false},
		{errStoreClosed, false},
		{errUnwritten, false},
		{errors.New("vellum: not a valid FST"), true},
		{bolterrors.ErrChecksum, true},
	} {
		if got := fault(c.err); errors.Is(got, errDamaged) != c.damaged || !errors.Is(got, c.err) {
			t.Errorf("%v: got %v, want it damaged: %v", c.err, got, c.damaged)
		}
	}
	if err := fault(nil); err != nil {
		t.Errorf("nothing: got %v", err)
	}
}

// damages are what may become of a file.
var damages = []struct {
	name string
	of   func(rng *rand.Rand, b []byte) []byte
}{
	{"a flipped bit", func(rng *rand.Rand, b []byte) []byte { b[rng.IntN(len(b))] ^= 1 << rng.IntN(8); return b }},
	{"a page of zeros", func(rng *rand.Rand, b []byte) []byte {
		at := rng.IntN(len(b))
		clear(b[at:min(len(b), at+4096)])
		return append(b, 0) // zeros may have been there
	}},
	{"a cut file", func(rng *rand.Rand, b []byte) []byte { return b[:rng.IntN(len(b))] }},
	{"bytes appended", func(rng *rand.Rand, b []byte) []byte { return append(b, make([]byte, 1+rng.IntN(5000))...) }},
	{"no file", func(*rand.Rand, []byte) []byte { return nil }},
}

// TestDamagedAtRest damages a file of an index that was closed in order, again and again: what is found is what was found.
func TestDamagedAtRest(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.fill(newCorpus(9), 300)
	source := t.TempDir()
	x := w.mustOpen(source)
	queries := []Query{{}, {Text: "ba co di"}, {Text: "fu ge", Project: "/src/p0"}, {Concept: "how-it-works", Limit: 1000}}
	var want [][]events.ID
	for _, q := range queries {
		want = append(want, idsOf(mustSearch(t, x, q)))
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	rng := seeded.New(t)
	for range 25 {
		dir := filepath.Join(t.TempDir(), "index")
		if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
		all, err := filepath.Glob(filepath.Join(dir, "g*", "*"))
		if err != nil || len(all) < 3 {
			t.Fatalf("files: %v, %v", all, err)
		}
		file, how := all[rng.IntN(len(all))], damages[rng.IntN(len(damages))]
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b = how.of(rng, bytes.Clone(b)); b == nil {
			err = os.Remove(file)
		} else {
			err = os.WriteFile(file, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		y := w.mustOpen(dir)
		for i, q := range queries {
			if diff := cmp.Diff(want[i], idsOf(mustSearch(t, y, q))); diff != "" {
				t.Errorf("%s in %s: %+v (-want +got)\n%s", how.name, filepath.Base(file), q, diff)
			}
		}
		if err := y.Close(); err != nil {
			t.Errorf("%s in %s: close: %v", how.name, filepath.Base(file), err)
		}
	}
}

// TestDamageMetBySearch has a search meet damage: it is answered from the index that is made anew, or hears that there is none yet.
func TestDamageMetBySearch(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	id := w.observe(w.open("codex", "s", "p"), "alpha", "")
	x := w.mustOpen(t.TempDir())
	met := 0
	var damaged atomic.Pointer[store]
	damaged.Store(x.store.Load())
	search := func() (Result, error) {
		return ask(t.Context(), x, time.Millisecond, func(s *store) (Result, error) {
			if s == damaged.Load() {
				met++
				return Result{}, fault(errors.New("a plain error of scorch"))
			}
			return s.search(t.Context(), x.analyzer, &x.scratches, Query{Text: "alpha"})
		})
	}
	if _, err := search(); !errors.Is(err, ErrRebuilding) {
		t.Errorf("while nobody makes it anew: got %v", err)
	}
	<-x.doubt // Run would heal it at once, and not again so soon
	run(t, x)
	damaged.Store(x.store.Load())
	var res Result
	err := error(ErrRebuilding)
	for range 100 {
		if res, err = search(); !errors.Is(err, ErrRebuilding) {
			break
		}
	}
	if diff := cmp.Diff([]events.ID{id}, idsOf(res)); err != nil || diff != "" || met < 1 {
		t.Errorf("got %v (-want +got)\n%s", err, diff)
	}
}

// TestRebuildingTellsNothing: while a damaged index does not know again what it knew, nobody takes it for whole.
func TestRebuildingTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "p")
	w.observe(s, "alpha", "")
	x := w.mustOpen(t.TempDir())
	if err := x.restart(t.Context(), x.store.Load()); err != nil {
		t.Fatal(err)
	}
	limited := func() (*store, error) { return x.whole(t.Context(), time.Millisecond) }
	if _, err := limited(); !errors.Is(err, ErrRebuilding) || !x.Rebuilding() {
		t.Errorf("made anew: got %v, rebuilding %v", err, x.Rebuilding())
	}
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.observe(s, "beta", "") // that it is behind otherwise is told by positions
	if _, err := limited(); err != nil || x.Rebuilding() {
		t.Errorf("caught up: got %v, rebuilding %v", err, x.Rebuilding())
	}
}

// TestUnwritten has the index unable to write: it says so, tries again, loses nothing, and closes without delay.
func TestUnwritten(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]bool{"for a while": true, "until it is closed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			s := w.open("codex", "s", "p")
			w.observe(s, "alpha", "")
			dir := t.TempDir()
			x := w.mustOpen(dir)
			stop := run(t, x)
			away, at := filepath.Join(dir, "away"), filepath.Join(dir, firstStore)
			if err := os.Rename(at, away); err != nil {
				t.Fatal(err)
			}
			await(t, "trouble", func() bool {
				w.observe(s, "beta", "") // each is to be written
				return x.Trouble() != nil
			})
			if err := x.Trouble().Err; !errors.Is(err, errUnwritten) {
				t.Errorf("got %v", err)
			}
			if n := mustSearch(t, x, Query{Text: "alpha"}).Total; n != 1 {
				t.Errorf("found %d while nothing is written, want 1", n)
			}
			if back {
				if err := os.Rename(away, at); err != nil {
					t.Fatal(err)
				}
				last, _ := w.log.Last(t.Context())
				if err := x.Wait(t.Context(), last); err != nil || x.Trouble() != nil {
					t.Errorf("got %v, trouble %v", err, x.Trouble())
				}
			}
			began := time.Now()
			stop()
			if err := x.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v to close", took)
			}
		})
	}
}

// await waits for something to become so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

// TestMoved moves the folder of an open index away, where another daemon begins anew: its files are left alone.
func TestMoved(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "p")
	w.observe(s, "alpha", "")
	dir := filepath.Join(t.TempDir(), "index")
	x := w.mustOpen(dir)
	if err := os.Rename(dir, dir+".moved"); err != nil {
		t.Fatal(err)
	}
	y := w.mustOpen(dir)
	if err := x.Rebuild(t.Context(), nil); !errors.Is(err, engine.ErrMoved) {
		t.Errorf("rebuild: got %v", err)
	}
	if err := x.restart(t.Context(), x.store.Load()); !errors.Is(err, engine.ErrMoved) {
		t.Errorf("restart: got %v", err)
	}
	if err := x.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	// What x was about to write when its folder was moved may be in the other's by its path; that one begins with another store then.
	if _, err := os.Stat(filepath.Join(dir, y.currentName(), dirtyFile)); err != nil {
		t.Errorf("the other's mark: %v", err)
	}
	if n := mustSearch(t, y, Query{Text: "alpha"}).Total; n != 1 {
		t.Errorf("the other finds %d, want 1", n)
	}
}

// TestDoubtOfAnEarlierStore: damage that several searches met at once has the index made anew once.
func TestDoubtOfAnEarlierStore(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.observe(w.open("codex", "s", "p"), "alpha", "")
	x := w.mustOpen(t.TempDir())
	met := x.store.Load()
	if err := x.restart(t.Context(), met); err != nil {
		t.Fatal(err)
	}
	x.doubt <- doubt{met, errDamaged}
	run(t, x)
	last, _ := w.log.Last(t.Context())
	if err := x.Wait(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	await(t, "look at it", func() bool { return len(x.doubt) == 0 })
	if name := x.currentName(); name != "g2" || x.Trouble() != nil {
		t.Errorf("in use is %s, trouble %v", name, x.Trouble())
	}
}
