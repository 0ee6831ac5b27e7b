package server

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/projections/projects"
)

// Bounds of a saved memory. A longer one is a document, and belongs into a file.
const (
	maxMemoryText  = 64 << 10 // bytes
	maxMemoryTitle = 500      // bytes
	maxMemoryWord  = 200      // bytes of a name, type or concept
	futureSlack    = 24 * time.Hour
)

// memories changes what is remembered.
type memories struct {
	*sources
	curator    *curation.Curator
	reobserver *curation.Reobserver
	forgetter  *curation.Forgetter
	known      func() projects.Known
	machines   Machines // nil: there are no others
	now        func() time.Time
}

func newMemories(cfg Config, from *sources) *memories {
	return &memories{
		sources: from, known: cfg.Capture.Known, machines: cfg.Machines, now: cfg.Now,
		curator: curation.New(curation.Config{
			Sink: cfg.System, Log: cfg.Log, Views: cfg.Views, Checker: cfg.Checker, Now: cfg.Now,
			Resolve: cfg.Recall.Resolve, CaughtUp: from.caughtUp, Redact: cfg.Capture.Redact,
		}),
		reobserver: curation.NewReobserver(curation.ReobserverConfig{
			System: cfg.System, Log: cfg.Log, Views: cfg.Views, Providers: cfg.Providers, Price: cfg.Price, Now: cfg.Now,
			NewID: cfg.NewID, CaughtUp: from.caughtUp,
		}),
		forgetter: curation.NewForgetter(curation.ForgetterConfig{
			Eraser: cfg.Eraser, Spool: cfg.Spool, Views: cfg.Views, Project: projectOfSpooled(cfg.Capture), Now: cfg.Now,
		}),
	}
}

// spooledAge is how old what is known of the folder of a spooled payload may be: there are many of one folder.
const spooledAge = time.Hour

func projectOfSpooled(p *capture.Pipeline) func(ctx context.Context, dir string) evidence.Project {
	return func(ctx context.Context, dir string) evidence.Project {
		is := p.Project(ctx, dir, spooledAge)
		return evidence.Project{Name: is.Name, Root: is.Root, Key: is.Key}
	}
}

func (s *memories) routes(to *dispatcher) []endpoint {
	return []endpoint{
		bind(to, api.SaveRoute, s.postMemory),
		bind(to, api.ConfirmRoute, s.postConfirm),
		bind(to, api.UndoRoute, s.postUndo),
		bindWork(to, api.RecheckRoute, s.postRecheck),
		bindWork(to, api.ReobserveRoute, s.postReobserve),
		bindWork(to, api.Work[api.ForgetRequest, any](api.ForgetRoute), s.postForget),
		bind(to, api.ForgetRequestsRoute, s.getForgetRequests),
		bindWork(to, api.ApproveForgetRoute, s.postApprove),
		bind(to, api.RefuseForgetRoute, s.postRefuse),
	}
}

// postMemory appends what a person or an agent wants remembered. It is on disk when it is answered.
func (s *memories) postMemory(ctx context.Context, m api.Memory) (api.Saved, error) {
	if errs := memoryErrors(&m, s.now()); len(errs) > 0 {
		return api.Saved{}, invalidAll(errs)
	}
	s.nameFolder(&m)
	saved, err := s.curator.Save(ctx, m, s.by(ctx))
	s.shown(ctx, saved.Position)
	return saved, err
}

// postConfirm vouches for a row.
func (s *memories) postConfirm(ctx context.Context, q api.ConfirmRequest) (api.Confirmed, error) {
	confirmed, err := s.curator.Confirm(ctx, q)
	s.shown(ctx, confirmed.Position)
	return confirmed, err
}

// nameFolder gives what is saved under the mere name of a project the folder of that, if one project alone is called so.
func (s *memories) nameFolder(m *api.Memory) {
	if m.ProjectRoot != "" || filepath.IsAbs(m.Project) {
		return
	}
	if found := s.known().Named(m.Project); len(projects.Keys(found)) == 1 {
		m.Project, m.ProjectRoot = found[0].Name, found[0].Path
	}
}

// postUndo takes a saved memory or a correction back, or undoes that.
func (s *memories) postUndo(ctx context.Context, q api.IDQuery) (api.Undone, error) {
	undone, err := s.curator.Undo(ctx, q.ID, s.by(ctx))
	s.shown(ctx, undone.Position)
	return undone, err
}

// showIn is how long the answer to a change waits for the views. One record takes them some milliseconds.
const showIn = time.Second

// shown waits a while until the views know a change that is on disk: whoever asks next, over another connection too, sees it.
func (s *memories) shown(ctx context.Context, at events.Position) {
	ctx, cancel := context.WithTimeout(ctx, showIn)
	defer cancel()
	_ = s.await(ctx, at) // the change is made in any case
}

// postRecheck looks at claims again.
func (s *memories) postRecheck(ctx context.Context, q api.RecheckRequest) (task[api.Rechecked], error) {
	if err := s.begin(ctx, q.IDs); err != nil {
		return nil, err
	}
	of, err := s.narrow(ctx, "", q.Session, "")
	if err != nil {
		return nil, err
	}
	again, err := s.curator.Recheck(ctx, q, of.Session)
	if err != nil {
		return nil, err
	}
	return again.Run, nil
}

// begin bounds the rows that are named, and waits until the views know all that the log holds now.
func (s *memories) begin(ctx context.Context, ids []string) error {
	if len(ids) > api.MaxRows {
		return invalid("/ids", "names %d rows, where at most %d may be", len(ids), api.MaxRows)
	}
	return s.caughtUp(ctx)
}

// postReobserve asks for turns again.
func (s *memories) postReobserve(ctx context.Context, q api.ReobserveRequest) (task[api.Reobserved], error) {
	if q.Everything() {
		return nil, invalid("", "nothing is chosen: give one of dropped, turn, session, project, class, reason, since, until")
	}
	f, err := s.narrow(ctx, q.Turn, q.Session, q.Project)
	if err != nil {
		return nil, err
	}
	again, err := s.reobserver.Request(ctx, q, f)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, progress func(done, total uint64)) (api.Reobserved, error) {
		done, err := again.Run(ctx, progress)
		if err == nil && done.Answers != nil {
			if last, err := s.Log.Last(ctx); err == nil {
				s.shown(ctx, last)
			}
		}
		return done, err
	}, nil
}

// memoryErrors lists what is wrong with m, the fields in their order.
func memoryErrors(m *api.Memory, now time.Time) (errs []api.FieldError) {
	wrong := noteIn(&errs)
	short := func(pointer, s string, most int) {
		switch {
		case len(s) > most:
			wrong(pointer, "has %d bytes, where %d may be", len(s), most)
		case !utf8.ValidString(s):
			wrong(pointer, "is not UTF-8")
		}
	}
	short("/project", m.Project, maxMemoryWord)
	short("/project_root", m.ProjectRoot, api.MaxParam)
	short("/title", m.Title, maxMemoryTitle)
	short("/text", m.Text, maxMemoryText)
	if strings.TrimSpace(curation.Allowed(m.Text)) == "" {
		wrong("/text", "is empty")
	}
	short("/session", m.Session, maxMemoryWord)
	short("/type", m.Type, maxMemoryWord)
	short("/supersedes", m.Supersedes, maxMemoryWord)
	if !m.At.IsZero() && (m.At.Year() < 1970 || m.At.After(now.Add(futureSlack))) {
		wrong("/at", "lies before 1970 or in the future")
	}
	for name, words := range map[string][]string{"/concepts": m.Concepts, "/files": m.Files} {
		if len(words) > curation.MaxList {
			wrong(name, "has %d entries, where %d may be", len(words), curation.MaxList)
			continue
		}
		for i, word := range words {
			short(fmt.Sprintf("%s/%d", name, i), word, api.MaxParam)
		}
	}
	return errs
}
