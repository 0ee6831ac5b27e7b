package files

import (
	"bytes"
	"cmp"
	"context"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
)

// newestTouches is how many touches of a project are read for its newest files.
const newestTouches = 4096

// Reader answers from the view of files. Its methods are safe for concurrent use.
type Reader struct{ Views *engine.Views }

// Files returns the chosen files, the one touched last first, each with its newest touches. They are among the newest 4,096 touches
// of each project.
func (v Reader) Files(ctx context.Context, f Filter) ([]File, error) {
	if f.Limit <= 0 {
		f.Limit = 50
	}
	if f.Touches <= 0 {
		f.Touches = 10
	}
	var files []File
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		for id, root := range f.projects(x) {
			for _, path := range f.newest(ctx, x, id) {
				if file := f.read(x, id, path); len(file.Touches) > 0 {
					file.ProjectRoot = root
					files = append(files, file)
				}
			}
		}
	})
	order.By(files, func(a, b File) int {
		return cmp.Or(b.LastAt.Compare(a.LastAt), cmp.Compare(a.ProjectRoot, b.ProjectRoot), cmp.Compare(a.Path, b.Path))
	})
	return files[:min(len(files), f.Limit)], err
}

// newest are the paths touched last in a project.
func (f Filter) newest(ctx context.Context, x *engine.Tx, p engine.ProjectID) []string {
	var paths []string
	seen, n := map[string]bool{}, 0
	for _, r := range recentTable().Before(x, p[:], append(p[:], bytes.Repeat([]byte{0xff}, 19)...)) {
		if n++; len(paths) >= f.Limit || n > newestTouches {
			break
		}
		if seen[r.Path] || f.ModifiedOnly && !r.Modified {
			continue
		}
		seen[r.Path] = true
		paths = append(paths, r.Path)
		x.Fail(ctx.Err())
	}
	return paths
}

// read reads the newest touches of one file; none if the filter wants changed files and it was only read.
func (f Filter) read(x *engine.Tx, p engine.ProjectID, path string) File {
	file, prefix := File{Path: path}, pathKey(p, path)
	for _, t := range touchTable().From(x, prefix, prefix) {
		if len(file.Touches) >= f.Touches {
			break
		}
		if f.ModifiedOnly && !t.Modified {
			continue
		}
		if t.At.After(file.LastAt) {
			file.LastAt = t.At
		}
		file.Touches = append(file.Touches, t)
	}
	return file
}

// projects are those that the filter asks for, and their roots.
func (f Filter) projects(x *engine.Tx) map[engine.ProjectID]string {
	projects := map[engine.ProjectID]string{}
	if f.ProjectRoot != "" {
		projects[engine.ProjectIDOf(f.ProjectRoot)] = f.ProjectRoot
		return projects
	}
	for k, name := range projectTable().From(x, nil, nil) {
		if len(k) != len(engine.ProjectID{}) {
			x.Fail(engine.Damaged("project %x", k))
			break
		}
		projects[engine.ProjectID(k)] = name.Root
	}
	return projects
}

// Touches returns the newest touches of one file of a project, at most limit of them, newest first. Path is
// as File has it. Its cost does not depend on how many files there are.
func (v Reader) Touches(ctx context.Context, root, path string, limit int) ([]Touch, error) {
	var file File
	err := v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		file = Filter{Touches: limit}.read(x, engine.ProjectIDOf(root), path)
	})
	return file.Touches, err
}

// TouchesSince returns all touches of one file of a project by records after a position, newest first. Path is as File has it.
func (v Reader) TouchesSince(ctx context.Context, root, path string, after events.Position) (list []Touch, err error) {
	err = v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		prefix := pathKey(engine.ProjectIDOf(root), path)
		for _, t := range touchTable().From(x, prefix, prefix) {
			if t.Position <= after {
				return
			}
			list = append(list, t)
		}
	})
	return list, err
}

// PathsAt returns the files that the record at a position read or changed, or of these only those that it changed, as File has their
// paths; none where it is no observation and no tool use, or is forgotten.
func (v Reader) PathsAt(ctx context.Context, at events.Position, changed bool) (paths []string, err error) {
	err = v.Views.View(ctx, View{}.Name(), func(x *engine.Tx) {
		done, _ := touchedTable().Get(x, engine.PositionKey(at))
		for _, path := range done.Paths {
			if t, _ := touchTable().Get(x, touchKey(done.Project, path, at)); t.Modified || !changed {
				paths = append(paths, path)
			}
		}
	})
	return paths, err
}
