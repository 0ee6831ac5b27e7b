package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/projections/outcomes"
)

const (
	// maxReobserve is how many inputs one request takes, some 20 MB while it is waited for: who wants more asks again. What
	// a turn kept together is not parted by it.
	maxReobserve = 100_000

	// reobserveBatch is how many inputs one ReobserveRequested names: some 9 kB in the log.
	reobserveBatch = 1000
)

// postReobserve asks for turns again.
func (s *Server) postReobserve(ctx context.Context, q api.ReobserveRequest) (task[api.Reobserved], error) {
	again, err := s.newReobserve(ctx, q)
	return func(ctx context.Context, tell func(done, total uint64)) (api.Reobserved, error) {
		err := again.run(ctx)
		if err == nil && !q.AtOnce() {
			err = again.await(ctx, tell)
		}
		return *again.out, err
	}, err
}

// reobserve is one request for turns again.
type reobserve struct {
	s        *Server
	req      api.ReobserveRequest
	provider api.Provider
	filter   outcomes.Filter
	most     int                           // inputs
	taken    map[events.Position]bool      // chosen, or looked at and passed over
	shares   map[events.SessionID]*share   // what is chosen
	order    []events.SessionID            // of those
	asked    map[events.SessionID]struct{} // sessions in which something chosen was asked for before
	out      *api.Reobserved
}

// share is what is chosen of one session, the oldest first once the choice is made.
type share struct{ inputs []api.Input }

func (s *Server) newReobserve(ctx context.Context, req api.ReobserveRequest) (*reobserve, error) {
	a := &reobserve{
		s: s, req: req, most: maxReobserve, taken: map[events.Position]bool{},
		shares: map[events.SessionID]*share{}, asked: map[events.SessionID]struct{}{}, out: &api.Reobserved{DryRun: req.DryRun},
	}
	var err error
	if a.provider, err = s.provider(req.Provider); err != nil {
		return nil, err
	}
	if req.Provider == "" {
		a.provider = s.inUse(ctx, a.provider)
	}
	a.out.Provider, a.out.Model = a.provider.Name, a.provider.Model
	a.filter, err = s.reobserveFilter(ctx, req)
	return a, err
}

// provider is the one of that name, or the current one.
func (s *Server) provider(name string) (api.Provider, error) {
	var known []string
	for _, p := range s.cfg.Providers {
		if name == "" || p.Name == name {
			return p, nil
		}
		if !slices.Contains(known, p.Name) {
			known = append(known, p.Name)
		}
	}
	if name == "" {
		return api.Provider{}, nil
	}
	return api.Provider{}, invalid("/provider", "is no provider here; there are: %s", strings.Join(known, ", "))
}

// inUse is who would be asked now in the place of first, by whose batch limits turns are made all the same; first where nobody is.
func (s *Server) inUse(ctx context.Context, first api.Provider) api.Provider {
	st, err := s.cfg.System.Status(ctx)
	if err != nil || st.InUse == "" {
		return first
	}
	now, err := s.provider(st.InUse)
	if err != nil {
		return first
	}
	now.BatchLimits = first.BatchLimits
	return now
}

func (s *Server) reobserveFilter(ctx context.Context, req api.ReobserveRequest) (f outcomes.Filter, err error) {
	if !req.Dropped && req.Turn == "" && req.Session == "" && req.Project == "" && req.Class == "" && req.Reason == "" &&
		req.Since.IsZero() && req.Until.IsZero() {
		return f, invalid("", "nothing is chosen: give one of dropped, turn, session, project, class, reason, since, until")
	}
	f = outcomes.Filter{Class: req.Class, Reason: req.Reason, Since: req.Since, Until: req.Until, Limit: selectPage}
	if req.Dropped {
		f.Outcome = outcomes.Dropped
	}
	err = s.narrow(ctx, &f, req.Turn, req.Session, req.Project)
	return f, err
}

// turnID reads a turn's id, or the beginning of it that no other has.
func (s *Server) turnID(ctx context.Context, text string) (events.ID, error) {
	text = strings.TrimSpace(text)
	if len(strings.ReplaceAll(text, "-", "")) < shortestSession {
		return events.ID{}, invalid("turn", "is no id: give a UUID, or 8 or more of its first hex digits")
	}
	found, err := s.cfg.Views.ResolveTurn(ctx, text, maxSessionChoices)
	switch {
	case err != nil:
		return events.ID{}, err
	case len(found) == 0:
		return events.ID{}, notFound("there is no turn of that id")
	case len(found) == 1:
		return found[0], nil
	}
	p := &api.Problem{Type: api.ProblemAmbiguous, Title: "More than one turn begins so", Status: http.StatusConflict, Detail: "give more digits"}
	for _, id := range found {
		p.Errors = append(p.Errors, api.FieldError{Pointer: "turn", Detail: "may be " + id.String()})
	}
	return events.ID{}, p
}

// run chooses, says what it takes, and asks. One request at a time does, so that nothing is asked for twice.
func (a *reobserve) run(ctx context.Context) error {
	select {
	case a.s.again <- struct{}{}:
		defer func() { <-a.s.again }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := a.s.caughtUp(ctx); err != nil {
		return err
	}
	if err := a.choose(ctx); err != nil {
		return err
	}
	if err := a.price(ctx); err != nil || a.req.DryRun {
		return err
	}
	// Whoever asked may go: what is begun is asked for whole.
	return a.ask(context.WithoutCancel(ctx))
}

// caughtUp waits until the views know all that the log holds now.
func (s *Server) caughtUp(ctx context.Context) error {
	last, err := s.cfg.Log.Last(ctx)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, s.cfg.WaitTimeout)
	defer cancel()
	if err := s.cfg.Views.Wait(limited, last); err != nil {
		if limited.Err() == nil || ctx.Err() != nil {
			return err
		}
		return notNow(api.ProblemBehind, "The views are behind", s.cfg.WaitTimeout, "they do not know yet what there is")
	}
	return nil
}

// ask records the requests, session by session. A session that takes none is named, and does not keep the others back.
func (a *reobserve) ask(ctx context.Context) error {
	for _, id := range slices.Clone(a.order) {
		err := a.askSession(ctx, id)
		if err == nil {
			continue
		}
		_, known := problemFor(err)
		if !known || transient.Is(err) || errors.Is(err, actors.ErrNoProvider) { // no session takes it
			return err
		}
		a.out.Refused = append(a.out.Refused, api.RefusedSession{Session: id, Detail: reasonOf(err)})
		a.out.Inputs -= len(a.shares[id].inputs)
		a.out.Sessions--
		delete(a.shares, id)
		a.order = slices.DeleteFunc(a.order, func(other events.SessionID) bool { return other == id })
	}
	return nil
}

func (a *reobserve) askSession(ctx context.Context, id events.SessionID) error {
	for rest := a.shares[id].inputs; len(rest) > 0; {
		part := rest[:min(len(rest), reobserveBatch)]
		rest = rest[len(part):]
		cmd := session.Reobserve{ID: a.s.cfg.NewID(), At: a.s.cfg.Now(), Provider: a.req.Provider}
		seen := map[events.ID]bool{}
		for _, in := range part {
			cmd.Inputs = append(cmd.Inputs, in.Position)
			if in.Turn != (events.ID{}) && !seen[in.Turn] {
				seen[in.Turn] = true
				cmd.Turns = append(cmd.Turns, in.Turn)
			}
		}
		receipt, err := actors.DoWhenRoom(ctx, a.s.cfg.System, id, cmd)
		if err != nil && !errors.Is(err, session.ErrNoInputs) { // forgotten since
			return err
		}
		a.out.Position = max(a.out.Position, receipt.Position)
	}
	return nil
}
