package server

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/sessions"
)

// sessionRoutes answers about sessions and what became of their inputs, and ends quarantines.
type sessionRoutes struct {
	*sources
	system System
	now    func() time.Time
	newID  func() events.ID
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
	out.Sessions = list(found)
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
