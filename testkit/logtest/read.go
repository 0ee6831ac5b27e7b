package logtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

func testGet(t *testing.T, l Log) {
	want := appendTo(t, l, Session("a"), 0, numbered("x", 5)...)
	for _, w := range want {
		got, err := l.Get(t.Context(), w.Position)
		if err != nil {
			t.Fatalf("Get %d: %v", w.Position, err)
		}
		equal(t, "record", got, w, sameRecords)
		equal(t, "text", text(t, got), text(t, w))
	}
	for _, at := range []events.Position{0, 6, 1 << 63} {
		_, err := l.Get(t.Context(), at)
		wantErr(t, fmt.Sprint("Get ", at), err, eventlog.ErrNotFound)
	}
}

func testHead(t *testing.T, l Log) {
	head := func(stream events.StreamID) string {
		v, p, err := l.Head(t.Context(), stream)
		return fmt.Sprint(v, p, err)
	}
	equal(t, "unknown stream", head(Session("a")), "0 0 <nil>")
	appendTo(t, l, Session("a"), 0, "1", "2")
	appendTo(t, l, events.Daemon, 0, "3")
	appendTo(t, l, Session("a"), 2, "4")
	equal(t, "a", head(Session("a")), "3 4 <nil>")
	equal(t, "daemon", head(events.Daemon), "1 3 <nil>")
	equal(t, "unknown stream", head(Session("b")), "0 0 <nil>")
	if last, err := l.Last(t.Context()); last != 4 || err != nil {
		t.Errorf("Last: got %d, %v, want 4", last, err)
	}
}

func testStream(t *testing.T, l Log) {
	const n = 2500 // more than two slices
	var a, b events.Version
	for a < n {
		appendTo(t, l, Session("a"), a, numbered(fmt.Sprint("a", a), 125)...)
		appendTo(t, l, Session("b"), b, "b")
		a, b = a+125, b+1
	}
	all := collect(t, l.Stream(t.Context(), Session("a"), 0))
	equal(t, "records of a", len(all), n)
	for i, r := range all {
		if r.Version != events.Version(i+1) || r.Stream != Session("a") {
			t.Fatalf("record %d of a is version %d of %s", i, r.Version, r.Stream)
		}
	}
	for _, from := range []events.Version{1, 2, 1001, n, n + 1, 1 << 63} {
		got := collect(t, l.Stream(t.Context(), Session("a"), from))
		want := all[min(uint64(n), uint64(from-1)):]
		if len(got) != len(want) || len(got) > 0 && got[0].Version != from {
			t.Errorf("from %d: got %d records, want %d", from, len(got), len(want))
		}
	}
	equal(t, "records of b", len(collect(t, l.Stream(t.Context(), Session("b"), 1))), int(b))
	equal(t, "records of an unknown stream", len(collect(t, l.Stream(t.Context(), Session("c"), 1))), 0)
}

func testAll(t *testing.T, l Log) {
	equal(t, "an empty log", len(Records(t, l)), 0)
	appendTo(t, l, Session("a"), 0, "1", "2")
	appendTo(t, l, events.ProviderStream("p"), 0, "3")
	appendTo(t, l, Session("a"), 2, "4")
	for from, want := range map[events.Position][]string{
		0: {"1", "2", "3", "4"}, 1: {"1", "2", "3", "4"}, 3: {"3", "4"}, 4: {"4"}, 5: {}, 1 << 63: {},
	} {
		equal(t, fmt.Sprint("from ", from), texts(t, collect(t, l.All(t.Context(), from))), want)
	}
}

// testSlices reads a log of many slices with records of all sizes, and keeps the records.
func testSlices(t *testing.T, l Log) {
	var want []string
	for i := range events.Version(12) {
		batch := numbered(fmt.Sprint(i), 300)
		batch[7] = fmt.Sprintf("%0*d", 100_000+int(i), i)
		want = append(want, batch...)
		appendTo(t, l, Session("a"), i*300, batch...)
	}
	equal(t, "texts", texts(t, Records(t, l)), want)
	equal(t, "texts from the middle", texts(t, collect(t, l.All(t.Context(), 1777))), want[1776:])
	equal(t, "texts of the stream", texts(t, collect(t, l.Stream(t.Context(), Session("a"), 1))), want)
}

func testAllWhileAppending(t *testing.T, l Log) {
	appendTo(t, l, Session("a"), 0, numbered("x", 1500)...)
	var n events.Position
	for r, err := range l.All(t.Context(), 1) {
		if err != nil {
			t.Fatalf("after %d: %v", n, err)
		}
		if n++; r.Position != n {
			t.Fatalf("got position %d, want %d", r.Position, n)
		}
		if n%500 == 1 { // the consumer itself may append and read
			v, _, err := l.Head(t.Context(), Session("b"))
			if err != nil {
				t.Fatalf("Head: %v", err)
			}
			appendTo(t, l, Session("b"), v, "while reading")
		}
	}
	if n < 1500 {
		t.Errorf("got %d records, want 1500 at least", n)
	}
}

func testBreaks(t *testing.T, l Log) {
	appendTo(t, l, Session("a"), 0, numbered("x", 10)...)
	for name, seq := range map[string]func(func(events.Record, error) bool){
		"All": l.All(t.Context(), 1), "Stream": l.Stream(t.Context(), Session("a"), 1), "Follow": l.Follow(t.Context(), 1),
	} {
		for range 2 { // a sequence can be read again
			n := 0
			for _, err := range seq {
				if n++; err != nil || n == 3 {
					break
				}
			}
			equal(t, name, n, 3)
		}
	}
}

func testCancel(t *testing.T, l Log) {
	appendTo(t, l, Session("a"), 0, numbered("x", 10)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range l.All(ctx, 1) {
		if n++; n == 3 {
			cancel()
		}
		if n > 3 {
			wantErr(t, "All after cancel", err, context.Canceled)
		}
	}
	equal(t, "steps of All", n, 4)
	wantRefused(ctx, t, l, Records(t, l), context.Canceled)
	if n, err := lastError(l.Follow(ctx, 1)); n != 0 || err != nil {
		t.Errorf("Follow: got %d records, %v, want neither", n, err)
	}
	equal(t, "records", len(Records(t, l)), 10)
}

func testFollow(t *testing.T, l Log) {
	appendTo(t, l, Session("a"), 0, numbered("x", 3)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for r, err := range l.Follow(ctx, 2) {
		if err != nil {
			t.Fatalf("Follow: %v", err)
		}
		got = append(got, text(t, r))
		if r.Position == 3 {
			appendTo(t, l, Session("b"), 0, "live 1", "live 2")
		}
		if r.Position == 5 {
			cancel()
		}
	}
	equal(t, "texts", got, []string{"x 1", "x 2", "live 1", "live 2"})
}

// testFollowWaits checks that a follower who has caught up sleeps, wakes with each append, and ends with its context
// or the log.
func testFollowWaits(t *testing.T, open func(testing.TB) Log) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t)
		var mu sync.Mutex
		var got []events.Position
		seen := func() int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return len(got)
		}
		follow := func(ctx context.Context, from events.Position, ended chan<- error) {
			for r, err := range l.Follow(ctx, from) {
				if err != nil {
					ended <- err
					return
				}
				mu.Lock()
				got = append(got, r.Position)
				mu.Unlock()
			}
			ended <- nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		canceled, closed := make(chan error, 1), make(chan error, 1)
		go follow(ctx, 1, canceled)
		equal(t, "records before any", seen(), 0)
		appendTo(t, l, Session("a"), 0, "1")
		equal(t, "records after one", seen(), 1)
		appendTo(t, l, Session("a"), 1, "2", "3")
		equal(t, "records after three", seen(), 3)
		cancel()
		if err := <-canceled; err != nil {
			t.Errorf("Follow after cancel: got %v, want no error", err)
		}
		go follow(t.Context(), 5, closed) // from a position that is not there yet
		appendTo(t, l, Session("a"), 3, "4", "5", "6")
		equal(t, "records after six", seen(), 5)
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wantErr(t, "Follow after Close", <-closed, eventlog.ErrClosed)
		equal(t, "positions", got, []events.Position{1, 2, 3, 5, 6})
	})
}

func testFollowBusy(t *testing.T, l Log) {
	const writers, appends = 8, 60
	var followers, appenders sync.WaitGroup
	for range 3 {
		followers.Go(func() {
			var last events.Position
			for r, err := range l.Follow(t.Context(), 1) {
				if err != nil || r.Position != last+1 {
					t.Errorf("after %d: got %d, %v", last, r.Position, err)
					return
				}
				if last = r.Position; last == writers*appends*2 {
					return
				}
			}
		})
	}
	for w := range writers {
		appenders.Go(func() {
			for i := range events.Version(appends) {
				if _, err := l.Append(t.Context(), Session(fmt.Sprint(w)), i*2, Draft("x"), Draft("y")); err != nil {
					t.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	appenders.Wait()
	if t.Failed() {
		_ = l.Close() // so that the followers end
	}
	followers.Wait()
}

func testErase(t *testing.T, l Log) {
	before := appendTo(t, l, Session("a"), 0, numbered("secret", 6)...)
	wantErr(t, "Erase of an unknown position", l.Erase(t.Context(), 2, 99), eventlog.ErrNotFound)
	if r, err := l.Get(t.Context(), 2); err != nil || r.Erased {
		t.Errorf("a refused Erase erased: %v, %v", r.Erased, err)
	}
	for range 2 { // twice is no error
		if err := l.Erase(t.Context(), 2, 5, 2); err != nil {
			t.Fatalf("Erase: %v", err)
		}
	}
	if err := l.Erase(t.Context()); err != nil {
		t.Errorf("Erase of nothing: %v", err)
	}
	after := Records(t, l)
	for i, r := range after {
		want := before[i]
		want.Erased = r.Position == 2 || r.Position == 5
		equal(t, "record", r, want, sameRecords)
		_, err := r.Event()
		if got := errors.Is(err, events.ErrErased); got != want.Erased {
			t.Errorf("event at %d: %v", r.Position, err)
		}
	}
	appendTo(t, l, Session("a"), 6, "after")
	verify(t, l)
}

func testClose(t *testing.T, l Log) {
	records := appendTo(t, l, Session("a"), 0, "x")
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	ctx := t.Context()
	wantRefused(ctx, t, l, records, eventlog.ErrClosed)
	_, err := l.Append(ctx, Session("a"), 1)
	wantErr(t, "Append of nothing", err, eventlog.ErrClosed)
	_, _, err = l.Head(ctx, Session("unknown"))
	wantErr(t, "Head of an unknown stream", err, eventlog.ErrClosed)
	_, err = lastError(l.Stream(ctx, Session("unknown"), 1))
	wantErr(t, "an unknown stream", err, eventlog.ErrClosed)
	_, err = lastError(l.All(ctx, 1))
	wantErr(t, "All", err, eventlog.ErrClosed)
	_, err = lastError(l.Follow(ctx, 1))
	wantErr(t, "Follow", err, eventlog.ErrClosed)
}

// wantRefused checks that each call which is answered at once returns an error, with records that the log holds, all of session
// "a".
func wantRefused(ctx context.Context, t *testing.T, l Log, records []events.Record, want error) {
	t.Helper()
	_, err := l.Append(ctx, Session("a"), events.Version(len(records)), Draft("no"))
	wantErr(t, "Append", err, want)
	wantErr(t, "Restore", l.Restore(ctx, records...), want)
	wantErr(t, "Erase", l.Erase(ctx, 1), want)
	_, err = l.Get(ctx, 1)
	wantErr(t, "Get", err, want)
	_, err = l.Last(ctx)
	wantErr(t, "Last", err, want)
	_, _, err = l.Head(ctx, Session("a"))
	wantErr(t, "Head", err, want)
	_, err = lastError(l.Stream(ctx, Session("a"), 1))
	wantErr(t, "Stream", err, want)
}
