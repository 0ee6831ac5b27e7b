package union_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestWaitEnds: what names records that never come has a place after a minute, and what follows it in its log waits with it.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	h := newJoinedHome(t)
	now := time.Now()
	at := func(c *union.Config) { c.Now = func() time.Time { return now } }
	u := open(t, h.own, h.dir, at)
	more := mustAppend(t, h.other, logtest.Session("b"), "b6", "b7")
	never := events.Place{Log: events.LogID{42}, Position: 1}
	mustAdd(t, u, union.Run{Log: h.id, Records: more[:1], Needs: []events.Place{never}})
	mustAdd(t, u, union.Run{Log: h.id, Records: more[1:]})
	mustAppend(t, h.own, logtest.Session("a"), "a5")
	for range 2 { // as well when it was opened anew
		now = now.Add(29 * time.Second)
		next, err := u.Settle(t.Context())
		if diff := cmp.Diff(append(inTurn(), "a5"), texts(t, u)); diff != "" || err != nil {
			t.Errorf("while it waits: %v\n%s", err, diff)
		}
		if v, last, err := u.Head(t.Context(), logtest.Session("b")); v != 5 || last != 8 || err != nil {
			t.Errorf("Head of the stream while it waits: got %d, %d, %v, want 5, 8", v, last, err)
		}
		if c := u.Copies(); len(c) != 2 || c[0].Last != 7 || c[0].Shown != 5 || c[1].Last != 0 {
			t.Errorf("while it waits: %+v", c)
		}
		if next.Before(now) || next.After(now.Add(time.Minute)) {
			t.Errorf("it waits until %s, it is %s", next, now)
		}
		mustClose(t, u)
		u = open(t, h.own, h.dir, at)
	}
	now = now.Add(3 * time.Second)
	next, err := u.Settle(t.Context())
	if diff := cmp.Diff(append(inTurn(), "a5", "b6", "b7"), texts(t, u)); diff != "" || err != nil || !next.IsZero() {
		t.Errorf("after a minute: %v, %s\n%s", err, next, diff)
	}
}

// TestKnownSince: a record of another log was recorded, for a reader, when it became known here; a clock that goes back is held still.
func TestKnownSince(t *testing.T) {
	t.Parallel()
	start := time.Now().Truncate(time.Second).UTC()
	now := start
	clock := func() time.Time { return now }
	own, other := logtest.Open(t, eventlog.Config{Now: clock}), logtest.Open(t, eventlog.Config{})
	fed := mustAppend(t, other, logtest.Session("b"), "b1", "b2", "b3", "b4")
	u := open(t, own, copies(t), func(c *union.Config) { c.Now = clock })
	mustAppend(t, own, logtest.Session("a"), "a1") // at 0
	for i, step := range []struct {
		at  time.Duration
		own bool
	}{
		{time.Hour, false}, {time.Hour, true}, {2 * time.Hour, false}, {time.Hour, true}, {time.Hour, false}, {3 * time.Hour, true},
		{time.Minute, false},
	} {
		now = start.Add(step.at)
		if step.own {
			mustAppend(t, own, logtest.Session("a"), "a")
			continue
		}
		mustAdd(t, u, union.Run{Log: events.LogIDOf(fed[0]), Records: fed[i/2 : i/2+1]})
	}
	var got []int
	for r, err := range u.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, int(r.RecordedAt.Sub(start)/time.Hour))
	}
	if want := []int{0, 1, 1, 2, 2, 2, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("recorded at hours %v, want %v", got, want)
	}
}

// TestCircle: runs that need each other, because each was sent again with much before it, have a place at once; what needs one of them
// stands behind it, and what needs more than is here waits.
func TestCircle(t *testing.T) {
	t.Parallel()
	own := logtest.Open(t, eventlog.Config{})
	mustAppend(t, own, logtest.Session("a"), "a1")
	u := open(t, own, copies(t))
	logs := make([][]events.Record, 4)
	ids := make([]events.LogID, 4)
	for i, name := range []string{"b", "c", "d", "e"} {
		logs[i] = mustAppend(t, logtest.Open(t, eventlog.Config{}), logtest.Session(name), name+"1", name+"2")
		ids[i] = events.LogIDOf(logs[i][0])
	}
	needs := func(log int, at events.Position) []events.Place { return []events.Place{{Log: ids[log], Position: at}} }
	mustAdd(t, u, union.Run{Log: ids[3], Records: logs[3], Needs: append(needs(0, 3), needs(2, 1)...)}) // b3 is not here
	mustAdd(t, u, union.Run{Log: ids[2], Records: logs[2], Needs: needs(1, 2)})
	mustAdd(t, u, union.Run{Log: ids[0], Records: logs[0][:1]}, union.Run{Log: ids[0], Records: logs[0][1:], Needs: needs(1, 2)})
	if got := texts(t, u); !slices.Equal(got, []string{"a1", "b1"}) {
		t.Errorf("before the circle is here: %v", got)
	}
	mustAdd(t, u, union.Run{Log: ids[1], Records: logs[1], Needs: needs(0, 2)})
	got := texts(t, u)
	if c, d := slices.Index(got, "c2"), slices.Index(got, "d1"); len(got) != 7 || c < 0 || d < c || slices.Contains(got, "e1") {
		t.Errorf("got %v", got)
	}
	again := u.Reads(1)
	mustAppend(t, own, logtest.Session("a"), "a2")
	want := []events.Place{{Log: ids[2], Position: 2}, {Log: ids[0], Position: 2}, {Log: ids[1], Position: 2}}
	byLog := func(a, b events.Place) int { return slices.Compare(a.Log[:], b.Log[:]) }
	reads := u.Reads(2)
	slices.SortFunc(reads, byLog)
	slices.SortFunc(want, byLog)
	if diff := cmp.Diff(want, reads); diff != "" || len(again) > 0 {
		t.Errorf("read before a1: %v; before a2:\n%s", again, diff)
	}
}
