package server

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/sessions"
)

const defaultOutcomes = 100

// MaxOutcomes is how many inputs one answer lists at most.
const MaxOutcomes = 10_000

// getOutcomes lists inputs, the latest first, page by page.
func (s *Server) getOutcomes(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r, "outcome", "class", "reason", "kind", "turn", "session", "project", "since", "until", "before", "limit", "after")
	f := outcomes.Filter{
		Outcome: outcomes.Outcome(p.oneOf("outcome", "observed", "skipped", "dropped", "pending", "forgotten")),
		Class:   p.text("class"), Reason: p.text("reason"), Since: p.time("since"), Until: p.time("until"),
		Kind: events.Kind(p.oneOf("kind", string(events.KindToolUsed), string(events.KindContextCompacted),
			string(events.KindAgentStopped))),
		Before: p.position("before"), Limit: p.number("limit", defaultOutcomes, MaxOutcomes),
	}
	turn, name, project, after := p.text("turn"), p.text("session"), p.text("project"), p.position("after")
	if err := p.err(); err != nil {
		return err
	}
	if err := s.await(r.Context(), after); err != nil {
		return err
	}
	out := api.Outcomes{Position: s.cfg.Views.Position()}
	if err := s.narrow(r.Context(), &f, turn, name, project); err != nil {
		return err
	}
	if err := s.fillOutcomes(r.Context(), &out, f); err != nil {
		return err
	}
	return writeJSON(w, out)
}

// narrow reads the names by which inputs are chosen; empty ones choose all.
func (s *Server) narrow(ctx context.Context, f *outcomes.Filter, turn, name, project string) (err error) {
	if turn != "" {
		if f.Turn, err = s.turnID(ctx, turn); err != nil {
			return err
		}
	}
	if name != "" {
		if f.Session, err = s.sessionID(ctx, name); err != nil {
			return err
		}
	}
	if project != "" {
		f.Among, err = s.among(ctx, project)
	}
	return err
}

// among names the sessions of a project.
func (s *Server) among(ctx context.Context, project string) (map[events.SessionID]bool, error) {
	sessions, err := s.sessionsOf(ctx, sessions.Filter{Limit: scannedSessions}, project)
	among := make(map[events.SessionID]bool, len(sessions))
	for _, one := range sessions {
		among[one.ID] = true
	}
	return among, err
}

func (s *Server) fillOutcomes(ctx context.Context, out *api.Outcomes, f outcomes.Filter) (err error) {
	switch {
	case !f.Session.IsZero():
		out.Balance, err = s.cfg.Views.BalanceOf(ctx, f.Session)
	case f.Among != nil:
		out.Balance, err = s.cfg.Views.BalanceOfAll(ctx, slices.Collect(maps.Keys(f.Among)))
	default:
		out.Balance, err = s.cfg.Views.Balance(ctx)
	}
	if err != nil {
		return err
	}
	inputs, err := s.cfg.Views.Outcomes(ctx, f)
	if out.Inputs = list(inputs); len(inputs) == f.Limit {
		out.Next = inputs[len(inputs)-1].Position
	}
	if err != nil {
		return err
	}
	out.Turns, err = s.whoAnswered(ctx, inputs)
	return err
}

// whoAnswered says who was asked in the turns that decided inputs.
func (s *Server) whoAnswered(ctx context.Context, inputs []api.Input) (map[events.ID]api.WhoAnswered, error) {
	turns := map[events.ID]api.WhoAnswered{}
	for _, in := range inputs {
		if _, known := turns[in.Turn]; known || in.Turn == (events.ID{}) {
			continue
		}
		t, err := s.cfg.Views.Turn(ctx, in.Turn)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		turns[in.Turn] = api.WhoAnswered{Provider: t.Provider, Model: t.Model, Instead: t.Instead}
	}
	return turns, nil
}
