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

// newestTouches is how many touches of a project are looked at for its newest files.
const newestTouches = 4096

// Reader answers from the view of files. Its methods are safe for concurrent use.
type Reader struct{ *engine.Views }

// Files returns the chosen files, the one touched last first, each with its newest touches. Without a path these are
// files among the newest 4,096 touches of each project; with one, all its files are looked at.
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
	b, err := recentTable().In(x)
	if err != nil {
		return nil, err
	}
	var paths []string
	seen := map[string]bool{}
	c := b.Cursor()
	k, raw := engine.SeekBefore(c, append(p[:], bytes.Repeat([]byte{0xff}, 19)...))
	for n := 0; bytes.HasPrefix(k, p[:]) && len(paths) < f.Limit && n < newestTouches; k, raw = c.Prev() {
		n++
		var r fileRef
		if err := x.Decode(raw, &r); err != nil {
			return nil, engine.Damaged("list of files: %v", err)
		}
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
	file := File{Path: path}
	b, err := touchTable().In(x)
	if err != nil {
		return file, err
	}
	prefix := pathKey(p, path)
	c := b.Cursor()
	for k, raw := c.Seek(prefix); bytes.HasPrefix(k, prefix) && len(file.Touches) < f.Touches; k, raw = c.Next() {
		var t Touch
		if err := x.Decode(raw, &t); err != nil {
			return file, engine.Damaged("touch of %s: %v", path, err)
		}
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
	b, err := projectTable().In(x)
	if err != nil {
		return nil, nil, err
	}
	err = b.ForEach(func(k, raw []byte) error {
		var name rootName
		if err := x.Decode(raw, &name); err != nil || len(k) != 16 {
			return engine.Damaged("project %x: %v", k, err)
		}
		projects[engine.ProjectID(k)] = name.Root
		return nil
	})
	return x, projects, err
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
