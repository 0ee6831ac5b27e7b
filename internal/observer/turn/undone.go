package turn

import (
	"context"
	"slices"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// loadUndone finds which of the session's observations the turn's calls undid. Of what was done before only the calls from the oldest
// of these on are read whose files the turn's calls touch: where they touch none, nothing is.
func (t *Pipeline) loadUndone(ctx context.Context, r Request, p *observer.Prompt) error {
	p.Later = r.Later
	var work evidence.Rework
	addInputs(&work, p.Inputs)
	if len(r.Observed) == 0 || work.Empty() {
		return nil
	}
	first := p.Inputs[0].Position
	var at []session.ObservedInputs
	var observed []events.ObservationParsed
	for _, o := range r.Observed {
		if o.At == 0 || o.Last >= first {
			continue
		}
		_, e, err := t.event(ctx, o.At)
		if err != nil {
			return err
		}
		if e, ok := e.(events.ObservationParsed); ok && isWork(e) && work.Touches(e.FilesModified) {
			at, observed = append(at, o), append(observed, e)
		}
	}
	if len(observed) == 0 {
		return nil
	}
	work = evidence.Rework{}
	if err := t.addCalls(ctx, &work, callsSince(r.Earlier, at)); err != nil {
		return err
	}
	addInputs(&work, p.Inputs)
	for i, o := range observed {
		if by, how := undoneBy(&work, at[i].First, at[i].Last, o); by >= first {
			p.Undone = append(p.Undone, events.Undone{Observation: o.Observation, At: at[i].At, By: by, How: how})
		}
	}
	return nil
}

// callsSince are the positions of earlier calls from the first on that one of observed is about.
func callsSince(earlier []session.Sized, observed []session.ObservedInputs) (positions []events.Position) {
	oldest := observed[0].First
	for _, o := range observed {
		oldest = min(oldest, o.First)
	}
	for _, e := range earlier {
		if e.Position >= oldest {
			positions = append(positions, e.Position)
		}
	}
	return positions
}

// workUndone is what the turn's calls undid, and what of its own observations was undone before they were made; nil: nothing. That the log
// cannot be read for the latter costs a mark, not the answer.
func (t *Pipeline) workUndone(ctx context.Context, p observer.Prompt, made []events.ObservationParsed) *events.WorkUndone {
	rows := p.Undone
	var work evidence.Rework
	if len(p.Later) > 0 && slices.ContainsFunc(made, isWork) {
		addInputs(&work, p.Inputs)
	}
	if !work.Empty() {
		if err := t.addCalls(ctx, &work, p.Later); err != nil {
			t.cfg.Logger.Warn("what became of work that is observed again is not known", "turn", p.Turn, "err", err)
			made = nil
		}
		for _, o := range made {
			if !isWork(o) {
				continue
			}
			if by, how := undoneBy(&work, p.Inputs[0].Position, p.Inputs[len(p.Inputs)-1].Position, o); by != 0 {
				rows = append(rows, events.Undone{Observation: o.Observation, By: by, How: how})
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &events.WorkUndone{Turn: p.Turn, Rows: rows}
}

// isWork reports whether an observation tells of work. What was found out is none.
func isWork(o events.ObservationParsed) bool { return o.Type != observer.TypeDiscovery }

// undoneBy is by which call the work was undone that an observation tells of, and how; 0: by none. What was decided stands as long as what
// it names does.
func undoneBy(work *evidence.Rework, first, last events.Position, o events.ObservationParsed) (events.Position, events.Undoing) {
	return work.UndoneBy(first, last, evidence.Marks(o.Title+"\n"+o.Narrative), o.Type != observer.TypeDecision)
}

func addInputs(work *evidence.Rework, inputs []observer.Input) {
	for _, in := range inputs {
		if c := in.Call(); c != nil {
			work.Add(in.Position, c)
		}
	}
}

// addCalls adds the tool uses at some positions, as far as they can be read.
func (t *Pipeline) addCalls(ctx context.Context, work *evidence.Rework, positions []events.Position) error {
	n := 0
	for rec, err := range eventlog.GetAll(ctx, t.cfg.Log, positions...) {
		e, err := t.payload(positions[n], rec, err)
		if err != nil {
			return err
		}
		if u, ok := e.(events.ToolUsed); ok {
			work.Add(positions[n], evidence.Parse(u))
		}
		n++
	}
	return nil
}
