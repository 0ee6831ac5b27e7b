package projections

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// TestUndone: a row whose work was undone is marked from that record on, stays listed, and stands again when a person vouches for it. What is
// said of it a second time, and of a row that is not there, changes nothing.
func TestUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	turn := w.start(s, events.TurnObservation, w.tool(s, ""))
	made := w.say(s.Stream(), turn.id, received(turn), w.observation(turn, "sorted by width"))
	id := w.rows[len(w.rows)-1]
	undone := func(by events.Position, ids ...events.ID) events.Position {
		e := events.WorkUndone{Turn: turn.id}
		for _, id := range ids {
			e.Rows = append(e.Rows, events.Undone{Observation: id, By: by, How: events.UndoneRewritten})
		}
		return w.say(s.Stream(), turn.id, e)[0].Position
	}
	at := undone(41, w.id(), id)
	undone(42, id)
	v := caughtUp(t, w)
	row := mustRow(t, v, id)
	if want := (rows.Undone{Position: at, By: 41, How: events.UndoneRewritten}); !cmp.Equal(row.Undone, want) || !row.IsUndone() || !row.Flagged || !row.Listed() {
		t.Errorf("got %+v, flagged %v, listed %v", row.Undone, row.Flagged, row.Listed())
	}
	if then := row.AsOf(made[0].Position, time.Time{}); then.IsUndone() || then.Flagged {
		t.Errorf("before that it was %+v", then.Undone)
	}
	w.say(events.Daemon, events.ID{}, events.MemoryConfirmed{Memory: id})
	if row := mustRow(t, caughtUp(t, w), id); row.IsUndone() || row.Flagged || row.Undone.Position != at {
		t.Errorf("confirmed: %+v, flagged %v", row.Undone, row.Flagged)
	}
}
