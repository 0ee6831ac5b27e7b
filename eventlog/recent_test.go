package eventlog

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/cmemd/cmemd/events"
)

func openForRecent(t *testing.T, cfg Config) *Bolt {
	t.Helper()
	l, err := Open(filepath.Join(t.TempDir(), "log"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func prompt(text string) events.Draft {
	return events.Draft{ID: events.ID{1}, Event: events.PromptSubmitted{Text: text}}
}

func appendPrompts(t *testing.T, l Log, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if _, err := AppendEnd(t.Context(), l, events.Daemon, prompt(text)); err != nil {
			t.Fatal(err)
		}
	}
}

// read is what each way of reading that shares records yields of l, up to and with a position.
func read(t *testing.T, l *Bolt, last events.Position) map[string][]events.Record {
	t.Helper()
	var at []events.Position
	for p := range last {
		at = append(at, p+1)
	}
	all := map[string][]events.Record{}
	for name, seq := range map[string]iter.Seq2[events.Record, error]{
		"Follow": l.Follow(t.Context(), 1), "Followed": l.Followed(t.Context(), 1, last), "GetMany": l.GetMany(t.Context(), at...),
	} {
		for r, err := range seq {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if all[name] = append(all[name], r); r.Position == last {
				break
			}
		}
	}
	for _, p := range at {
		r, err := l.Get(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		all["Get"] = append(all["Get"], r)
	}
	return all
}

// wantAsAll compares what readers are given with what the file holds.
func wantAsAll(t *testing.T, l *Bolt, last events.Position) {
	t.Helper()
	var want []events.Record
	for r, err := range l.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
	}
	for name, got := range read(t, l, last) {
		if len(got) != len(want) {
			t.Errorf("%s: got %d records, want %d", name, len(got), len(want))
			continue
		}
		for i, r := range got {
			stored, err := r.AppendBinary(nil)
			wantStored, wantErr := want[i].AppendBinary(nil)
			if err := errors.Join(err, wantErr); err != nil || r.Position != want[i].Position || !bytes.Equal(stored, wantStored) {
				t.Errorf("%s: got %+v, want %+v, %v", name, r.Header, want[i].Header, err)
			}
		}
	}
}

// TestReadersShareWhatWasAppended: none of those who follow a log, or ask for a record of late, reads the file.
func TestReadersShareWhatWasAppended(t *testing.T) {
	t.Parallel()
	l := openForRecent(t, Config{})
	texts := strings.Fields("one two three four five")
	appendPrompts(t, l, texts...)
	before := l.db.Stats().TxN
	for name, got := range read(t, l, 5) {
		if len(got) != len(texts) {
			t.Errorf("%s: got %d records, want %d", name, len(got), len(texts))
		}
	}
	if n := l.db.Stats().TxN - before; n != 0 {
		t.Errorf("%d transactions were begun to read what had just been appended", n)
	}
	wantAsAll(t, l, 5)
}

// TestFarAndNear reads a log of which some records are kept and others are not: older ones, larger ones, restored ones.
func TestFarAndNear(t *testing.T) {
	t.Parallel()
	from := openForRecent(t, Config{})
	appendPrompts(t, from, "restored", "restored too")
	var restored []events.Record
	for r, err := range from.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		restored = append(restored, r)
	}
	l := openForRecent(t, Config{})
	if err := l.Restore(t.Context(), restored...); err != nil {
		t.Fatal(err)
	}
	large := make([]byte, maxRecentPayload+1)
	for i := range large {
		large[i] = 'a' + byte(rand.N(26)) // so that it is large when it is compressed too
	}
	appendPrompts(t, l, "near", string(slices.Repeat(large, 2)), "near", "near")
	if err := l.Erase(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[events.Position]bool{1: false, 2: false, 3: true, 4: false, 5: false, 6: true} {
		if got := l.recent.has(at); got != want {
			t.Errorf("record %d is kept: got %v, want %v", at, got, want)
		}
	}
	wantAsAll(t, l, 6)
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantAsAll(t, l, 6)
}

// TestStrippedIsNotShared: once Erase or Withhold returns nobody is given the payload, whoever had read it before.
func TestStrippedIsNotShared(t *testing.T) {
	t.Parallel()
	l := openForRecent(t, Config{})
	appendPrompts(t, l, "one", "two", "three")
	read(t, l, 3)
	if err := errors.Join(l.Erase(t.Context(), 1), l.Withhold(t.Context(), 3)); err != nil {
		t.Fatal(err)
	}
	for name, got := range read(t, l, 3) {
		if !got[0].Erased || got[1].Erased || !got[2].Withheld {
			t.Errorf("%s: got %v, %v, %v", name, got[0].Erased, got[1].Erased, got[2].Withheld)
		}
	}
	wantAsAll(t, l, 3)
}

// inOneGroup has requests committed at once, each of which begins when those before it wait: the first append holds the writer up meanwhile.
// during is called while the last of them, an append, is made.
func inOneGroup(t *testing.T, during func(*Bolt), requests ...func(*Bolt) error) *Bolt {
	t.Helper()
	held, free := make(chan struct{}), make(chan struct{})
	var calls int
	var l *Bolt
	l = openForRecent(t, Config{Now: func() time.Time {
		switch calls++; calls {
		case 1:
			close(held)
			<-free
		case 3:
			during(l)
		}
		return time.Now()
	}})
	var group sync.WaitGroup
	start := func(do func(*Bolt) error) {
		group.Go(func() {
			if err := do(l); err != nil {
				t.Error(err)
			}
		})
	}
	start(func(l *Bolt) error { return appendTo(l, "first") })
	<-held
	for i, do := range requests {
		start(do)
		for waiting := 0; waiting <= i; {
			l.writer.queue.mu.Lock()
			waiting = len(l.writer.queue.waiting)
			l.writer.queue.mu.Unlock()
		}
	}
	close(free)
	group.Wait()
	return l
}

// appendTo appends the first record of a stream.
func appendTo(l *Bolt, stream events.StreamID) error {
	_, err := l.Append(context.Background(), stream, 0, prompt(string(stream)))
	return err
}

// TestOnlyWhatIsDurableIsShared looks for a record between its append and the commit.
func TestOnlyWhatIsDurableIsShared(t *testing.T) {
	t.Parallel()
	looked := false
	l := inOneGroup(t, func(l *Bolt) {
		looked = true
		if _, err := l.Get(context.Background(), 2); !errors.Is(err, ErrNotFound) {
			t.Errorf("before its commit: got %v, want ErrNotFound", err)
		}
	}, func(l *Bolt) error { return appendTo(l, "second") }, func(l *Bolt) error { return appendTo(l, "third") })
	if !looked {
		t.Error("the last append was not reached")
	}
	wantAsAll(t, l, 3)
}

// TestErasedInItsOwnCommit: what is appended and erased by one commit is not shared.
func TestErasedInItsOwnCommit(t *testing.T) {
	t.Parallel()
	l := inOneGroup(t, func(*Bolt) {}, func(l *Bolt) error { return appendTo(l, "second") },
		func(l *Bolt) error { return l.Erase(context.Background(), 2) }, func(l *Bolt) error { return appendTo(l, "third") })
	if r, err := l.Get(t.Context(), 2); err != nil || !r.Erased {
		t.Errorf("got erased %v, %v", r.Erased, err)
	}
	wantAsAll(t, l, 3)
}

// TestWhatFailedIsNotShared: a commit that fails leaves no record behind.
func TestWhatFailedIsNotShared(t *testing.T) {
	t.Parallel()
	l := openForRecent(t, Config{})
	appendPrompts(t, l, "one")
	l.file.Close() // so that nothing can be written
	if _, err := AppendEnd(t.Context(), l, events.Daemon, prompt("two")); !errors.Is(err, ErrFailed) {
		t.Errorf("got %v, want ErrFailed", err)
	}
	if l.recent.has(2) {
		t.Error("what is not durable is kept")
	}
	if _, err := l.Get(t.Context(), 1); !errors.Is(err, ErrFailed) {
		t.Errorf("after the end: got %v, want ErrFailed", err)
	}
}

// TestReadOnlyKeepsNothing: nothing is appended to a log that is only read.
func TestReadOnlyKeepsNothing(t *testing.T) {
	t.Parallel()
	l := openForRecent(t, Config{})
	appendPrompts(t, l, "one", "two")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	reading, err := OpenReadOnly(l.Path(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	if reading.recent.places != nil {
		t.Error("a log that is only read keeps records")
	}
	for name, got := range read(t, reading, 2) {
		if len(got) != 2 {
			t.Errorf("%s: got %d records, want 2", name, len(got))
		}
	}
}

// TestRecentIsBounded keeps and forgets records of random sizes at positions with gaps, and compares with what should be kept.
func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	if size := unsafe.Sizeof(events.Record{}); size > 400 {
		t.Errorf("a record takes %d bytes", size)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	codec := events.NewCodec()
	var samples []events.Record
	for _, size := range []int{0, 100, 900, 5000, 40_000, 70_000} {
		samples = append(samples, placed(t, codec, size))
	}
	var c recent
	want, oldest, bytes := map[events.Position]int{}, events.Position(1), 0
	drop := func(p events.Position) {
		bytes -= want[p]
		delete(want, p)
	}
	at := events.Position(0)
	for range 20_000 {
		if at > 0 && rng.IntN(10) == 0 {
			gone := 1 + at - min(at, events.Position(rng.IntN(maxRecent)))
			c.forget([]events.Position{gone})
			drop(gone)
			continue
		}
		at++
		if rng.IntN(500) == 0 {
			at += events.Position(rng.IntN(2 * maxRecent))
		}
		r := samples[rng.IntN(len(samples))]
		r.Position = at
		c.add([]events.Record{r})
		if size := r.PayloadRoom(); size <= maxRecentPayload {
			want[at], bytes = size, bytes+size
			for ; bytes > maxRecentBytes || at-oldest >= maxRecent; oldest++ {
				drop(oldest)
			}
		}
		if len(c.places) > maxRecent || c.bytes > maxRecentBytes || c.bytes != bytes {
			t.Fatalf("at %d: %d places, %d bytes, want %d", at, len(c.places), c.bytes, bytes)
		}
	}
	next := at + 1 // the nearest record behind a position
	for p := at; p > 0; p-- {
		r, ok := c.get(p)
		if ok != (want[p] > 0) || ok && (r.Position != p || r.PayloadRoom() != want[p]) {
			t.Errorf("at %d: got %v, %d bytes, want %d", p, ok, r.PayloadRoom(), want[p])
		}
		if want[p] > 0 {
			next = p
		}
		if far := c.missing(p, at); far != next-1 {
			t.Errorf("from %d on: got nothing as far as %d, want %d", p, far, next-1)
		}
	}
}

// placed is a record whose payload takes at least size bytes.
func placed(t *testing.T, codec *events.Codec, size int) events.Record {
	t.Helper()
	text := make([]byte, size)
	for i := range text {
		text[i] = ' ' + byte(rand.N(95))
	}
	sealed, err := codec.Seal(prompt(string(text)), events.Salt{})
	if err != nil {
		t.Fatal(err)
	}
	return codec.Place(sealed, 1, events.Daemon, 1, 0, events.Hash{}, time.Unix(0, 0))
}
