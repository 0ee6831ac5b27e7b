package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/erasure"
)

// Eraser takes words out of the log and of all that is made of it. An *erasure.Eraser is one; see there for its errors.
type Eraser interface {
	Plan(ctx context.Context, req erasure.Request) (erasure.Plan, error)
	Forget(ctx context.Context, req erasure.Request, progress func(done, total int)) (erasure.Done, error)
	Status() erasure.Status
}

// postForget says what would be forgotten, or forgets it.
func (s *Server) postForget(ctx context.Context, q api.ForgetRequest) (task[any], error) {
	if s.cfg.Eraser == nil {
		return nil, conflict("Nothing can be erased", "this daemon erases nothing")
	}
	if err := s.caughtUp(ctx); err != nil {
		return nil, err
	}
	f, err := s.newForget(ctx, q)
	return func(ctx context.Context, tell func(done, total uint64)) (any, error) {
		if q.DryRun {
			return f.plan(ctx)
		}
		return f.run(ctx, tell)
	}, err
}

// forget is one request to forget.
type forget struct {
	s      *Server
	req    api.ForgetRequest
	chosen erasure.Request
	native string // the session as its agent calls it
}

func (s *Server) newForget(ctx context.Context, req api.ForgetRequest) (*forget, error) {
	if len(req.IDs) > api.MaxRows {
		return nil, invalid("/ids", "names %d rows, where at most %d may be", len(req.IDs), api.MaxRows)
	}
	f := &forget{s: s, req: req, chosen: erasure.Request{
		Query: req.Query, Project: req.Project, Since: req.Since, Until: req.Until, Through: req.Through, Named: req.Session,
	}}
	if isPath(req.Project) {
		p := projectOf(req.Project)
		f.chosen.Project, f.chosen.ProjectName, f.chosen.ProjectKey = p.Root, p.Name, p.Key
	}
	for _, text := range req.IDs {
		id, err := s.cfg.Recall.Resolve(ctx, text)
		if err != nil {
			return nil, err
		}
		f.chosen.IDs = append(f.chosen.IDs, id)
	}
	return f, f.session(ctx)
}

// session finds the session that is named. One that only saved memories name is none of ours.
func (f *forget) session(ctx context.Context) error {
	if f.req.Session == "" {
		return nil
	}
	id, err := f.s.sessionID(ctx, f.req.Session)
	var p *api.Problem
	if errors.As(err, &p) && p.Status == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	f.chosen.Session = id
	one, err := f.s.cfg.Views.Session(ctx, id)
	f.native = one.AgentSession
	return err
}

func (f *forget) plan(ctx context.Context) (api.ForgetPlan, error) {
	p, err := f.s.cfg.Eraser.Plan(ctx, f.chosen)
	if err != nil {
		return api.ForgetPlan{}, forgetProblem(err)
	}
	n, err := f.spooled(ctx, false)
	return api.ForgetPlan{Plan: p, Spooled: n}, err
}

// run forgets: first what may still come into the log, and then what is there.
func (f *forget) run(ctx context.Context, tell func(done, total uint64)) (api.Forgotten, error) {
	n, err := f.spooled(ctx, true)
	if err != nil {
		return api.Forgotten{}, err
	}
	done, err := f.s.cfg.Eraser.Forget(ctx, f.chosen, func(done, total int) { tell(uint64(done), uint64(total)) })
	if err != nil {
		return api.Forgotten{}, forgetProblem(err)
	}
	out := api.Forgotten{Position: done.Position, Records: done.Records, Sessions: done.Sessions, Spooled: n}
	for _, r := range done.Refused {
		out.Refused = append(out.Refused, api.RefusedSession{Session: r.Session, Detail: reasonOf(r.Err)})
	}
	return out, nil
}

// forgetProblem names what only an Eraser returns.
func forgetProblem(err error) error {
	switch {
	case errors.Is(err, erasure.ErrNothingNamed):
		return invalid("", "nothing is chosen: give one of ids, query, session, project, since, until")
	case errors.Is(err, erasure.ErrShortQuery):
		return invalid("/query", "is too short: half of everything would hold it")
	}
	return err
}

// spooled counts the files beside the log that the request chooses, or deletes them. Ids name none of them.
func (f *forget) spooled(ctx context.Context, deleting bool) (int, error) {
	if f.s.cfg.Spool == nil || len(f.req.IDs) > 0 {
		return 0, nil
	}
	n := 0
	_, err := f.s.cfg.Spool.Forget(f.s.cfg.Now(), func(e relay.Entry) bool {
		if !f.matches(ctx, e) {
			return false
		}
		n++
		return deleting
	})
	return n, err
}

func (f *forget) matches(ctx context.Context, e relay.Entry) bool {
	if e.OccurredAt.Before(f.req.Since) || !f.req.Until.IsZero() && e.OccurredAt.After(f.req.Until) {
		return false
	}
	if f.req.Query != "" && !erasure.Holds(string(e.Body), f.req.Query) {
		return false
	}
	if f.req.Session != "" && (f.native == "" || !strings.Contains(string(e.Body), f.native)) {
		return false
	}
	return f.req.Project == "" || f.ofProject(ctx, e)
}

// ofProject reports whether a payload came from a folder of the project.
func (f *forget) ofProject(ctx context.Context, e relay.Entry) bool {
	var where struct {
		Cwd string `json:"cwd"`
	}
	if json.Unmarshal(e.Body, &where) != nil || !filepath.IsAbs(where.Cwd) {
		return false
	}
	p := f.s.cfg.Capture.Project(ctx, where.Cwd)
	want := projectOf(f.req.Project)
	return slices.Contains([]string{p.Name, p.Root, p.Key}, f.req.Project) || want.Root != "" && p.Key == want.Key
}

// erasureStatus is nil where nothing is erased.
func (s *Server) erasureStatus() *api.ErasureStatus {
	if s.cfg.Eraser == nil {
		return nil
	}
	st := s.cfg.Eraser.Status()
	return &api.ErasureStatus{
		RetentionDays: int(st.Retention / (24 * time.Hour)), Inputs: st.Inputs, Looked: st.Looked, Running: st.Running, Unfinished: st.Owed,
	}
}
