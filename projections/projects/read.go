package projects

import (
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
)

// maxFolders is how many roots of one project are read together, and mostFolders how many are read for them.
const (
	maxFolders  = 16
	mostFolders = 4096
)

// Reader answers from the view of projects. Its methods are safe for concurrent use.
type Reader struct{ Views *engine.Views }

// Extent is what a project has: memory is its own if it was made in one of its roots, or has no root and one of the names.
type Extent struct {
	Roots []string // the one that was asked about first, then the one used last first
	Names []string // shown names that were given to one of the roots
}

// Extent is the project of root, with its 16 first roots. Key is what identifies the project; empty: as is known of root. A root
// that nobody knows is alone.
func (v Reader) Extent(ctx context.Context, root, key string) (Extent, error) {
	e, err := v.WholeExtent(ctx, root, key)
	e.Roots = e.Roots[:min(len(e.Roots), maxFolders)]
	return e, err
}

// WholeExtent is Extent with all roots.
func (v Reader) WholeExtent(ctx context.Context, root, key string) (Extent, error) {
	var found []folder
	var given []Given
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		id := engine.ProjectIDOf(root)
		if key == "" {
			known, _ := rootTable().Get(x, id[:])
			key = known.Key
		}
		if key != "" {
			found = foldersOf(x, engine.ProjectIDOf(key))
		}
		given = givenIn(x)
	})
	order.By(found, func(a, b folder) int { return cmp.Compare(b.Last, a.Last) })
	out := Extent{Roots: []string{root}}
	for _, f := range found {
		if f.Root != root {
			out.Roots = append(out.Roots, f.Root)
		}
	}
	for _, g := range given {
		if slices.Contains(out.Roots, g.Root) {
			out.Names = append(out.Names, g.Name)
		}
	}
	slices.Sort(out.Names)
	return out, err
}

func foldersOf(x *engine.Tx, p engine.ProjectID) []folder {
	var found []folder
	for _, f := range folderTable().From(x, p[:], p[:]) {
		if len(found) == mostFolders {
			break
		}
		found = append(found, f)
	}
	return found
}

// Projects is every root that is known, and every name that was given, in no particular order, as of a position: later events are not
// in it.
func (v Reader) Projects(ctx context.Context) (roots []Root, given []Given, at events.Position, err error) {
	err = v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		roots, given, at = rootTable().Values(x, nil), givenIn(x), x.Checkpoint
	})
	return roots, given, at, err
}

// givenIn are the names that are given.
func givenIn(x *engine.Tx) []Given {
	return slices.DeleteFunc(givenTable().Values(x, nil), func(g Given) bool { return g.Root == "" })
}

// ProjectAbove returns the nearest folder that sessions named as their project's root, among an absolute path, with slashes,
// and the folders above it; empty if there is none. The disk is not looked at.
func (v Reader) ProjectAbove(ctx context.Context, file string) (root string, err error) {
	err = v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		for dir := path.Clean(file); ; dir = path.Dir(dir) {
			id := engine.ProjectIDOf(dir)
			_, known := rootTable().Get(x, id[:])
			if known {
				root = dir
			}
			if known || dir == path.Dir(dir) {
				return
			}
		}
	})
	return root, err
}
