package folder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// List implements store.Store. An object that Get would call damaged is listed without a revision.
func (f *Folder) List(ctx context.Context, prefix string, after store.Key, limit int) ([]store.Entry, error) {
	return do(ctx, f, "list", prefix, store.CheckPrefix(prefix), func(root *os.Root) ([]store.Entry, error) {
		l := listing{root: root, after: after, limit: store.Limit(limit)}
		err := l.folder(ctx, prefix)
		return l.found, err
	})
}

// listing is one List under way.
type listing struct {
	root  *os.Root
	after store.Key
	limit int
	found []store.Entry
	enter func(dir string) // called with each folder that is read, unless it is nil
}

// child is a name in a folder as keys go on: of a folder with a slash at its end.
type child struct {
	rest string
	file bool
}

// folder lists what is in the folder of a prefix and below it, in the order of the keys.
func (l *listing) folder(ctx context.Context, prefix string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	children, err := l.children(prefix)
	if err != nil {
		return err
	}
	for _, c := range children {
		at := prefix + c.rest
		switch {
		case len(l.found) == l.limit:
			return nil
		case !c.file && (string(l.after) < at || strings.HasPrefix(string(l.after), at)):
			err = l.folder(ctx, at)
		case c.file && at > string(l.after):
			err = l.object(store.Key(at))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// children reads a folder. One that is not there has none.
func (l *listing) children(prefix string) ([]child, error) {
	name := path.Clean(prefix)
	info, err := l.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir, err := l.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if l.enter != nil {
		l.enter(prefix)
	}
	entries, err := dir.ReadDir(-1)
	var found []child
	for _, e := range entries {
		if c, ok := childOf(prefix, e); ok {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b child) int { return strings.Compare(a.rest, b.rest) })
	return found, err
}

// childOf is false for a name that is nobody's.
func childOf(prefix string, e fs.DirEntry) (child, bool) {
	part, isFile := strings.CutSuffix(e.Name(), suffix)
	if isFile {
		return child{rest: part, file: true}, !e.IsDir() && store.Key(prefix+part).Check() == nil
	}
	return child{rest: part + "/"}, e.IsDir() && store.CheckPrefix(prefix+part+"/") == nil
}

// object adds the object of key, unless it went meanwhile.
func (l *listing) object(key store.Key) error {
	var h header
	err := read(l.root, fileName(key), func(file io.Reader) (err error) {
		h, err = readHeader(file)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil && !errors.Is(err, store.ErrDamaged):
		return err
	}
	l.found = append(l.found, store.Entry{Key: key, Rev: h.rev})
	return nil
}
