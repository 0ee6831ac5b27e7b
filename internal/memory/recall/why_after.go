package recall

import (
	"context"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
)

const (
	maxAttempts = 50 // the latest
	maxGiven    = 20 // the first injections of a row that are listed
)

// The things that happen to a row after it was recorded.
const (
	AfterSuperseded = "superseded"     // a memory, or a newer summary, took its place
	AfterTakenBack  = "taken back"     // by hand, for nothing in its place
	AfterRestored   = "restored"       // that was undone
	AfterCorrects   = "corrects"       // it took the place of another
	AfterObserved   = "observed again" // its inputs were, and another row came of that
	AfterChecked    = "checked"        // a claim was looked at again
	AfterUndone     = "undone"         // nothing is left in the files of the work that it tells of
	AfterGiven      = "given"          // to an agent
	AfterForgotten  = "forgotten"
)

// whyAttempts finds the other turns that settled the same inputs: those that failed or came to nothing before, and those
// that were asked again since.
func (r *Recall) whyAttempts(ctx context.Context, w *Why) error {
	w.Attempts = []WhyAttempt{}
	if len(w.Turns) == 0 || len(w.Turns[0].Settles) == 0 {
		return nil
	}
	ownTurns, settled := map[events.ID]bool{}, map[events.Position]bool{}
	first := w.Turns[0].Settles[0]
	for _, t := range w.Turns {
		ownTurns[t.ID] = true
		for _, p := range t.Settles {
			settled[p], first = true, min(first, p)
		}
	}
	ids, err := r.turnsOver(ctx, first, settled)
	if err != nil {
		return err
	}
	turns, err := r.cfg.Views.Turns(ctx, ids...)
	for _, t := range turns {
		if !ownTurns[t.ID] {
			w.Attempts = append(w.Attempts, WhyAttempt{Turn: t, Later: t.Started > w.Turns[0].Started})
		}
	}
	w.Attempts = w.Attempts[max(0, len(w.Attempts)-maxAttempts):]
	return err
}

// turnsOver lists the turns that settled any of some inputs, of which the first is given.
func (r *Recall) turnsOver(ctx context.Context, first events.Position, settled map[events.Position]bool) ([]events.ID, error) {
	from, err := r.cfg.Log.Get(ctx, first)
	if err != nil {
		return nil, err
	}
	var ids []events.ID
	for t, err := range eventlog.Events[events.TurnStarted](ctx, r.cfg.Log, from.Stream, from.Version) {
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(t.Event.Settles, func(p events.Position) bool { return settled[p] }) {
			ids = append(ids, t.Event.Turn)
		}
	}
	return ids, nil
}

// whyAfter collects what happened to the row since.
func (r *Recall) whyAfter(ctx context.Context, w *Why) error {
	if w.Row.Forgotten {
		w.After = append(w.After, WhyAfter{What: AfterForgotten, At: w.Row.At, Position: w.Row.Position})
	}
	if err := r.loadDecisions(ctx, w); err != nil {
		return err
	}
	what := AfterObserved
	if w.Row.Outdated {
		what = AfterSuperseded
	}
	for _, row := range w.Newer {
		w.After = append(w.After, WhyAfter{What: what, At: row.At, Position: row.Position, ID: row.ID})
	}
	for _, c := range w.Row.Checks {
		w.After = append(w.After, WhyAfter{What: AfterChecked, At: c.At, Claim: &c.Claim})
	}
	if u := w.Row.Undone; u.Position != 0 {
		rec, err := r.cfg.Log.Get(ctx, u.Position)
		if err != nil {
			return err
		}
		w.After = append(w.After, WhyAfter{What: AfterUndone, At: rec.OccurredAt, Position: u.Position, By: u.By, How: u.How})
	}
	given, _, err := r.cfg.Views.InjectionsOf(ctx, w.Row.ID, maxGiven)
	for _, i := range given {
		w.After = append(w.After, WhyAfter{What: AfterGiven, At: i.At, Position: i.Position, Session: i.Session, Hook: i.Hook})
	}
	order.By(w.After, func(a, b WhyAfter) int {
		if a.Position != 0 && b.Position != 0 {
			return int(a.Position) - int(b.Position)
		}
		return a.At.Compare(b.At)
	})
	return err
}

// loadDecisions finds what persons decided of the row: they do so in the daemon's own stream.
func (r *Recall) loadDecisions(ctx context.Context, w *Why) error {
	for m, err := range eventlog.EventsOfAll[events.MemorySuperseded](ctx, r.cfg.Log, events.Daemon) {
		if err != nil {
			return err
		}
		if what, other := classifySuperseded(m.Event, w.Row.ID); what != "" {
			w.After = append(w.After, WhyAfter{What: what, At: m.OccurredAt, Position: m.Position, ID: other, Writer: m.Event.Writer})
		}
	}
	return nil
}

// classifySuperseded is what a MemorySuperseded means for the row of an id; empty: nothing.
func classifySuperseded(m events.MemorySuperseded, id events.ID) (what string, other events.ID) {
	switch {
	case m.Memory == id && m.By == id:
		return AfterTakenBack, events.ID{}
	case m.Memory == id && m.By == events.ID{}:
		return AfterRestored, events.ID{}
	case m.Memory == id:
		return AfterSuperseded, m.By
	case m.By == id:
		return AfterCorrects, m.Memory
	}
	return "", events.ID{}
}
