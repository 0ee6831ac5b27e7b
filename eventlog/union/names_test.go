package union_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// machine is a log of a history. Others read it, and it is handed over, in runs.
type machine struct {
	log    *eventlog.Bolt
	id     events.LogID // zero: of the reader
	names  []named      // of each record: what the machine had read as it was written
	sealed []int        // where each run ends
	fed    int          // runs
}

// named is how far other machines' logs were read, by their index.
type named map[int]events.Position

// end is the last record of the first n runs.
func (m *machine) end(n int) int {
	if n == 0 {
		return 0
	}
	return m.sealed[n-1]
}

func mustAppend(tb tester, log *eventlog.Bolt, stream events.StreamID, texts ...string) []events.Record {
	tb.Helper()
	drafts := make([]events.Draft, len(texts))
	for i, s := range texts {
		drafts[i] = logtest.Draft(s)
	}
	records, err := eventlog.AppendEnd(tb.Context(), log, stream, drafts...)
	if err != nil {
		tb.Fatal(err)
	}
	return records
}

// next hands over the next n runs of m.
func (m *machine) next(tb tester, all []*machine, n int) (runs []union.Run) {
	tb.Helper()
	for ; n > 0 && m.fed < len(m.sealed); n-- {
		r, end := union.Run{Log: m.id}, m.end(m.fed+1)
		for i, p := range m.names[end-1] {
			r.Needs = append(r.Needs, events.Place{Log: all[i].id, Position: p})
		}
		for rec, err := range m.log.Between(tb.Context(), events.Position(m.end(m.fed)+1), events.Position(end)) {
			if err != nil {
				tb.Fatal(err)
			}
			r.Records = append(r.Records, rec)
		}
		runs = append(runs, r)
		m.fed++
	}
	return runs
}

// seal ends a run of m, if there is anything in it.
func (m *machine) seal() {
	if m.end(len(m.sealed)) < len(m.names) {
		m.sealed = append(m.sealed, len(m.names))
	}
}

// newMachines makes n logs of one record; the first is the reader's.
func newMachines(tb tester, n int) (all []*machine) {
	tb.Helper()
	for i := range n {
		m := &machine{log: logtest.Open(tb, eventlog.Config{}), names: []named{{}}, sealed: []int{1}}
		first := mustAppend(tb, m.log, events.Daemon, "1")[0]
		if i > 0 {
			m.id = events.LogIDOf(first)
		}
		all = append(all, m)
	}
	return all
}

// write appends a record to machine i, which has read what the others gave away by then.
func write(tb tester, all []*machine, i int) {
	tb.Helper()
	m, read := all[i], named{}
	for j, other := range all {
		if j != i {
			read[j] = events.Position(other.end(len(other.sealed)))
		}
	}
	m.names = append(m.names, read)
	mustAppend(tb, m.log, events.Daemon, fmt.Sprint(len(m.names)))
}

// checkNamed checks F3: the order extends that of each log, and what a record names stands before it, as it was read.
func checkNamed(tb tester, u *union.Union, all []*machine) (shown int) {
	tb.Helper()
	at := map[events.Place]events.Position{}
	ends := map[events.LogID]events.Position{}
	for r, err := range u.All(tb.Context(), 1) {
		if err != nil {
			tb.Fatal(err)
		}
		place := r.Place()
		if place.Position != ends[place.Log]+1 {
			tb.Fatalf("record %d of log %q stands behind %d", place.Position, place.Log, ends[place.Log])
		}
		ends[place.Log], at[place] = place.Position, r.Position
		shown++
		m := all[slices.IndexFunc(all, func(m *machine) bool { return m.id == place.Log })]
		for i, p := range m.names[place.Position-1] {
			if before := at[events.Place{Log: all[i].id, Position: p}]; before == 0 {
				tb.Fatalf("record %d of log %q stands before record %d of log %q, which it names", place.Position, place.Log, p, all[i].id)
			}
		}
	}
	return shown
}

// TestNamedFirst: whatever order runs come in, a record stands behind what it names, and in the end all have a place.
func TestNamedFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		all := newMachines(rt, 3)
		for range rapid.IntRange(0, 16).Draw(rt, "steps") {
			if by := rapid.IntRange(1, 2).Draw(rt, "by"); rapid.Bool().Draw(rt, "write") {
				write(rt, all, by)
			} else {
				all[by].seal()
			}
		}
		all[1].seal()
		all[2].seal()
		dir, start := copies(t), time.Now()
		still := func(c *union.Config) { c.Now = func() time.Time { return start } }
		u := open(rt, all[0].log, dir, still)
		total := 1 + len(all[1].names) + len(all[2].names)
		for all[1].fed < len(all[1].sealed) || all[2].fed < len(all[2].sealed) {
			m := all[rapid.IntRange(1, 2).Draw(rt, "feed")]
			if err := u.Add(t.Context(), m.next(rt, all, rapid.IntRange(1, 3).Draw(rt, "runs"))...); err != nil {
				rt.Fatal(err)
			}
			checkNamed(rt, u, all)
			if rapid.IntRange(0, 9).Draw(rt, "reopen") == 0 {
				u.Close()
				u = open(rt, all[0].log, dir, still)
			}
		}
		if got := checkNamed(rt, u, all); got != total {
			rt.Fatalf("%d records have a place, want %d: %+v", got, total, u.Copies())
		}
	})
}

// TestAllInterleavings hands over three logs of two runs, of which each names all that were given away before it, in all orders.
func TestAllInterleavings(t *testing.T) {
	t.Parallel()
	all := newMachines(t, 4)
	for i := 1; i < 4; i++ {
		write(t, all, i)
		all[i].seal()
	}
	n := 0
	var walk func(order []int, left [4]int)
	walk = func(order []int, left [4]int) {
		for i := 1; i < 4; i++ {
			if next := left; left[i] > 0 {
				next[i]--
				walk(append(slices.Clone(order), i), next)
			}
		}
		if len(order) < 6 {
			return
		}
		n++
		u := open(t, all[0].log, copies(t))
		defer u.Close()
		for _, m := range all {
			m.fed = 0
		}
		for _, i := range order {
			if err := u.Add(t.Context(), all[i].next(t, all, 1)...); err != nil {
				t.Fatal(err)
			}
			checkNamed(t, u, all)
		}
		if got := checkNamed(t, u, all); got != 7 {
			t.Fatalf("%v: %d records have a place, want 7", order, got)
		}
	}
	walk(nil, [4]int{0, 2, 2, 2})
	if n != 90 {
		t.Errorf("%d orders, want 90", n)
	}
}
