package server

import (
	"context"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// chains answers where rows come from.
type chains struct {
	*sources
	prices prices
}

func (s *chains) routes(to *dispatcher) []endpoint {
	return []endpoint{bind(to, api.WhyRoute, s.getWhy)}
}

// maxShownText is how much of a tool's input or output a chain shows, in bytes.
const maxShownText = 4 << 10

func (s *chains) getWhy(ctx context.Context, q api.WhyQuery) (api.Why, error) {
	at, known, err := s.asOf(ctx, q.AsOf)
	if err != nil {
		return api.Why{}, err
	}
	if !known {
		return api.Why{}, notFound("nothing had been recorded yet")
	}
	found, err := s.Recall.Why(ctx, recall.WhyQuery{ID: q.ID, AsOf: at})
	if err != nil {
		return api.Why{}, err
	}
	if err := s.mayReachRow(ctx, found.Row); err != nil {
		return api.Why{}, err
	}
	return s.why(ctx, found)
}

func (s *chains) why(ctx context.Context, found recall.Why) (api.Why, error) {
	out := api.Why{
		Position: found.Position, AsOf: found.AsOf, Row: found.Row, Session: found.Session, Turns: []api.WhyTurn{}, Prompts: []api.Row{},
		Injections: []api.Injection{}, Verdicts: list(found.Verdicts), Replaced: found.Replaced, After: list(found.After),
		RecordedAt: found.Recorded.RecordedAt, Older: found.Older, Newer: found.Newer, Attempts: []api.WhyAttempt{},
	}
	if found.Prompt != nil {
		out.Prompts = append(out.Prompts, *found.Prompt)
	}
	for _, in := range found.Injected {
		out.Injections = append(out.Injections, in.Injection)
	}
	for _, a := range found.Attempts {
		out.Attempts = append(out.Attempts, api.WhyAttempt{Turn: a.Turn, CostUSD: s.prices.costOf(a.Turn), Later: a.Later})
	}
	for _, t := range found.Turns {
		turn, err := s.whyTurn(ctx, t)
		if err != nil {
			return out, err
		}
		out.Turns = append(out.Turns, turn)
	}
	var err error
	if found.Row.Forgotten {
		out.Forgotten, err = s.forgottenRow(ctx, found.Row)
	}
	return out, err
}

// forgottenRow reads what the record says by which a row was forgotten.
func (s *chains) forgottenRow(ctx context.Context, row api.Row) (*api.MemoryForgottenRow, error) {
	r, err := s.Log.Get(ctx, row.Position)
	if err != nil {
		return nil, err
	}
	e, err := r.Event()
	if err != nil {
		return nil, err
	}
	m, _ := e.(events.MemoryForgotten)
	return &api.MemoryForgottenRow{At: row.At, Position: row.Position, Cause: m.Cause, Records: len(m.Positions), Residue: m.ErasedHash}, nil
}

// whyTurn adds what the turn only read.
func (s *chains) whyTurn(ctx context.Context, t recall.WhyTurn) (api.WhyTurn, error) {
	out := api.WhyTurn{Turn: t.Turn, CostUSD: s.prices.costOf(t.Turn), Inputs: []api.WhyInput{}, More: t.More}
	for _, in := range t.Inputs {
		wi, err := s.whyInput(ctx, in.Position)
		if err != nil {
			return api.WhyTurn{}, err
		}
		wi.Outcome, wi.Why = string(in.Outcome), in.Why
		wi.Preview = strings.TrimPrefix(in.Preview, wi.Tool+" ")
		out.Inputs = append(out.Inputs, wi)
	}
	for _, at := range t.Reads[:min(len(t.Reads), maxReads)] {
		wi, err := s.whyInput(ctx, at)
		if err != nil {
			return api.WhyTurn{}, err
		}
		wi.Read = true
		out.Inputs = append(out.Inputs, wi)
	}
	out.More += max(0, len(t.Reads)-maxReads)
	return out, nil
}

// maxPreview is how much of a record a chain shows, in bytes.
const maxPreview = 200

// maxReads is how many of the records that a turn only read are shown.
const maxReads = 100

// whyInput says what the record at a position is.
func (s *chains) whyInput(ctx context.Context, at events.Position) (api.WhyInput, error) {
	r, err := s.Log.Get(ctx, at)
	if err != nil {
		return api.WhyInput{}, err
	}
	in := api.WhyInput{Position: at, Kind: r.Kind, At: r.OccurredAt, Erased: r.Erased}
	if r.Withheld {
		in.Why = &recall.Erasure{Cause: recall.CauseWithheld}
	}
	if r.Erased {
		return in, nil
	}
	e, err := r.Event()
	if err != nil {
		return api.WhyInput{}, err
	}
	switch e := e.(type) {
	case events.ToolUsed:
		in.Tool, in.Failed = e.Tool, e.Failed
		in.Input, in.Output = clip.Head(e.Input, maxShownText), clip.Head(e.Output, maxShownText)
	case events.AgentStopped:
		in.Preview = clip.Head(e.LastMessage, maxPreview)
	case events.AgentSaid:
		in.Preview = clip.Head(e.Text, maxPreview)
	case events.ContextCompacted:
		in.Preview = clip.Head(e.Summary, maxPreview)
	case events.ObservationParsed:
		in.Preview = clip.Head(e.Title, maxPreview)
	case events.SummaryParsed:
		in.Preview = clip.Head(e.Request, maxPreview)
	}
	return in, nil
}
