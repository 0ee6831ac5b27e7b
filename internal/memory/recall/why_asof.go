package recall

import (
	"context"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/injections"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/turn"
)

// whyAsOf makes the row what it was at the moment that is asked for. What is forgotten stays so.
func (r *Recall) whyAsOf(ctx context.Context, w *Why) (err error) {
	if w.Row.Forgotten {
		return nil
	}
	if w.then, err = r.momentOf(ctx, w.AsOf); err != nil {
		return err
	}
	rows, err := r.rowsAsOf(ctx, w.then, w.Row.ID)
	if err != nil {
		return err
	}
	w.Row = rows[0]
	return nil
}

// asOf takes away what was not known at a moment, from what was collected as it is now.
func (w *Why) asOf(then moment) {
	if then.position == 0 {
		return
	}
	late := func(at events.Position, when time.Time) bool {
		if at != 0 {
			return at > then.position
		}
		return when.After(then.at)
	}
	w.After = slices.DeleteFunc(w.After, func(a WhyAfter) bool { return late(a.Position, a.At) })
	w.Attempts = slices.DeleteFunc(w.Attempts, func(a WhyAttempt) bool { return a.Started > then.position })
	for i, a := range w.Attempts {
		w.Attempts[i].Turn = then.turnAsOf(a.Turn)
	}
	w.Injections = slices.DeleteFunc(w.Injections, func(i injections.Injection) bool { return i.Position > then.position })
	w.Newer = then.pastRows(w.Newer, func(rows.Row) bool { return true })
	w.Older = then.pastRows(w.Older, func(row rows.Row) bool { return row.Superseded || row.Outdated })
	w.settled()
}

// settled gives the inputs the outcomes that they had at a moment: a turn of the row's own had kept them, unless one of the
// others skipped them since.
func (w *Why) settled() {
	last := map[events.Position]turn.Turn{}
	tell := func(t turn.Turn) {
		if t.Ended == 0 || t.Result != turn.Kept && t.Result != turn.Skipped {
			return
		}
		for _, p := range t.Settles {
			if last[p].Ended < t.Ended {
				last[p] = t
			}
		}
	}
	for _, a := range w.Attempts {
		tell(a.Turn)
	}
	for _, t := range w.Turns {
		tell(t.Turn)
	}
	for _, t := range w.Turns {
		for i := range t.Inputs {
			switch in := &t.Inputs[i]; {
			case in.Read, in.Outcome == outcomes.Forgotten:
			case last[in.Position].Result == turn.Skipped:
				in.Outcome = outcomes.Skipped
			case last[in.Position].Result == turn.Kept:
				in.Outcome = outcomes.Observed
			}
		}
	}
}
