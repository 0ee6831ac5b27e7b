package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/projects"
)

// Project is which project a folder is of, as it was decided.
type Project struct {
	Name, Root string
	Key        string // roots with the same one are one project
	Claim      string // what the folder claims to be
	File       string // what names Root wherever it is moved to
}

// Registered is where the registry learns what is known of folders at its start. A *projections.Views is one.
type Registered interface {
	// Projects returns every known root, and every name that was given, as of a position.
	Projects(ctx context.Context) (roots []projects.Root, given []projects.Given, at events.Position, err error)
}

// registry knows which folders are which project: all that the log held at the start, and all that was decided since. It follows no
// view, so that it is never behind what this daemon decided. Its methods are safe for concurrent use.
type registry struct {
	folderID func(dir string) string
	from     Registered

	mu    sync.Mutex     // guards the fields below
	roots projects.Known // of this machine: what a folder here is does not depend on others' folders
}

// newRegistry reads what views know, and from the log what they do not know yet.
func newRegistry(ctx context.Context, from Registered, log eventlog.Log) (*registry, error) {
	g := &registry{folderID: evidence.FolderID, from: from, roots: projects.Known{}}
	var at events.Position
	if from != nil {
		roots, _, known, err := from.Projects(ctx)
		if err != nil {
			return nil, fmt.Errorf("capture: projects: %w", err)
		}
		for _, r := range roots {
			if _, _, other := engine.MachineRoot(r.Path); !other {
				g.roots[r.Path] = r
			}
		}
		at = known
	}
	for r, err := range eventlog.Readable(log, nil).All(ctx, at+1) { // what is damaged is told by who verifies
		if err != nil {
			return nil, fmt.Errorf("capture: projects: %w", err)
		}
		if !r.Place().Log.IsZero() || r.Kind != events.KindSessionOpened && r.Stream != events.Projects {
			continue
		}
		if e, err := r.Event(); err == nil { // an erased one, or one of a newer program, says nothing
			g.learn(e, r.Position, r.OccurredAt)
		}
	}
	return g, nil
}

// learn takes up an event that is on record.
func (g *registry) learn(e events.Event, position events.Position, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if path := projects.RootOf(e); path != "" {
		g.roots[path] = g.roots[path].After(e, position, at)
	}
}

// of is the project of the folder of c, of which nothing is noted.
func (g *registry) of(c claimed) Project { return g.decide(c, false) }

// bind is the project of the folder of c, which it stays from now on.
func (g *registry) bind(c claimed) Project { return g.decide(c, true) }

func (g *registry) decide(c claimed, note bool) Project {
	if c.Root == "" {
		return Project{Name: c.Name}
	}
	is := g.lookAtNamed(c)
	g.mu.Lock()
	defer g.mu.Unlock()
	out := Project{Name: c.Name, Root: c.Root, Claim: c.Key, File: c.file}
	out.Key = keyOf(g.roots, c, func(r projects.Root) bool { return is[r.Path] })
	if note {
		r := g.roots[c.Root]
		r.Notified = r.Notified && r.Claim == c.Key
		r.Path, r.Key, r.Name, r.Claim = c.Root, out.Key, c.Name, c.Key
		if c.file != "" {
			r.File = c.file
		}
		g.roots[c.Root] = r
	}
	return out
}

// lookAtNamed tells which known folders the folder of c is, if its own path is not known: their paths are gone, or lead to it.
func (g *registry) lookAtNamed(c claimed) map[string]bool {
	g.mu.Lock()
	_, known := g.roots[c.Root]
	var named []projects.Root
	if !known {
		named = namedLike(g.roots, c)
	}
	g.mu.Unlock()
	if len(named) == 0 {
		return nil
	}
	is := map[string]bool{}
	for _, r := range named {
		_, err := os.Lstat(r.Path)
		is[r.Path] = errors.Is(err, fs.ErrNotExist) || err == nil && g.folderID(r.Path) == c.file
	}
	return is
}

// known is what is known now.
func (g *registry) known() projects.Known {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.roots)
}

// others are the folders of other machines, as far as the views tell now.
func (g *registry) others() (found []projects.Root) {
	if g.from == nil {
		return nil
	}
	roots, _, _, err := g.from.Projects(context.Background())
	if err != nil {
		return nil // nobody is kept from what is known here
	}
	for _, r := range roots {
		if _, _, other := engine.MachineRoot(r.Path); other {
			found = append(found, r)
		}
	}
	return found
}

// notify returns a folder of which the person was not notified yet, and notes that they are now. Ok is false for others.
func (g *registry) notify(root string) (of projects.Root, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, known := g.roots[root]
	if !known || r.Notified {
		return projects.Root{}, false
	}
	of = r
	r.Notified, r.LegacyClaims = true, false
	g.roots[root] = r
	return of, true
}

// Known is what is known of folders now: what is on record, and what was decided since and is about to be. Other machines' folders are those
// that the views know.
func (p *Pipeline) Known() projects.Known {
	known := p.registry.known()
	for _, r := range p.registry.others() {
		known[r.Path] = r
	}
	return known
}

// Learn takes up a person's word of which folders are one project, which is on record.
func (p *Pipeline) Learn(r events.Record, e events.Event) {
	p.registry.learn(e, r.Position, r.OccurredAt)
}

// Notify returns the folder of a root if the person was not notified yet how it stands, and notes that they are now.
func (p *Pipeline) Notify(root string) (of projects.Root, ok bool) { return p.registry.notify(root) }
