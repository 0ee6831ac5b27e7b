package recall

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/injections"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	maxPreview    = 200     // characters, or bytes of what was only read
	maxWhyText    = 4 << 10 // bytes of a tool's input or output
	maxInputs     = 100     // of a turn, that it settled; and that it only read
	maxInjections = 5       // newest before the row
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
	w := Why{Position: r.cfg.Views.Position(), AsOf: q.AsOf, Turns: []WhyTurn{}, Prompts: []rows.Row{}, After: []WhyAfter{}}
	if w.Row, err = r.cfg.Views.Row(ctx, resolved); err != nil {
		return Why{}, fmt.Errorf("recall: why %s: %w", q.ID, err)
	}
	if q.AsOf > 0 && w.Row.Position > q.AsOf && !w.Row.Forgotten {
		return Why{}, fmt.Errorf("%w: it was recorded at %d", ErrNotYet, w.Row.Position)
	}
	for _, step := range []func(context.Context, *Why) error{
		r.whyAsOf, r.whyRecorded, r.whyTurns, r.whySession, r.whyInjected, r.whyReplaced, r.whyAttempts, r.whyAfter,
	} {
		if err := step(ctx, &w); err != nil {
			return Why{}, fmt.Errorf("recall: why %s: %w", q.ID, err)
		}
	}
	w.asOf(w.then)
	w.Verdicts = append([]Verdict{}, w.Row.Verdicts()...)
	return w, nil
}

// whyRecorded adds when the row was recorded, and of one that is forgotten what its record says.
func (r *Recall) whyRecorded(ctx context.Context, w *Why) error {
	rec, e, err := r.event(ctx, w.Row.Position)
	w.RecordedAt = rec.RecordedAt
	if w.Row.Forgotten {
		m, _ := e.(events.MemoryForgotten)
		w.Forgotten = &MemoryForgottenRow{At: w.Row.At, Position: w.Row.Position, Cause: m.Cause, Records: len(m.Positions), Residue: m.ErasedHash}
	}
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
		wt := WhyTurn{Turn: t, Inputs: []WhyInput{}, More: max(0, len(t.Settles)-maxInputs) + max(0, len(t.Reads)-maxInputs)}
		for _, at := range t.Settles[:min(len(t.Settles), maxInputs)] {
			in, err := r.settledInput(ctx, at)
			if err != nil {
				return err
			}
			wt.Inputs = append(wt.Inputs, in)
			if in.Erased {
				gone = append(gone, at)
			}
		}
		for _, at := range t.Reads[:min(len(t.Reads), maxInputs)] {
			in, err := r.readInput(ctx, at)
			if err != nil {
				return err
			}
			wt.Inputs = append(wt.Inputs, in)
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

// settledInput is an input that a turn settled.
func (r *Recall) settledInput(ctx context.Context, at events.Position) (WhyInput, error) {
	in, e, err := r.whyInput(ctx, at)
	if err != nil {
		return in, err
	}
	in.Preview = strings.TrimPrefix(oneLine(previewOf(e), maxPreview), in.Tool+" ")
	in.Outcome, err = r.outcome(ctx, at)
	return in, err
}

// readInput is a record that a turn only read.
func (r *Recall) readInput(ctx context.Context, at events.Position) (WhyInput, error) {
	in, e, err := r.whyInput(ctx, at)
	in.Read = true
	switch e := e.(type) {
	case events.AgentStopped:
		in.Preview = e.LastMessage
	case events.AgentSaid:
		in.Preview = e.Text
	case events.ContextCompacted:
		in.Preview = e.Summary
	case events.ObservationParsed:
		in.Preview = e.Title
	case events.SummaryParsed:
		in.Preview = e.Request
	}
	in.Preview = clip.Head(in.Preview, maxPreview)
	return in, err
}

// whyInput is what the record at a position is, and what it says; nil: that is gone.
func (r *Recall) whyInput(ctx context.Context, at events.Position) (WhyInput, events.Event, error) {
	rec, e, err := r.event(ctx, at)
	in := WhyInput{Position: at, Kind: rec.Kind, At: rec.OccurredAt, Erased: e == nil}
	if rec.Withheld {
		in.Why = &Erasure{Cause: CauseWithheld}
	}
	if used, ok := e.(events.ToolUsed); ok {
		in.Tool, in.Failed = used.Tool, used.Failed
		in.Input, in.Output = clip.Head(used.Input, maxWhyText), clip.Head(used.Output, maxWhyText)
	}
	return in, e, err
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
			w.Prompts = []rows.Row{p}
		}
	}
	return err
}

// whyInjected adds what the agent had been given before the work was done.
func (r *Recall) whyInjected(ctx context.Context, w *Why) error {
	w.Injections = []injections.Injection{}
	if w.Row.Session.IsZero() {
		return nil
	}
	before := w.Row.Position
	if len(w.Turns) > 0 && len(w.Turns[0].Settles) > 0 {
		before = w.Turns[0].Settles[len(w.Turns[0].Settles)-1]
	}
	given, err := r.cfg.Views.InjectionsBefore(ctx, w.Row.Session, before, maxInjections)
	w.Injections = append(w.Injections, given...)
	return err
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

// previewOf returns the words of an input that say most of it.
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
	}
	return ""
}
