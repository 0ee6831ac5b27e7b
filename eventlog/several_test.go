package eventlog_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestID: it stays as a log grows and is erased from, and another log has another.
func TestID(t *testing.T) {
	t.Parallel()
	id := func(log eventlog.Log) string {
		id, err := eventlog.ID(t.Context(), log)
		if err != nil {
			t.Fatal(err)
		}
		return id.String()
	}
	one, other := logtest.Open(t, eventlog.Config{}), logtest.Open(t, eventlog.Config{})
	if got := id(one); got != "" {
		t.Errorf("an empty log has the id %s", got)
	}
	mustAppend(t, one, logtest.Session("a"), 0, "1")
	mustAppend(t, other, logtest.Session("a"), 0, "1")
	before := id(one)
	mustAppend(t, one, logtest.Session("a"), 1, "2")
	if err := one.Erase(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if after := id(one); after != before || len(after) != 32 || id(other) == before {
		t.Errorf("got %q, then %q; another has %q", before, after, id(other))
	}
}

// TestWithhold: a payload that was withheld is gone, its record verifies and is read back as that; older programs refuse the file by number.
func TestWithhold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	mustAppend(t, l, logtest.Session("a"), 0, "1", "2", "3")
	if err := l.Erase(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	for range 2 { // twice is no error
		if err := l.Withhold(t.Context(), 1, 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Withhold(t.Context(), 4); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("of no record: got %v, want ErrNotFound", err)
	}
	mustVerify(t, l)
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	l = openLog(t, path)
	for at, want := range map[events.Position]error{1: events.ErrWithheld, 2: events.ErrErased, 3: nil} {
		r, err := l.Get(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Event(); !errors.Is(err, want) || r.Withheld != (at == 1) || r.Erased != (at < 3) {
			t.Errorf("record %d: got %v, withheld %v, erased %v", at, err, r.Withheld, r.Erased)
		}
	}
	if err := l.Erase(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if r, err := l.Get(t.Context(), 1); err != nil || r.Withheld || !r.Erased {
		t.Errorf("erased after that: %v, withheld %v, erased %v", err, r.Withheld, r.Erased)
	}
	if got := formatOf(t, l); got != 7 {
		t.Errorf("the file has format %d, want 7", got)
	}
}

// TestRestoreMoved: a record as a reader of several logs sees it is none that a log can take.
func TestRestoreMoved(t *testing.T) {
	t.Parallel()
	from, to := logtest.Open(t, eventlog.Config{}), logtest.Open(t, eventlog.Config{})
	records := mustAppend(t, from, logtest.Session("a"), 0, "1")
	moved := records[0].Moved(events.LogID{1}, 1, 0, nil)
	if err := to.Restore(t.Context(), moved); !errors.Is(err, events.ErrMoved) {
		t.Errorf("got %v, want ErrMoved", err)
	}
	if err := to.Restore(t.Context(), records...); err != nil {
		t.Errorf("as it was: %v", err)
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	l := logtest.Open(t, eventlog.Config{})
	mustAppend(t, l, logtest.Session("a"), 0, slices.Repeat([]string{"x"}, 2500)...)
	for _, c := range [][2]events.Position{{1, 2500}, {0, 3}, {7, 7}, {990, 1010}, {5, 4}, {2500, 2500}} {
		next := max(c[0], 1)
		for r, err := range l.Between(t.Context(), c[0], c[1]) {
			if err != nil || r.Position != next {
				t.Fatalf("%v: got %d, %v, want %d", c, r.Position, err, next)
			}
			next++
		}
		if next != c[1]+1 && c[0] <= c[1] {
			t.Errorf("%v: ended before %d", c, next)
		}
	}
	for _, err := range l.Between(t.Context(), 2499, 2501) {
		if err != nil && !errors.Is(err, events.ErrCorrupt) {
			t.Errorf("behind the end: got %v, want ErrCorrupt", err)
		}
	}
}
