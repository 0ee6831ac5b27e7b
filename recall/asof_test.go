package recall

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// TestAsOfEveryMoment: a correction, its undoing and its repetition, and inputs that were observed again. A search as of each
// position finds what was held to be so then, and why says of each row the same.
func TestAsOfEveryMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	in := w.put(s.Stream(), events.ToolUsed{Tool: "Edit", Input: "{}", Output: "ok"})[0].Position
	first := w.turn(s, []events.Position{in}, "token first")[0]
	again := w.turn(s, []events.Position{in}, "token again")[0]
	old, fix := newID(), newID()
	from := w.put(events.Daemon, events.MemorySaved{Memory: old, Project: "shop", Text: "token lives an hour"})[0].Position
	w.put(events.Daemon, events.MemorySaved{Memory: fix, Project: "shop", Text: "token lives a day"}, events.MemorySuperseded{Memory: old, By: fix})
	w.put(events.Daemon, events.MemorySuperseded{Memory: fix, By: fix}, events.MemorySuperseded{Memory: old})
	last := w.put(events.Daemon, events.MemorySuperseded{Memory: fix}, events.MemorySuperseded{Memory: old, By: fix})[1].Position
	w.sync()
	stood := map[events.Position][]events.ID{
		from - 1: {again}, from: {again, old}, from + 1: {again, old, fix}, from + 2: {again, fix}, from + 3: {again},
		from + 4: {again, old}, from + 5: {again, old, fix}, last: {again, fix},
	}
	for at := events.Position(1); at <= last; at++ {
		got := idsOf(w.mustSearch(Query{Text: "token", AsOf: at}).Results)
		if want, ok := stood[at]; ok {
			if diff := cmp.Diff(names(want), names(got)); diff != "" {
				t.Errorf("as of %d (-want +got):\n%s", at, diff)
			}
		}
		for _, id := range []events.ID{first, again, old, fix} {
			why, err := w.WhyAsOf(t.Context(), WhyQuery{ID: id.String(), AsOf: at})
			if shown := slices.Contains(got, id); shown != (err == nil && why.Row.Listed()) {
				t.Errorf("as of %d: %s is shown: %t; why: superseded %t, %v", at, id, shown, why.Row.Superseded, err)
			}
		}
	}
	then, err := w.WhyAsOf(t.Context(), WhyQuery{ID: old.String(), AsOf: from + 2})
	if err != nil || then.Row.SupersededBy != fix || !then.Row.ByHand || then.Replaced == nil || then.Replaced.ID != fix {
		t.Errorf("when it was corrected: %+v replaced by %+v, %v", then.Row, then.Replaced, err)
	}
}
