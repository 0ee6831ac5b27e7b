package recall

import (
	"context"
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	maxPreview    = 200 // characters
	maxInputs     = 100 // of a turn
	maxInjections = 5   // newest before the row
)

// Why returns the chain of events that led to a row, and what came after it. Errors are those of Resolve, ErrNotYet, ctx's,
// and of the log and the views.
func (r *Recall) Why(ctx context.Context, q WhyQuery) (Why, error) {
	if err := r.settle(ctx); err != nil {
		return Why{}, err
	}
	resolved, err := r.Resolve(ctx, q.ID)
	if err != nil {
		return Why{}, err
	}
	w := Why{Position: r.cfg.Views.Position(), Turns: []WhyTurn{}, Injected: []WhyInjection{}, After: []WhyAfter{}, AsOf: q.AsOf}
	if w.Row, err = r.cfg.Views.Row(ctx, resolved); err != nil {
		return Why{}, fmt.Errorf("recall: why %s: %w", q.ID, err)
	}
	if q.AsOf > 0 && w.Row.Position > q.AsOf && !w.Row.Forgotten {
		return Why{}, fmt.Errorf("%w: it was recorded at %d", ErrNotYet, w.Row.Position)
	}
	for _, step := range []func(context.Context, *Why) error{
		r.whyAsOf, r.whyRecord, r.whyTurns, r.whySession, r.whyInjected, r.whyReplaced, r.whyAttempts, r.whyAfter,
	} {
		if err := step(ctx, &w); err != nil {
			return Why{}, fmt.Errorf("recall: why %s: %w", q.ID, err)
		}
	}
	w.asOf(w.then)
	w.Verdicts = w.Row.Verdicts()
	return w, nil
}

func (r *Recall) whyRecord(ctx context.Context, w *Why) (err error) {
	w.Recorded, err = r.record(ctx, w.Row.Position)
	return err
}

func (r *Recall) whyTurns(ctx context.Context, w *Why) error {
	turns, err := r.cfg.Views.Turns(ctx, w.Row.Turns...)
	if err != nil {
		return err
	}
	var gone []events.Position
	for _, t := range turns {
		t = w.then.turnAsOf(t)
		wt := WhyTurn{Turn: t, Inputs: []WhyInput{}, More: max(0, len(t.Settles)-maxInputs)}
		for _, at := range t.Settles[:min(len(t.Settles), maxInputs)] {
			in, err := r.input(ctx, at)
			if err != nil {
				return err
			}
			wt.Inputs = append(wt.Inputs, in)
			if in.Erased {
				gone = append(gone, at)
			}
		}
		if t.Ended > 0 {
			out, err := r.record(ctx, t.Ended)
			if err != nil {
				return err
			}
			wt.Output = &out
		}
		w.Turns = append(w.Turns, wt)
	}
	return r.whyErased(ctx, w.Turns, gone)
}

// whyErased says of inputs whose words are gone who decided that.
func (r *Recall) whyErased(ctx context.Context, turns []WhyTurn, gone []events.Position) error {
	if len(gone) == 0 {
		return nil
	}
	why, err := r.erasures(ctx, gone)
	for t := range turns {
		for i := range turns[t].Inputs {
			in := &turns[t].Inputs[i]
			if e, ok := why[in.Position]; ok {
				in.Why = &e
			}
		}
	}
	return err
}

func (r *Recall) input(ctx context.Context, at events.Position) (in WhyInput, err error) {
	if in.Record, err = r.record(ctx, at); err == nil {
		in.Outcome, err = r.outcome(ctx, at)
	}
	return in, err
}

// whySession adds the session and the prompt that the row's work served.
func (r *Recall) whySession(ctx context.Context, w *Why) error {
	if w.Row.Session.IsZero() {
		return nil
	}
	s, err := r.cfg.Views.Session(ctx, w.Row.Session)
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if s, err = r.sessionAsOf(ctx, s, w.then); err != nil {
		return err
	}
	w.Session = &s
	if w.Row.Kind == rows.Prompt {
		return nil
	}
	prompts, err := r.cfg.Views.Prompts(ctx, w.Row.Session)
	for _, p := range prompts {
		if p.Prompt == w.Row.Prompt && p.Position < w.Row.Position {
			w.Prompt = &p
		}
	}
	return err
}

// whyInjected adds what the agent had been given before the work was done.
func (r *Recall) whyInjected(ctx context.Context, w *Why) error {
	if w.Row.Session.IsZero() {
		return nil
	}
	before := w.Row.Position
	if len(w.Turns) > 0 && len(w.Turns[0].Settles) > 0 {
		before = w.Turns[0].Settles[len(w.Turns[0].Settles)-1]
	}
	list, err := r.cfg.Views.InjectionsBefore(ctx, w.Row.Session, before, maxInjections)
	if err != nil {
		return err
	}
	for _, i := range list {
		rows, err := r.rowsAsOf(ctx, w.then, i.IDs...)
		if err != nil {
			return err
		}
		w.Injected = append(w.Injected, WhyInjection{Injection: i, Rows: itemsOf(rows)})
	}
	return nil
}

func (r *Recall) whyReplaced(ctx context.Context, w *Why) (err error) {
	w.Older, w.Newer, err = r.cfg.Views.Replacements(ctx, w.Row.ID)
	if err != nil {
		return err
	}
	by := w.Row.SupersededBy
	if w.Row.FoldedInto != (events.ID{}) {
		by = w.Row.FoldedInto
	}
	if by == (events.ID{}) {
		return nil
	}
	rows, err := r.rowsAsOf(ctx, w.then, by)
	if err != nil || rows[0].Kind == "" && !rows[0].Forgotten {
		return err // or a turn took its place: its rows are the turn's
	}
	w.Replaced = &rows[0]
	return nil
}

// record reads a record's header and a little of what it says.
func (r *Recall) record(ctx context.Context, at events.Position) (Record, error) {
	rec, e, err := r.event(ctx, at)
	if err != nil {
		return Record{}, err
	}
	return Record{Header: rec.Header, Erased: e == nil, Preview: oneLine(previewOf(e), maxPreview)}, nil
}

// previewOf returns the words of an event that tell most of it.
func previewOf(e events.Event) string {
	switch e := e.(type) {
	case events.ToolUsed:
		return oneLine(e.Tool+" "+e.Input, maxPreview/2) + " -> " + e.Output
	case events.AgentStopped:
		return e.LastMessage
	case events.ContextCompacted:
		return e.Summary
	case events.AgentSaid:
		return e.Text
	case events.PromptSubmitted:
		return e.Text
	case events.PreferenceStated:
		return e.Sentence
	case events.TurnReceived:
		return e.Output.RawText()
	case events.TurnFailed:
		return string(e.Class) + ": " + e.Message
	case events.MemorySaved:
		return e.Title + ": " + e.Text
	}
	return ""
}
