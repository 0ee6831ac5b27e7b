package capture

import (
	"cmp"
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

const (
	// factsAge is how old what is known of a folder may be at a tool call, and factsFresh at the start of a session,
	// which records it: a checkout in between must show.
	factsAge   = 30 * time.Second
	factsFresh = 2 * time.Second

	// maxFacts is how many folders are remembered.
	maxFacts = 256
)

// projectCache remembers for a while which project and repository a folder belongs to.
type projectCache struct {
	repos    Repos
	folderID func(dir string) string
	now      func() time.Time

	mu    sync.Mutex // guards known
	known map[string]*projectFacts
}

type projectFacts struct {
	once    sync.Once
	at      time.Time
	project claimed
	repo    evidence.Repo
}

func newProjectCache(repos Repos, folderID func(dir string) string, now func() time.Time) *projectCache {
	return &projectCache{repos: repos, folderID: folderID, now: now, known: map[string]*projectFacts{}}
}

// of looks cwd up, at most maxAge ago. Several who ask at once share one look, which does not end with any of them.
func (f *projectCache) of(ctx context.Context, cwd string, maxAge time.Duration) *projectFacts {
	if !filepath.IsAbs(cwd) {
		return &projectFacts{}
	}
	e := f.entry(cwd, maxAge)
	e.once.Do(func() {
		e.project = claimOf(evidence.ProjectOf(cwd), f.folderID)
		if f.repos != nil {
			e.repo, _ = f.repos.Repo(context.WithoutCancel(ctx), cwd)
		}
	})
	return e
}

func (f *projectCache) entry(cwd string, maxAge time.Duration) *projectFacts {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.known[cwd]
	if e != nil && now.Sub(e.at).Abs() <= maxAge {
		return e
	}
	if e == nil && len(f.known) >= maxFacts {
		f.forgetOldest()
	}
	e = &projectFacts{at: now}
	f.known[cwd] = e
	return e
}

func (f *projectCache) forgetOldest() {
	oldest := ""
	for cwd, e := range f.known {
		if oldest == "" || e.at.Before(f.known[oldest].at) {
			oldest = cwd
		}
	}
	delete(f.known, oldest)
}

// complete adds to o what its folder tells, and leaves what the agent said itself. A transcript is about another time,
// so that branch and head as they are now do not belong to it. Decide says which project the folder is of.
func (f *projectCache) complete(ctx context.Context, o session.Origin, maxAge time.Duration, past bool, decide func(claimed) Project) session.Origin {
	e := f.of(ctx, o.Cwd, maxAge)
	is := decide(e.project)
	fill := func(field *string, value string) {
		*field = cmp.Or(*field, value)
	}
	fill(&o.Project, is.Name)
	fill(&o.ProjectRoot, is.Root)
	fill(&o.ProjectKey, is.Key)
	fill(&o.ProjectClaim, is.Claim)
	fill(&o.RootFile, is.File)
	fill(&o.GitRoot, e.repo.Root)
	if !past {
		fill(&o.GitBranch, e.repo.Branch)
		fill(&o.GitHead, e.repo.Head)
	}
	return o
}

// Place is what is known of a folder, as it is at the start of a session. That somebody asks binds it to no project.
func (p *Pipeline) Place(ctx context.Context, cwd string) session.Origin {
	return p.projects.complete(ctx, session.Origin{Cwd: cwd}, factsFresh, false, p.registry.of)
}

// Project is the project that cwd, an absolute path, belongs to, by what stood there within maxAge; 0: by what stands there now.
func (p *Pipeline) Project(ctx context.Context, cwd string, maxAge time.Duration) Project {
	if maxAge == 0 {
		return p.registry.of(claimOf(evidence.ProjectOf(cwd), p.projects.folderID))
	}
	return p.registry.of(p.projects.of(ctx, cwd, maxAge).project)
}

// Origin is o with the facts of its project at a tool call, and without secrets.
func (p *Pipeline) Origin(ctx context.Context, o session.Origin) session.Origin {
	return p.origin(ctx, o, factsAge, false)
}
