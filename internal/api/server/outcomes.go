package server

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/sessions"
)

// getOutcomes lists inputs, the latest first, page by page.
func (s *Server) getOutcomes(ctx context.Context, q api.OutcomesQuery) (api.Outcomes, error) {
	f := outcomes.Filter{
		Outcome: outcomes.Outcome(q.Outcome), Class: q.Class, Reason: q.Reason, Since: q.Since, Until: q.Until,
		Kind: events.Kind(q.Kind), Before: q.Before, Limit: q.Limit,
	}
	out := api.Outcomes{Position: s.cfg.Views.Position()}
	err := s.narrow(ctx, &f, q.Turn, q.Session, q.Project)
	if err == nil {
		err = s.fillOutcomes(ctx, &out, f)
	}
	return out, err
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
