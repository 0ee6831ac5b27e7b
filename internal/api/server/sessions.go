package server

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/projections/turn"
)

// sessionRoutes answers about sessions and what became of their inputs, and ends quarantines.
type sessionRoutes struct {
	*sources
	system System
	now    func() time.Time
	newID  func() events.ID
	hidden func(ctx context.Context, since time.Time) ([]capture.Hidden, error)
}

func (s *sessionRoutes) routes(to *dispatcher) []endpoint {
	return []endpoint{
		bind(to, api.SessionsRoute, s.getSessions),
		bind(to, api.SessionRoute, s.getSession),
		bind(to, api.ReleaseRoute, s.postRelease),
		bind(to, api.OutcomesRoute, s.getOutcomes),
	}
}

func (s *sessionRoutes) getSessions(ctx context.Context, q api.SessionsQuery) (api.Sessions, error) {
	out := api.Sessions{Position: s.Views.Position()}
	f := sessions.Filter{Agent: q.Agent, Since: q.Since, OpenOnly: q.OpenOnly, Limit: q.Limit}
	found, err := s.sessionsOf(ctx, f, q.Project)
	if out.Sessions = list(found); err != nil {
		return out, err
	}
	hidden, err := s.hidden(ctx, s.now().Add(-hiddenSpan))
	out.Hidden = len(hidden)
	return out, err
}

func (s *sessionRoutes) getSession(ctx context.Context, q api.IDQuery) (out api.SessionDetail, err error) {
	id, err := s.sessionID(ctx, q.ID)
	if err != nil {
		return out, err
	}
	out.Position = s.Views.Position()
	if out.Session, err = s.Views.Session(ctx, id); err != nil {
		return out, err
	}
	if err := s.mayReach(ctx, out.Session.ProjectRoot, out.Session.Project); err != nil {
		return api.SessionDetail{}, err
	}
	rows, err := s.Views.RowsOf(ctx, id)
	out.Rows = list(rows)
	return out, err
}

func (s *sessionRoutes) postRelease(ctx context.Context, q api.IDQuery) (api.Released, error) {
	id, err := s.sessionID(ctx, q.ID)
	if err != nil {
		return api.Released{}, err
	}
	receipt, err := s.system.Do(ctx, id, session.Release{ID: s.newID(), At: s.now()})
	return api.Released{Session: id, Position: receipt.Position}, err
}

// getOutcomes lists inputs, the latest first, page by page.
func (s *sessionRoutes) getOutcomes(ctx context.Context, q api.OutcomesQuery) (api.Outcomes, error) {
	out := api.Outcomes{Position: s.Views.Position()}
	f, err := s.narrow(ctx, q.Turn, q.Session, q.Project)
	if err != nil {
		return out, err
	}
	f.Outcome, f.Class, f.Reason, f.Since, f.Until = outcomes.Outcome(q.Outcome), q.Class, q.Reason, q.Since, q.Until
	f.Kind, f.Before, f.Limit = events.Kind(q.Kind), cmp.Or(q.Cursor.At, q.Before), q.Limit
	if err = s.fillOutcomes(ctx, &out, f); err == nil && f.Turn != (events.ID{}) && len(out.Inputs) > 0 {
		out.Turns[f.Turn], err = s.answerOf(ctx, f.Turn)
	}
	out.NextCursor = api.OutcomesRoute.PageAfter(q, api.Cursor{At: out.Next})
	return out, err
}

func (s *sessionRoutes) fillOutcomes(ctx context.Context, out *api.Outcomes, f outcomes.Filter) (err error) {
	switch {
	case !f.Session.IsZero():
		out.Balance, err = s.Views.BalanceOf(ctx, f.Session)
	case f.Among != nil:
		out.Balance, err = s.Views.BalanceOfAll(ctx, slices.Collect(maps.Keys(f.Among)))
	default:
		out.Balance, err = s.Views.Balance(ctx)
	}
	if err != nil {
		return err
	}
	inputs, err := s.Views.Outcomes(ctx, f)
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
func (s *sessionRoutes) whoAnswered(ctx context.Context, inputs []api.Input) (map[events.ID]api.WhoAnswered, error) {
	turns := map[events.ID]api.WhoAnswered{}
	for _, in := range inputs {
		if _, known := turns[in.Turn]; known || in.Turn == (events.ID{}) {
			continue
		}
		t, err := s.Views.Turn(ctx, in.Turn)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		turns[in.Turn] = whoOf(t)
	}
	return turns, nil
}

func whoOf(t turn.Turn) api.WhoAnswered {
	return api.WhoAnswered{Provider: t.Provider, Model: t.Model, Instead: t.Instead, Preview: t.Preview}
}

// answerOf says who was asked in a turn, and all that was answered, unless that was forgotten.
func (s *sessionRoutes) answerOf(ctx context.Context, id events.ID) (api.WhoAnswered, error) {
	t, err := s.Views.Turn(ctx, id)
	if err != nil || t.Ended == 0 {
		return whoOf(t), err
	}
	out := whoOf(t)
	r, err := s.Log.Get(ctx, t.Ended)
	if err != nil {
		return out, err
	}
	switch e, err := r.Event(); e := e.(type) {
	case events.TurnReceived:
		out.Output = e.Output
	case events.TurnFailed:
		out.Output = e.Output
	default:
		if errors.Is(err, events.ErrErased) {
			err = nil
		}
		return out, err
	}
	return out, nil
}
