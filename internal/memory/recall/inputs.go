package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/outcomes"
)

const (
	// DefaultInputs and MaxInputs are how many inputs one answer holds.
	DefaultInputs = 50
	MaxInputs     = 500

	// inputText and inputTotal bound the words of one field, and of a whole answer, in bytes.
	inputText  = 256 << 10
	inputTotal = 8 << 20
)

// InputsQuery asks for the inputs that a row was made of.
type InputsQuery struct {
	ID    string          // of the row, or the beginning of it
	After events.Position // where an earlier page ended; 0: from the first
	Limit int             // 0 means DefaultInputs; at most MaxInputs
}

// Inputs is what a row was made of, as it was captured, the oldest first.
type Inputs struct {
	ID       events.ID       `json:"id"`
	Position events.Position `json:"position"`
	Inputs   []RawInput      `json:"inputs"`         // never null
	Total    int             `json:"total"`          // of the row
	Next     events.Position `json:"next,omitempty"` // the next page lies after it; 0: there is none
}

// RawInput is one captured event, whole but for what was cut when it was captured or is too long for an answer.
type RawInput struct {
	Position   events.Position  `json:"position"`
	Kind       events.Kind      `json:"kind"`
	At         time.Time        `json:"at"`
	Outcome    outcomes.Outcome `json:"outcome"`
	Tool       string           `json:"tool,omitempty"`
	Input      string           `json:"input,omitempty"`  // JSON, as the agent gave it to the tool
	Output     string           `json:"output,omitempty"` // what the tool printed
	Failed     bool             `json:"failed,omitempty"`
	DurationMS int64            `json:"duration_ms,omitempty"`
	Cwd        string           `json:"cwd,omitempty"`
	Text       string           `json:"text,omitempty"` // of a stop: the agent's last message; of a compaction: its summary
	Cut        bool             `json:"cut,omitempty"`  // some of it is not shown here, or was not captured
	Erased     *Erasure         `json:"erased,omitempty"`
}

// Erasure says why the words of a record are not there any more.
type Erasure struct {
	Cause    string          `json:"cause"`             // person, retention, CauseWithheld; unknown
	At       time.Time       `json:"at,omitzero"`       // when that was decided
	Position events.Position `json:"position,omitzero"` // of the record that says so
}

// IsWithheld reports whether another machine recorded the words, and keeps them.
func (e *Erasure) IsWithheld() bool { return e != nil && e.Cause == CauseWithheld }

// Inputs returns what a row was made of. A prompt or a saved memory is made of nothing here. Errors are those of Resolve,
// ErrBadQuery, ctx's, and of the log and the views.
func (r *Recall) Inputs(ctx context.Context, q InputsQuery) (Inputs, error) {
	if q.Limit == 0 {
		q.Limit = DefaultInputs
	}
	if q.Limit < 0 || q.Limit > MaxInputs {
		return Inputs{}, fmt.Errorf("%w: %d inputs, at most %d", ErrBadQuery, q.Limit, MaxInputs)
	}
	id, err := r.Resolve(ctx, q.ID)
	if err != nil {
		return Inputs{}, err
	}
	out := Inputs{ID: id, Position: r.cfg.Views.Position(), Inputs: []RawInput{}}
	at, err := r.settledFor(ctx, id)
	if err != nil {
		return Inputs{}, fmt.Errorf("recall: inputs of %s: %w", q.ID, err)
	}
	out.Total = len(at)
	first, _ := slices.BinarySearch(at, q.After+1)
	room := inputTotal
	for _, p := range at[first:] {
		if len(out.Inputs) == q.Limit || room <= 0 {
			out.Next = out.Inputs[len(out.Inputs)-1].Position
			break
		}
		in, err := r.rawInput(ctx, p)
		if err != nil {
			return Inputs{}, fmt.Errorf("recall: inputs of %s: %w", q.ID, err)
		}
		room -= len(in.Input) + len(in.Output) + len(in.Text)
		out.Inputs = append(out.Inputs, in)
	}
	return out, r.explainErased(ctx, out.Inputs)
}

// settledFor lists the inputs that the turns of a row settled, ascending.
func (r *Recall) settledFor(ctx context.Context, id events.ID) ([]events.Position, error) {
	turns, err := r.cfg.Views.TurnsOf(ctx, id)
	var at []events.Position
	for _, t := range turns {
		at = append(at, t.Settles...)
	}
	slices.Sort(at)
	return slices.Compact(at), err
}

func (r *Recall) rawInput(ctx context.Context, at events.Position) (RawInput, error) {
	rec, e, err := r.event(ctx, at)
	if err != nil {
		return RawInput{}, err
	}
	in := RawInput{Position: at, Kind: rec.Kind, At: rec.OccurredAt}
	in.fill(e)
	if e == nil {
		in.Erased = &Erasure{Cause: causeUnknown}
	}
	in.Outcome, err = r.outcome(ctx, at)
	return in, err
}

// event reads a record and what it says; nil where that is erased, or where there is no such record.
func (r *Recall) event(ctx context.Context, at events.Position) (events.Record, events.Event, error) {
	rec, err := r.cfg.Log.Get(ctx, at)
	if errors.Is(err, eventlog.ErrNotFound) {
		return events.Record{Header: events.Header{Position: at}}, nil, nil
	}
	if err != nil {
		return rec, nil, err
	}
	e, err := rec.Event()
	if errors.Is(err, events.ErrErased) {
		return rec, nil, nil
	}
	return rec, e, err
}

// outcome is what became of the input at a position; empty: it is none.
func (r *Recall) outcome(ctx context.Context, at events.Position) (outcomes.Outcome, error) {
	in, err := r.cfg.Views.Outcome(ctx, at)
	if errors.Is(err, engine.ErrNotFound) {
		err = nil
	}
	return in.Outcome, err
}

func (in *RawInput) fill(e events.Event) {
	switch e := e.(type) {
	case events.ToolUsed:
		in.Tool, in.Failed, in.DurationMS, in.Cwd = e.Tool, e.Failed, e.DurationMS, e.Cwd
		in.Input, in.Output = in.short(e.Input), in.short(e.Output)
		in.Cut = in.Cut || e.InputSize > len(e.Input) || e.OutputSize > len(e.Output)
	case events.AgentStopped:
		in.Text = in.short(e.LastMessage)
	case events.ContextCompacted:
		in.Text = in.short(e.Summary)
	case events.AgentSaid:
		in.Text = in.short(e.Text)
	}
}

// short is as much of text as an answer holds.
func (in *RawInput) short(text string) string {
	in.Cut = in.Cut || len(text) > inputText
	return clip.Head(text, inputText)
}

// CauseWithheld is of words that another machine recorded, and keeps.
const CauseWithheld = "withheld"

// causeUnknown is what no MemoryForgotten of the session names.
const causeUnknown = "unknown"

// explainErased finds out who had the words of inputs erased.
func (r *Recall) explainErased(ctx context.Context, inputs []RawInput) error {
	var gone []events.Position
	for _, in := range inputs {
		if in.Erased != nil {
			gone = append(gone, in.Position)
		}
	}
	why, err := r.erasures(ctx, gone)
	for i := range inputs {
		if e, ok := why[inputs[i].Position]; ok {
			inputs[i].Erased = &e
		}
	}
	return err
}

// erasures says why words are gone: because their machine withholds them, or by the MemoryForgotten that names the position, which is in the
// stream of the record there.
func (r *Recall) erasures(ctx context.Context, gone []events.Position) (map[events.Position]Erasure, error) {
	wanted := map[events.StreamID]map[events.Position]bool{}
	from := map[events.StreamID]events.Version{}
	found := map[events.Position]Erasure{}
	for _, p := range gone {
		rec, err := r.cfg.Log.Get(ctx, p)
		if errors.Is(err, eventlog.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if rec.Withheld {
			found[p] = Erasure{Cause: CauseWithheld}
			continue
		}
		if wanted[rec.Stream] == nil {
			wanted[rec.Stream], from[rec.Stream] = map[events.Position]bool{}, rec.Version
		}
		wanted[rec.Stream][p] = true
		from[rec.Stream] = min(from[rec.Stream], rec.Version)
	}
	for stream, positions := range wanted {
		for m, err := range eventlog.Events[events.MemoryForgotten](ctx, r.cfg.Log, stream, from[stream]) {
			if err != nil {
				return nil, err
			}
			for _, p := range m.Event.Positions {
				if _, known := found[p]; positions[p] && !known {
					found[p] = Erasure{Cause: m.Event.Cause, At: m.OccurredAt, Position: m.Position}
				}
			}
		}
	}
	return found, nil
}
