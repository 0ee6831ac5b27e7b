package projects

import (
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/cmemd/cmemd/projections/engine"
)

// maxFolders is how many roots of one project are read together, and mostFolders how many are read for them.
const (
	maxFolders  = 16
	mostFolders = 4096
)

// Reader answers from the view of projects. Its methods are safe for concurrent use.
type Reader struct{ *engine.Views }

// Folders returns the roots that are one project with root: itself first, then the others, the one used last first, at
// most 16 together. Key is what identifies the project; empty: as the sessions opened in root said. A root that nobody
// knows is alone.
func (v Reader) Folders(ctx context.Context, root, key string) ([]string, error) {
	var found []folder
	err := v.View(ctx, View{}.Name(), func(x *engine.Tx) {
		id := engine.ProjectIDOf(root)
		if key == "" {
			known, _ := keyTable().Get(x, id[:])
			key = known.Key
		}
		found = foldersOf(x, engine.ProjectIDOf(key))
	})
	slices.SortFunc(found, func(a, b folder) int { return cmp.Compare(b.Last, a.Last) })
	roots := []string{root}
	for _, f := range found {
		if f.Root != root && len(roots) < maxFolders {
			roots = append(roots, f.Root)
		}
	}
	return roots, err
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

// ProjectAbove returns the nearest folder that sessions named as their project's root, among an absolute path, with slashes,
// and the folders above it; empty if there is none. The disk is not looked at.
func (v Reader) ProjectAbove(ctx context.Context, file string) (root string, err error) {
	err = v.View(ctx, View{}.Name(), func(x *engine.Tx) {
		for dir := path.Clean(file); ; dir = path.Dir(dir) {
			id := engine.ProjectIDOf(dir)
			_, known := keyTable().Get(x, id[:])
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
