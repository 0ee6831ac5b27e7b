package union_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/race"
)

// branches are logs that were one up to a record.
type branches struct {
	dir    string
	own    *eventlog.Bolt // the first of them
	u      *union.Union
	ids    []events.LogID // of the others
	all    [][]events.Record
	fed    []int
	common int
	erased map[events.Place]bool // as it was asked for, of the common ones
}

func newBranches(tb testing.TB, rt *rapid.T) *branches {
	b := &branches{dir: copies(tb), common: rapid.IntRange(1, 6).Draw(rt, "common"), erased: map[events.Place]bool{}}
	b.own = logtest.Open(rt, eventlog.Config{})
	shared := mustAppend(rt, b.own, logtest.Session("a"), wording("common", b.common)...)
	for i := range 2 {
		log := logtest.Open(rt, eventlog.Config{})
		if err := log.Restore(rt.Context(), shared...); err != nil {
			rt.Fatal(err)
		}
		records := append([]events.Record{}, shared...)
		more := wording(fmt.Sprint("branch", i), rapid.IntRange(0, 5).Draw(rt, "more"))
		records = append(records, mustAppend(rt, log, logtest.Session("a"), more...)...)
		records = append(records, mustAppend(rt, log, events.Daemon, wording(fmt.Sprint("daemon", i), 2)...)...)
		b.all, b.ids = append(b.all, records), append(b.ids, events.LogID{byte(i + 1)})
	}
	if rapid.Bool().Draw(rt, "own is another") { // then the first of the copies gives the places
		b.own = logtest.Open(rt, eventlog.Config{})
		mustAppend(rt, b.own, logtest.Session("b"), "own")
	}
	mustAppend(rt, b.own, logtest.Session("a"), "own goes on")
	b.fed, b.u = make([]int, 2), open(rt, b.own, b.dir)
	return b
}

func wording(what string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("words-of-%s-%d", what, i))
	}
	return all
}

func (b *branches) add(rt *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(rt, "branch")
	to := rapid.IntRange(b.fed[i], len(b.all[i])).Draw(rt, "to")
	var runs []union.Run
	for b.fed[i] < to {
		n := rapid.IntRange(1, to-b.fed[i]).Draw(rt, "n")
		runs = append(runs, union.Run{Log: b.ids[i], Records: append([]events.Record{}, b.all[i][b.fed[i]:b.fed[i]+n]...)})
		b.fed[i] += n
	}
	if err := b.u.Add(rt.Context(), runs...); err != nil {
		rt.Fatal(err)
	}
}

func (b *branches) erase(rt *rapid.T) {
	p := rapid.IntRange(1, b.common).Draw(rt, "position")
	place := events.Place{Log: b.ids[rapid.IntRange(0, 1).Draw(rt, "by")], Position: events.Position(p)}
	b.erased[place] = true
	if err := b.u.Erase(rt.Context(), place); err != nil {
		rt.Fatal(err)
	}
}

// again closes the union, may lose the order or a copy, and opens it.
func (b *branches) again(rt *rapid.T) {
	_ = b.u.Close()
	switch i := rapid.IntRange(-2, 1).Draw(rt, "lose"); {
	case i >= 0:
		_ = os.Remove(filepath.Join(b.dir, b.ids[i].String()+".db"))
	case i == -1:
		_ = os.Remove(filepath.Join(b.dir, "order"))
		b.erased = map[events.Place]bool{} // the order's file says what is erased for good; the copies have it
	}
	b.u = open(rt, b.own, b.dir)
	for i, id := range b.ids {
		b.fed[i] = 0
		for _, c := range b.u.Copies() {
			if c.Log == id {
				b.fed[i] = int(c.Last)
			}
		}
	}
}

// check looks that each record is there once, at whatever place it is asked for, and that none has words that were erased.
func (b *branches) check(rt *rapid.T) {
	ctx, seen := rt.Context(), map[events.ID]events.Position{}
	next, stream := events.Position(1), 0
	for r, err := range b.u.All(ctx, 1) {
		if err != nil || r.Position != next || seen[r.ID] != 0 {
			rt.Fatalf("record %d, after %d: %v, seen at %d", r.Position, next-1, err, seen[r.ID])
		}
		seen[r.ID] = next
		if next++; r.Stream == logtest.Session("a") {
			stream++
		}
		for i, id := range b.ids { // what a log that is not here calls a record is known once it is here
			p := events.Place{Log: id, Position: r.Place().Position}
			if !r.Place().Log.IsZero() && b.erased[p] && int(p.Position) <= b.fed[i] && !r.Erased {
				rt.Fatalf("%v has its words still", p)
			}
		}
		if r.Previous >= r.Position {
			rt.Fatalf("record %d follows %d", r.Position, r.Previous)
		}
	}
	for i, id := range b.ids {
		for _, r := range b.all[i][:b.fed[i]] {
			if at, ok := b.u.At(events.Place{Log: id, Position: r.Position}); !ok || at == 0 || at != seen[r.ID] {
				rt.Fatalf("record %d of branch %d is at %d, want %d", r.Position, i, at, seen[r.ID])
			}
		}
	}
	for r, err := range b.u.Stream(ctx, logtest.Session("a"), 1) {
		if err != nil || seen[r.ID] != r.Position {
			rt.Fatalf("of the stream, %d: %v", r.Position, err)
		}
		stream--
	}
	if stream != 0 {
		rt.Fatalf("the stream misses %d records", stream)
	}
}

// TestBranches: what logs have in common, because a home was copied, is there once, whatever comes first.
func TestBranches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := newBranches(t, rt)
		rt.Repeat(map[string]func(*rapid.T){"add": b.add, "erase": b.erase, "again": b.again, "": b.check})
	})
}

// TestSame: all places of a record are known, the own log's without a log.
func TestSame(t *testing.T) {
	t.Parallel()
	own := logtest.Open(t, eventlog.Config{})
	shared := mustAppend(t, own, logtest.Session("a"), "one", "two")
	other := logtest.Open(t, eventlog.Config{})
	if err := other.Restore(t.Context(), shared...); err != nil {
		t.Fatal(err)
	}
	id := events.LogID{7}
	all := append(shared, mustAppend(t, other, logtest.Session("a"), "three")...)
	u := open(t, own, copies(t))
	if err := u.Add(t.Context(), union.Run{Log: id, Records: all}); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[events.Place]string{
		{Position: 2}:                       "[{ 2} {07000000000000000000000000000000 2}]",
		{Log: id, Position: 2}:              "[{ 2} {07000000000000000000000000000000 2}]",
		{Log: id, Position: 3}:              "[{07000000000000000000000000000000 3}]",
		{Log: events.LogID{9}, Position: 1}: "[{09000000000000000000000000000000 1}]",
	} {
		if got := fmt.Sprint(u.Same(at)); got != want {
			t.Errorf("Same of %v: %s, want %s", at, got, want)
		}
	}
	if last, err := u.Last(t.Context()); err != nil || last != 3 {
		t.Errorf("the union has %d records, want 3: %v", last, err)
	}
}

// TestSalvagedOpensAtOnce: of a salvaged log the records that it did not lose are not read to find that others still have them.
func TestSalvagedOpensAtOnce(t *testing.T) {
	if race.Enabled {
		t.Skip("it counts allocations")
	}
	const n = 5_000
	own, dir := logtest.Open(t, eventlog.Config{}), copies(t)
	shared := mustAppend(t, own, logtest.Session("a"), wording("common", n)...)
	u := open(t, own, dir)
	mustAdd(t, u, union.Run{Log: events.LogID{1}, Records: shared})
	mustClose(t, u)
	salvaged := events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: events.LogSalvaged{Unread: 1}}
	if _, err := eventlog.AppendEnd(t.Context(), own, events.Daemon, salvaged); err != nil {
		t.Fatal(err)
	}
	if got := testing.AllocsPerRun(1, func() { mustClose(t, open(t, own, dir)) }); got > n {
		t.Errorf("%.0f allocations to open it with %d records that both have", got, n)
	}
}

// TestTwinsOfOwnExchanged: where another log took the own one's place, an older one or what a salvage could read, records that another log
// had as the own one's are shown as that other log has them.
func TestTwinsOfOwnExchanged(t *testing.T) {
	t.Parallel()
	salvaged := func(says events.LogSalvaged, erased bool) func(own, next *eventlog.Bolt, shared []events.Record) error {
		return func(_, next *eventlog.Bolt, shared []events.Record) error {
			relay := eventlog.NewRelay(events.NewCodec())
			for _, r := range shared {
				var err error
				if r.Position == 4 {
					r, err = relay.Lost(r.Stream, r.Version)
				} else {
					r, _ = relay.Add(r)
				}
				if err := errors.Join(err, next.Restore(t.Context(), r)); err != nil {
					return err
				}
			}
			records, err := eventlog.AppendEnd(t.Context(), next, events.Daemon, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: says})
			if err == nil && erased {
				err = next.Erase(t.Context(), records[0].Position)
			}
			return err
		}
	}
	listed := events.LogSalvaged{Lost: 1, LostAt: []events.Span{{From: 4, To: 4}}}
	for name, exchange := range map[string]func(own, next *eventlog.Bolt, shared []events.Record) error{
		"restored": func(_, next *eventlog.Bolt, shared []events.Record) error {
			return next.Restore(t.Context(), shared[:5]...)
		},
		"salvaged":                        salvaged(listed, false),
		"salvaged, the list is cut":       salvaged(events.LogSalvaged{Lost: 2, LostAt: []events.Span{{From: 2, To: 2}}}, false),
		"salvaged, where is not readable": salvaged(listed, true),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, next, dir := logtest.Open(t, eventlog.Config{}), logtest.Open(t, eventlog.Config{}), copies(t)
			shared := mustAppend(t, own, logtest.Session("a"), wording("common", 10)...)
			other := events.LogID{1}
			u := open(t, own, dir)
			mustAdd(t, u, union.Run{Log: other, Records: shared})
			mustClose(t, u)
			if err := exchange(own, next, shared); err != nil {
				t.Fatal(err)
			}
			u = open(t, next, dir)
			mustAppend(t, next, logtest.Session("a"), wording("since", 10)...)
			seen := map[events.ID]events.Position{}
			for r, err := range u.All(t.Context(), 1) {
				if err != nil || seen[r.ID] > 0 {
					t.Fatalf("record %d, seen at %d: %v", r.Position, seen[r.ID], err)
				}
				seen[r.ID] = r.Position
			}
			for _, r := range shared {
				if at, ok := u.At(events.Place{Log: other, Position: r.Position}); !ok || at != seen[r.ID] {
					t.Errorf("record %d of the other log is at %d, and shown at %d", r.Position, at, seen[r.ID])
				}
			}
		})
	}
}
