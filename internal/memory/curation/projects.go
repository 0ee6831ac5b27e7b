package curation

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/projections/projects"
)

// Folder is a folder with the project that it is of.
type Folder struct {
	projects.Root
	Exists bool // it is there now
}

// RegistrarConfig is what a Registrar works with. All of it is required.
type RegistrarConfig struct {
	Log   eventlog.Log
	Known func() projects.Known                                      // all folders that work was done in
	Place func(ctx context.Context, dir string) Folder               // that a folder, an absolute path, lies in
	Count func(ctx context.Context, name string) (rows int, _ error) // that have the name of a project, and no folder
	Learn func(r events.Record, e events.Event)                      // takes each decision before it is answered
	Now   func() time.Time
}

// Registrar records a person's word of which folders are one project. Its methods are safe for concurrent use.
type Registrar struct {
	cfg  RegistrarConfig
	lock *semaphore.Weighted // holds one token: one decision at a time
}

// NewRegistrar returns a Registrar.
func NewRegistrar(cfg RegistrarConfig) *Registrar {
	return &Registrar{cfg: cfg, lock: semaphore.NewWeighted(1)}
}

// Join makes a folder one of a project: of the one that it claims to be, if none is named. It is on disk when Join returns.
func (g *Registrar) Join(ctx context.Context, q api.JoinRequest) (api.ProjectDecided, error) {
	return g.decide(ctx, func() (root string, e events.Event, err error) {
		f, err := g.folder(ctx, q.Folder)
		if err != nil {
			return "", nil, err
		}
		key, err := g.target(ctx, f, q.Project)
		if err == nil && key == f.Key {
			err = conflict("It is of that project already", "there is nothing to join: `cmemd project list` shows what it shares memory with")
		}
		return f.Path, events.ProjectJoined{Root: f.Path, Key: key}, err
	})
}

// Part makes a folder a project of its own. It is on disk when Part returns.
func (g *Registrar) Part(ctx context.Context, q api.PartRequest) (api.ProjectDecided, error) {
	return g.decide(ctx, func() (root string, e events.Event, err error) {
		f, err := g.folder(ctx, q.Folder)
		if err != nil {
			return "", nil, err
		}
		if len(g.cfg.Known().Shared(f.Root)) == 0 {
			err = conflict("It is a project of its own", "it shares its memory with no other folder: there is nothing to part it from")
		}
		return f.Path, events.ProjectParted{Root: f.Path}, err
	})
}

// Give says whose the memory is that has a project's name and no folder. It is on disk when Give returns.
func (g *Registrar) Give(ctx context.Context, q api.GiveRequest) (api.ProjectDecided, error) {
	return g.decide(ctx, func() (root string, e events.Event, err error) {
		if q.Name == "" || filepath.IsAbs(q.Name) {
			return "", nil, refusal.At("/name", "is no name of a project: `cmemd project list` shows those that have no folder")
		}
		if q.Folder == "" {
			return "", events.ProjectGiven{Name: q.Name}, nil
		}
		f, err := g.folder(ctx, q.Folder)
		if err != nil {
			return "", nil, err
		}
		n, err := g.cfg.Count(ctx, q.Name)
		if err == nil && n == 0 {
			err = refusal.Absent("there is no memory of that name without a folder: `cmemd project list` shows the names that there are")
		}
		return f.Path, events.ProjectGiven{Name: q.Name, Root: f.Path}, err
	})
}

// GiveOld gives memory that has a project's name and no folder to the folder of that name, if there is only one: earlier releases
// showed it there. Known is what was known of folders before this release opened a session. If a folder in it makes a claim, this
// release ran before, and nothing is given. GiveOld returns how many names it gave.
func (g *Registrar) GiveOld(ctx context.Context, known projects.Known) (given int, err error) {
	names := map[string][]string{}
	for _, r := range known {
		if r.Claim != "" {
			return 0, nil
		}
		names[r.Name] = append(names[r.Name], r.Path)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n, err := g.cfg.Count(ctx, name)
		if err != nil {
			return given, err
		}
		if name == "" || n == 0 || len(names[name]) != 1 {
			continue
		}
		give := func() (string, events.Event, error) {
			return names[name][0], events.ProjectGiven{Name: name, Root: names[name][0]}, nil
		}
		if _, err := g.decide(ctx, give); err != nil {
			return given, err
		}
		given++
	}
	return given, nil
}

// decide records what choose comes to, one decision at a time.
func (g *Registrar) decide(ctx context.Context, choose func() (root string, e events.Event, err error)) (out api.ProjectDecided, err error) {
	if err := g.lock.Acquire(ctx, 1); err != nil {
		return out, err
	}
	defer g.lock.Release(1)
	root, e, err := choose()
	if err != nil {
		return out, err
	}
	records, err := eventlog.AppendEnd(ctx, g.cfg.Log, events.Projects, events.Draft{ID: newID(), OccurredAt: g.cfg.Now(), Event: e})
	if err != nil {
		return out, fmt.Errorf("curation: %w", err)
	}
	g.cfg.Learn(records[0], e)
	return api.ProjectDecided{Position: records[0].Position, Root: root}, nil
}

// folder is a folder that is there, or that work was done in.
func (g *Registrar) folder(ctx context.Context, dir string) (Folder, error) {
	if !filepath.IsAbs(dir) {
		return Folder{}, refusal.At("/folder", "is no absolute path")
	}
	f := g.cfg.Place(ctx, dir)
	if _, known := g.cfg.Known()[f.Path]; !known && !f.Exists {
		return Folder{}, refusal.Absent("there is no such folder, and nothing was recorded in one: `cmemd project list` shows those that are known")
	}
	return f, nil
}

// target is the key of the project that named means, to which f is to be joined.
func (g *Registrar) target(ctx context.Context, f Folder, named string) (string, error) {
	known := g.cfg.Known()
	var found []projects.Root
	switch {
	case named == "":
		if found = known.Lookalike(f.Root); len(found) == 0 {
			return "", conflict("There is nothing to join it to", "it looks like no other project; name the one to join: cmemd project join FOLDER --to PROJECT")
		}
	case filepath.IsAbs(named):
		if r, ok := known[g.cfg.Place(ctx, named).Path]; ok {
			found = append(found, r)
		}
	default:
		found = slices.DeleteFunc(known.Named(named), func(r projects.Root) bool { return r.Path == f.Path })
	}
	switch keys := projects.Keys(found); len(keys) {
	case 0:
		return "", refusal.Absent("nothing was recorded in a project of that name: `cmemd project list` shows those that are known")
	case 1:
		return keys[0], nil
	}
	return "", conflict("More than one project is meant", "name it by one of its folders: "+strings.Join(projects.Paths(found), ", "))
}
