package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/sessions"
)

// sessionID reads our id of a session or the beginning of it that no other has, or an agent's own: then it is the session
// of the first agent that has one.
func (s *Server) sessionID(ctx context.Context, text string) (events.SessionID, error) {
	if len(text) > api.MaxParam {
		return events.SessionID{}, invalid("session", "is longer than %d bytes", api.MaxParam)
	}
	var candidates []events.SessionID
	if id, err := events.ParseSessionID(text); err == nil {
		candidates = append(candidates, id)
	}
	for _, agent := range agents.Names() {
		candidates = append(candidates, events.SessionIDOf(agent, text))
	}
	for _, id := range candidates {
		_, err := s.cfg.Views.Session(ctx, id)
		if err == nil || !errors.Is(err, engine.ErrNotFound) {
			return id, err
		}
	}
	return s.sessionBeginning(ctx, text)
}

// shortestSession is the shortest beginning of a session's id in hex digits: shorter ones are slips rather than names.
const shortestSession = 8

// sessionBeginning returns the only session whose id, ours, begins with text.
func (s *Server) sessionBeginning(ctx context.Context, text string) (events.SessionID, error) {
	var found []events.SessionID
	var err error
	if len(strings.ReplaceAll(text, "-", "")) >= shortestSession {
		found, err = s.cfg.Views.ResolveSession(ctx, text, maxSessionChoices)
	}
	switch {
	case err != nil:
		return events.SessionID{}, err
	case len(found) == 0:
		return events.SessionID{}, notFound("there is no session of that id, ours or an agent's")
	case len(found) == 1:
		return found[0], nil
	}
	p := &api.Problem{Type: api.ProblemAmbiguous, Title: "More than one session begins so", Status: http.StatusConflict, Detail: "give more digits"}
	for _, id := range found {
		p.Errors = append(p.Errors, api.FieldError{Pointer: "session", Detail: "may be " + id.String()})
	}
	return events.SessionID{}, p
}

// sessionTerm is what rows of the session that text names are found by: our id in full where text is the beginning of it, and
// else text itself, which may be a name that whoever saved a memory gave.
func (s *Server) sessionTerm(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	id, err := s.sessionID(ctx, text)
	var p *api.Problem
	if errors.As(err, &p) && p.Status == http.StatusNotFound {
		return text, nil
	}
	digits := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, "-", "")) }
	if err == nil && strings.HasPrefix(digits(id.String()), digits(text)) {
		return id.String(), nil
	}
	return text, err
}

// maxSessionChoices is how many sessions an ambiguous beginning is answered with.
const maxSessionChoices = 8

// scannedSessions is how many of a project's sessions are looked at where something of them is wanted.
const scannedSessions = 10_000

func (s *Server) getSessions(ctx context.Context, q api.SessionsQuery) (api.Sessions, error) {
	out := api.Sessions{Position: s.cfg.Views.Position()}
	f := sessions.Filter{Agent: q.Agent, Since: q.Since, OpenOnly: q.OpenOnly, Limit: q.Limit}
	found, err := s.sessionsOf(ctx, f, q.Project)
	out.Sessions = list(found)
	return out, err
}

func (s *Server) getSession(ctx context.Context, q api.IDQuery) (out api.SessionDetail, err error) {
	id, err := s.sessionID(ctx, q.ID)
	if err != nil {
		return out, err
	}
	out.Position = s.cfg.Views.Position()
	if out.Session, err = s.cfg.Views.Session(ctx, id); err != nil {
		return out, err
	}
	rows, err := s.cfg.Views.RowsOf(ctx, id)
	out.Rows = list(rows)
	return out, err
}

func (s *Server) postRelease(ctx context.Context, q api.IDQuery) (api.Released, error) {
	id, err := s.sessionID(ctx, q.ID)
	if err != nil {
		return api.Released{}, err
	}
	receipt, err := s.cfg.System.Do(ctx, id, session.Release{ID: s.cfg.NewID(), At: s.cfg.Now()})
	return api.Released{Session: id, Position: receipt.Position}, err
}
