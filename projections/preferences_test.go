package projections

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/testkit/follow"
)

// state is a person's saying how to work, in a prompt of a session; it returns the row's id.
func (w *world) state(s events.SessionID, sentence, same string) events.ID {
	w.tb.Helper()
	r := w.say(s.Stream(), events.ID{}, events.PromptSubmitted{Number: 1, Text: sentence},
		events.PreferenceStated{Sentence: sentence, Same: events.KeyOf(same), Prompt: 1})
	return r[1].ID
}

// TestPreferencesAreOneInAProject: what says the same is one row with a count. Taken back, it stays silent however often it is said
// again, until that is undone; in another project it stands.
func TestPreferencesAreOneInAProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second, other := w.open(0), w.open(2), w.open(1) // 0 and 2 are of one project
	v := caughtUp(t, w)
	listed := func() (out []string) {
		t.Helper()
		follow.MustCatchUp(t, v)
		all, err := v.Recent(t.Context(), rows.RecentFilter{Kinds: []rows.Kind{rows.Memory}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			out = append(out, r.Project+" "+r.Text+map[int]string{2: " twice", 3: " thrice"}[r.Count])
		}
		return out
	}
	check := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, listed()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	lead := w.state(first, "Always use pnpm.", "pnpm")
	again := w.state(second, "always use pnpm", "pnpm")
	w.state(first, "Never push.", "push")
	check("stated", "p0 Never push.", "p0 Always use pnpm. twice")
	row, err := v.Row(t.Context(), lead)
	if err != nil || row.Type != events.TypePreference || row.Writer != events.WriterPerson || row.Prompt != 1 || row.Session != first {
		t.Errorf("got %+v, %v", row, err)
	}
	same, err := v.Same(t.Context(), row)
	if diff := cmp.Diff([]events.ID{again}, same); diff != "" || err != nil {
		t.Errorf("the same: %v, %s", err, diff)
	}
	w.state(other, "Always use pnpm.", "pnpm")
	check("in another project", "p1 Always use pnpm.", "p0 Never push.", "p0 Always use pnpm. twice")
	w.say(events.Daemon, events.ID{}, events.MemorySuperseded{Memory: lead, By: lead}, events.MemorySuperseded{Memory: again, By: lead})
	check("taken back", "p1 Always use pnpm.", "p0 Never push.")
	w.state(second, "Always use pnpm!", "pnpm")
	check("said again", "p1 Always use pnpm.", "p0 Never push.")
	w.say(events.Daemon, events.ID{}, events.MemorySuperseded{Memory: lead}, events.MemorySuperseded{Memory: again})
	check("undone", "p1 Always use pnpm.", "p0 Never push.", "p0 Always use pnpm. thrice")
	w.forget(true, nil, lead)
	check("forgotten", "p1 Always use pnpm.", "p0 Never push.", "p0 always use pnpm twice")
}
