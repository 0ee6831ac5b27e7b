package projections

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/testkit/follow"
)

// TestListsOfStates: whatever happens, the list of each state holds the rows that are in it, in the order of time, once each over all
// pages, of all projects and of one; and as many as are counted.
func TestListsOfStates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		v := openIn(t, tempDir(t), w, 5)
		defer func() { v.Close() }()
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			w.step(t)
		}
		follow.MustCatchUp(t, v)
		all, err := v.Rows(context.Background(), w.rows...)
		if err != nil {
			t.Fatal(err)
		}
		for _, roots := range [][]string{nil, {"/home/u/p0"}, {"/home/u/p0", "/home/u/p1"}} {
			counted, err := v.CountStates(context.Background(), roots, nil, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range rows.AllStates() {
				want := ofState(all, roots, s)
				if counted[s] != len(want) {
					t.Errorf("%s of %v: counted %d, want %d", s, roots, counted[s], len(want))
				}
				for _, oldest := range []bool{false, true} {
					got := listed(t, v, rows.ListFilter{Roots: roots, State: s, Oldest: oldest, Limit: rapid.IntRange(1, 5).Draw(t, "page")})
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("%s of %v, oldest first %t (-want +got):\n%s", s, roots, oldest, diff)
					}
					slices.Reverse(want)
				}
				slices.Reverse(want)
			}
		}
	})
}

// ofState are the ids of rows that are in a state, the newest first.
func ofState(all []rows.Row, roots []string, s rows.State) (ids []events.ID) {
	var in []rows.Row
	for _, row := range all {
		if slices.Contains(row.States(), s) && (roots == nil || slices.Contains(roots, row.ProjectRoot)) {
			in = append(in, row)
		}
	}
	slices.SortFunc(in, func(a, b rows.Row) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		return int(b.Position) - int(a.Position)
	})
	for _, row := range in {
		ids = append(ids, row.ID)
	}
	return slices.Compact(ids)
}

// listed are the ids of all pages of a list.
func listed(t tb, v *Views, f rows.ListFilter) (ids []events.ID) {
	f.Looked = 1000
	for {
		found, next, err := v.ListRows(context.Background(), f)
		if err != nil || len(found) > f.Limit {
			t.Fatalf("%d rows, %v", len(found), err)
		}
		for _, row := range found {
			ids = append(ids, row.ID)
		}
		if f.From = next; next == (rows.Place{}) {
			return ids
		}
	}
}

// TestListsByTime: a list of rows is bounded by times, kinds and how many are looked at, and goes on where it was cut.
func TestListsByTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	w.keep(w.start(s, events.TurnObservation, w.tool(s, "")), "one", "two", "three", "four")
	v := caughtUp(t, w)
	two := mustRow(t, v, w.rows[1])
	three := mustRow(t, v, w.rows[2])
	for name, c := range map[string]struct {
		f    rows.ListFilter
		want []string
	}{
		"since":        {rows.ListFilter{Since: two.At, Limit: 9, Looked: 9}, []string{"observation:four", "observation:three", "observation:two"}},
		"until":        {rows.ListFilter{Until: three.At, Limit: 9, Looked: 9, Oldest: true}, []string{"observation:one", "observation:two", "observation:three"}},
		"between":      {rows.ListFilter{Since: two.At, Until: three.At, Limit: 9, Looked: 9, Oldest: true}, []string{"observation:two", "observation:three"}},
		"another kind": {rows.ListFilter{Kinds: []rows.Kind{rows.Memory}, Limit: 9, Looked: 9}, nil},
		"looked":       {rows.ListFilter{Limit: 9, Looked: 3, Match: func(r rows.Row) bool { return r.Title != "four" }}, []string{"observation:three", "observation:two"}},
		"never":        {rows.ListFilter{Until: epoch.Add(-time.Hour), Limit: 9, Looked: 9}, nil},
	} {
		found, _, err := v.ListRows(t.Context(), c.f)
		if diff := cmp.Diff(c.want, titles(found)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}
