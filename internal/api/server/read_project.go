package server

import (
	"cmp"
	"context"
	"slices"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/projections/sessions"
)

// projectOf is the project that a request names: the one that a folder is in, whichever worktree or folder of it that is, or
// the one of a shown name, of which nothing else is known.
func projectOf(named string) evidence.Project {
	if !isPath(named) {
		return evidence.Project{Name: named}
	}
	return evidence.ProjectOf(named)
}

// filterOf is a project as searches and timelines are narrowed to it.
func filterOf(named string) (project string, of recall.Project) {
	p := projectOf(named)
	return cmp.Or(p.Root, p.Name), recall.Project{Name: p.Name, Key: p.Key}
}

// sessionsOf lists the sessions that f chooses, of a project if one is named, newest first.
func (s *Server) sessionsOf(ctx context.Context, f sessions.Filter, named string) ([]api.Session, error) {
	p := projectOf(named)
	var roots []string
	if p.Root != "" {
		var err error
		if roots, err = s.cfg.Views.Folders(ctx, p.Root, p.Key); err != nil {
			return nil, err
		}
	}
	if named != "" {
		f.Match = func(one api.Session) bool {
			if p.Root != "" && one.ProjectRoot != "" {
				return slices.Contains(roots, one.ProjectRoot)
			}
			return one.Project == p.Name
		}
	}
	return s.cfg.Views.Sessions(ctx, f)
}
