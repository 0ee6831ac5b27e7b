package recall

import (
	"context"
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
)

const (
	maxPreview    = 200 // characters
	maxInputs     = 100 // of a turn
	maxInjections = 5   // newest before the row
)

// Why is the chain of events behind a row.
type Why struct {
	Row      projections.Row      `json:"row"`
	Recorded Record               `json:"recorded"` // the event that holds the row
	Turns    []WhyTurn            `json:"turns"`    // that led to it; none for prompts and saved memories
	Prompt   *projections.Row     `json:"prompt,omitempty"`
	Injected []WhyInjection       `json:"injected"` // memory that the agent had been given before, newest first
	Verdicts []Verdict            `json:"verdicts"` // its claims, and what ground truth says of them now
	Replaced *projections.Row     `json:"replaced_by,omitempty"`
	Older    []projections.Row    `json:"older,omitempty"` // rows whose place it took: their inputs were observed again
	Newer    []projections.Row    `json:"newer,omitempty"` // rows that took its own place so, oldest first
	Position events.Position      `json:"position"`
	Session  *projections.Session `json:"session,omitempty"`
}

// Record is what the log holds at a position.
type Record struct {
	events.Header
	Erased  bool   `json:"erased,omitempty"` // its content was erased; the header still verifies
	Preview string `json:"preview,omitempty"`
}

// WhyTurn is one request to the observer, what it was asked about and what it said.
type WhyTurn struct {
	projections.Turn
	Inputs []WhyInput `json:"inputs"`           // the first hundred that it settled
	More   int        `json:"more,omitempty"`   // inputs beyond those
	Output *Record    `json:"output,omitempty"` // what the observer answered; nil: nothing yet
}

// WhyInput is one input of a turn and what became of it.
type WhyInput struct {
	Record
	Outcome projections.Outcome `json:"outcome"`
}

// WhyInjection is memory that an agent was given, with its rows in short.
type WhyInjection struct {
	projections.Injection
	Rows []Item `json:"rows"`
}

// Verdict is a claim with what was found when it was made and what the latest look found.
type Verdict = projections.Verdict

// Why returns the chain of events that led to a row, given by its id or a prefix. Errors are those of Resolve, ctx's,
// and of the log and the views.
func (r *Recall) Why(ctx context.Context, id string) (Why, error) {
	resolved, err := r.Resolve(ctx, id)
	if err != nil {
		return Why{}, err
	}
	w := Why{Position: r.views.Position(), Turns: []WhyTurn{}, Injected: []WhyInjection{}}
	if w.Row, err = r.views.Row(ctx, resolved); err != nil {
		return Why{}, fmt.Errorf("recall: why %s: %w", id, err)
	}
	for _, step := range []func(context.Context, *Why) error{r.whyRecord, r.whyTurns, r.whySession, r.whyInjected, r.whyReplaced} {
		if err := step(ctx, &w); err != nil {
			return Why{}, fmt.Errorf("recall: why %s: %w", id, err)
		}
	}
	w.Verdicts = w.Row.Verdicts()
	return w, nil
}

func (r *Recall) whyRecord(ctx context.Context, w *Why) (err error) {
	w.Recorded, err = r.record(ctx, w.Row.Position)
	return err
}

func (r *Recall) whyTurns(ctx context.Context, w *Why) error {
	turns, err := r.views.TurnsOf(ctx, w.Row.ID)
	if err != nil && !errors.Is(err, projections.ErrNotFound) {
		return err
	}
	for _, t := range turns {
		wt := WhyTurn{Turn: t, Inputs: []WhyInput{}, More: max(0, len(t.Settles)-maxInputs)}
		for _, at := range t.Settles[:min(len(t.Settles), maxInputs)] {
			in, err := r.input(ctx, at)
			if err != nil {
				return err
			}
			wt.Inputs = append(wt.Inputs, in)
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
	return nil
}

func (r *Recall) input(ctx context.Context, at events.Position) (WhyInput, error) {
	rec, err := r.record(ctx, at)
	if err != nil {
		return WhyInput{}, err
	}
	in, err := r.views.Outcome(ctx, at)
	if err != nil && !errors.Is(err, projections.ErrNotFound) {
		return WhyInput{}, err
	}
	return WhyInput{Record: rec, Outcome: in.Outcome}, nil
}

// whySession adds the session and the prompt that the row's work served.
func (r *Recall) whySession(ctx context.Context, w *Why) error {
	if w.Row.Session.IsZero() {
		return nil
	}
	s, err := r.views.Session(ctx, w.Row.Session)
	if errors.Is(err, projections.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	w.Session = &s
	if w.Row.Kind == projections.Prompt {
		return nil
	}
	prompts, err := r.views.Prompts(ctx, w.Row.Session)
	for _, p := range prompts {
		if p.Prompt == w.Row.Prompt && p.Position < w.Row.Position {
			w.Prompt = &p
		}
	}
	return err
}

// whyInjected adds what the agent had been told before the work was done.
func (r *Recall) whyInjected(ctx context.Context, w *Why) error {
	if w.Row.Session.IsZero() {
		return nil
	}
	before := w.Row.Position
	if len(w.Turns) > 0 && len(w.Turns[0].Settles) > 0 {
		before = w.Turns[0].Settles[len(w.Turns[0].Settles)-1]
	}
	list, err := r.views.InjectionsBefore(ctx, w.Row.Session, before, maxInjections)
	if err != nil {
		return err
	}
	for _, i := range list {
		rows, err := r.views.Rows(ctx, i.IDs...)
		if err != nil {
			return err
		}
		w.Injected = append(w.Injected, WhyInjection{Injection: i, Rows: itemsOf(rows)})
	}
	return nil
}

func (r *Recall) whyReplaced(ctx context.Context, w *Why) (err error) {
	w.Older, w.Newer, err = r.views.Replacements(ctx, w.Row.ID)
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
	row, err := r.views.Row(ctx, by)
	if errors.Is(err, projections.ErrNotFound) {
		return nil // a turn took its place: its rows are the turn's
	}
	w.Replaced = &row
	return err
}

// record reads a record's header and a little of what it says.
func (r *Recall) record(ctx context.Context, at events.Position) (Record, error) {
	rec, err := r.log.Get(ctx, at)
	if errors.Is(err, eventlog.ErrNotFound) {
		return Record{Header: events.Header{Position: at}, Erased: true}, nil
	}
	if err != nil {
		return Record{}, err
	}
	out := Record{Header: rec.Header, Erased: rec.Erased}
	if rec.Erased {
		return out, nil
	}
	e, err := rec.Event()
	if err != nil {
		return Record{}, err
	}
	out.Preview = oneLine(previewOf(e), maxPreview)
	return out, nil
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
	case events.PromptSubmitted:
		return e.Text
	case events.TurnReceived:
		return e.Output
	case events.TurnFailed:
		return string(e.Class) + ": " + e.Message
	case events.MemorySaved:
		return e.Title + ": " + e.Text
	}
	return ""
}
