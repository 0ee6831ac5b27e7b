package curation

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/memory/erasure"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/projections"
)

// Eraser takes words out of the log and of all that is made of it. An *erasure.Eraser is one; see there for its errors.
type Eraser interface {
	Plan(ctx context.Context, req erasure.Request) (erasure.Plan, error)
	Forget(ctx context.Context, req erasure.Request, progress func(done, total int)) (erasure.Done, error)
	Status() erasure.Status
	Requester
}

// Requester keeps what agents want forgotten until a person decides. An *erasure.Eraser is one; see there for its errors.
type Requester interface {
	Ask(ctx context.Context, req erasure.Request, by events.Writer) (erasure.Requested, error)
	Requests(ctx context.Context) ([]erasure.Requested, error)
	Settle(ctx context.Context, id events.ID, outcome events.SettleOutcome, by events.Writer) (events.Position, error)
}

// ForgetterConfig is what a Forgetter works with. All of it is required but Spool.
type ForgetterConfig struct {
	Eraser  Eraser
	Spool   *spool.Spool // nil: nothing is kept beside the log
	Views   *projections.Views
	Project func(ctx context.Context, dir string) evidence.Project // that a folder, an absolute path, belongs to
	Now     func() time.Time
}

// Forgetter forgets what is in the log, and what hooks kept beside it. Its methods are safe for concurrent use.
type Forgetter struct{ cfg ForgetterConfig }

// NewForgetter returns a Forgetter.
func NewForgetter(cfg ForgetterConfig) *Forgetter { return &Forgetter{cfg} }

// Spooled is what is kept beside the log.
type Spooled struct {
	Chosen   int      // how many files a request chooses
	Unopened []string // the names of those of which nobody can tell: their key is lost, or they were changed
}

// Plan says what would go of the log, and of what is kept beside it. Errors are those of the Eraser, the views and the spool.
func (f *Forgetter) Plan(ctx context.Context, req erasure.Request) (p erasure.Plan, spooled Spooled, err error) {
	if p, err = f.cfg.Eraser.Plan(ctx, req); err != nil {
		return p, spooled, err
	}
	spooled, err = f.Spooled(ctx, req, false)
	return p, spooled, err
}

// Forget forgets first what may still come into the log, and then what is there. Errors are as those of Plan.
func (f *Forgetter) Forget(
	ctx context.Context, req erasure.Request, progress func(done, total uint64),
) (done erasure.Done, spooled Spooled, err error) {
	if spooled, err = f.Spooled(ctx, req, true); err != nil {
		return done, Spooled{}, err
	}
	done, err = f.cfg.Eraser.Forget(ctx, req, func(done, total int) { progress(uint64(done), uint64(total)) })
	return done, spooled, err
}

// Spooled looks for the files beside the log that the request chooses, and deletes them where deleting is true. Ids and positions
// name none of them.
func (f *Forgetter) Spooled(ctx context.Context, req erasure.Request, deleting bool) (found Spooled, err error) {
	if f.cfg.Spool == nil || len(req.IDs)+len(req.Positions) > 0 {
		return found, nil
	}
	native := "" // the session as its agent calls it
	if !req.Session.IsZero() {
		one, err := f.cfg.Views.Session(ctx, req.Session)
		if err != nil {
			return found, err
		}
		native = one.AgentSession
	}
	_, found.Unopened, err = f.cfg.Spool.Forget(f.cfg.Now(), func(e spool.Entry) bool {
		if !f.chooses(ctx, req, native, e) {
			return false
		}
		found.Chosen++
		return deleting
	})
	return found, err
}

func (f *Forgetter) chooses(ctx context.Context, req erasure.Request, native string, e spool.Entry) bool {
	if e.OccurredAt.Before(req.Since) || !req.Until.IsZero() && e.OccurredAt.After(req.Until) {
		return false
	}
	if req.Query != "" && !erasure.Holds(string(e.Body), req.Query) {
		return false
	}
	if req.Named != "" && (native == "" || !strings.Contains(string(e.Body), native)) {
		return false
	}
	return req.Project == "" || f.isFromProject(ctx, req, e)
}

// isFromProject reports whether a payload came from a folder of the project.
func (f *Forgetter) isFromProject(ctx context.Context, req erasure.Request, e spool.Entry) bool {
	var where struct {
		Cwd string `json:"cwd"`
	}
	if json.Unmarshal(e.Body, &where) != nil || !filepath.IsAbs(where.Cwd) {
		return false
	}
	p := f.cfg.Project(ctx, where.Cwd)
	return slices.Contains([]string{p.Name, p.Root, p.Key}, req.Project) || req.ProjectKey != "" && p.Key == req.ProjectKey
}
