package files

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/projections/engine"
)

// newestTouches is how many touches of a project are read for its newest files.
const newestTouches = 4096

// Reader answers from the view of files. Its methods are safe for concurrent use.
type Reader struct{ *engine.Views }

// Files returns the chosen files, the one touched last first, each with its newest touches. Without a path these are
// files among the newest 4,096 touches of each project; with one, all its files are read.
func (v Reader) Files(ctx context.Context, f Filter) ([]File, error) {
	if f.Limit <= 0 {
		f.Limit = 50
	}
	if f.Touches <= 0 {
		f.Touches = 10
	}
	var files []File
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		files = nil
		x, projects, err := v.readFiles(btx, f.ProjectRoot)
		if err != nil {
			return err
		}
		for id, root := range projects {
			found, err := f.find(ctx, x, id)
			if err != nil {
				return err
			}
			for _, file := range found {
				file.ProjectRoot = root
				files = append(files, file)
			}
		}
		return nil
	})
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(b.LastAt.Compare(a.LastAt), cmp.Compare(a.ProjectRoot, b.ProjectRoot), cmp.Compare(a.Path, b.Path))
	})
	return files[:min(len(files), f.Limit)], err
}

func (f Filter) find(ctx context.Context, x *engine.Tx, p engine.ProjectID) ([]File, error) {
	names, err := f.newest, error(nil)
	if f.Path != "" {
		names = f.named
	}
	paths, err := names(ctx, x, p)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, path := range paths {
		file, err := f.read(x, p, path)
		if err != nil {
			return nil, err
		}
		if len(file.Touches) > 0 {
			files = append(files, file)
		}
	}
	return files, nil
}

// newest are the paths touched last in a project.
func (f Filter) newest(ctx context.Context, x *engine.Tx, p engine.ProjectID) ([]string, error) {
	var paths []string
	seen, n := map[string]bool{}, 0
	for ref, err := range recentTable().Before(x, p[:], append(p[:], bytes.Repeat([]byte{0xff}, 19)...)) {
		if n++; err != nil || len(paths) >= f.Limit || n > newestTouches {
			return paths, err
		}
		r := ref.Value
		if seen[r.Path] || f.ModifiedOnly && !r.Modified {
			continue
		}
		seen[r.Path] = true
		paths = append(paths, r.Path)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// named are the paths of a project that match, found by going from name to name.
func (f Filter) named(ctx context.Context, x *engine.Tx, p engine.ProjectID) ([]string, error) {
	b, err := touchTable().In(x)
	if err != nil {
		return nil, err
	}
	want := strings.TrimPrefix(strings.TrimSuffix(f.Path, "/"), "./")
	var paths []string
	c := b.Cursor()
	for k, _ := c.Seek(p[:]); bytes.HasPrefix(k, p[:]); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		path, ok := pathOfKey(k)
		if !ok {
			return nil, engine.Damaged("touch of no file: %x", k)
		}
		if path == want || strings.HasPrefix(path, want+"/") || strings.HasSuffix(path, "/"+want) {
			paths = append(paths, path)
		}
		next := nextPath(k)
		if k, _ = c.Seek(next); k != nil && bytes.Compare(k, next) < 0 {
			return nil, engine.Damaged("keys of files are out of order")
		}
	}
	return paths, nil
}

// read reads the newest touches of one file; none if the filter wants changed files and it was only read.
func (f Filter) read(x *engine.Tx, p engine.ProjectID, path string) (File, error) {
	file, prefix := File{Path: path}, pathKey(p, path)
	for touch, err := range touchTable().From(x, prefix, prefix) {
		if err != nil || len(file.Touches) >= f.Touches {
			return file, err
		}
		t := touch.Value
		if f.ModifiedOnly && !t.Modified {
			continue
		}
		if t.At.After(file.LastAt) {
			file.LastAt = t.At
		}
		file.Touches = append(file.Touches, t)
	}
	return file, nil
}

// readFiles are the files view's part of a transaction, and the projects that a filter asks for.
func (v Reader) readFiles(btx *bolt.Tx, root string) (x *engine.Tx, projects map[engine.ProjectID]string, err error) {
	x, err = v.LiveTx(btx, View{}.Name())
	if err != nil {
		return nil, nil, err
	}
	projects = map[engine.ProjectID]string{}
	if root != "" {
		projects[engine.ProjectIDOf(root)] = root
		return x, projects, nil
	}
	for name, err := range projectTable().From(x, nil, nil) {
		if err != nil || len(name.Key) != 16 {
			return nil, nil, cmp.Or(err, engine.Damaged("project %x", name.Key))
		}
		projects[engine.ProjectID(name.Key)] = name.Value.Root
	}
	return x, projects, nil
}

// Touches returns the newest touches of one file of a project, at most limit of them (0 means 10), newest first. Path is
// as File has it. Its cost does not depend on how many files there are.
func (v Reader) Touches(ctx context.Context, root, path string, limit int) ([]Touch, error) {
	if limit <= 0 {
		limit = 10
	}
	var file File
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		x, err := v.LiveTx(btx, View{}.Name())
		if err != nil {
			return err
		}
		file, err = Filter{Touches: limit}.read(x, engine.ProjectIDOf(root), path)
		return err
	})
	return file.Touches, err
}
