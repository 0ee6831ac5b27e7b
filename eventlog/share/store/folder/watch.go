package folder

import (
	"context"
	"iter"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// settleTime is how long a watch waits for more changes before it looks: one object is several of them.
const settleTime = 5 * time.Millisecond

// Watch implements store.Store. Where the system tells of changes it looks at once, and every Config.PollEvery in any case.
func (f *Folder) Watch(ctx context.Context, prefix string) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		w := f.newWatch(prefix)
		defer w.close()
		for ctx.Err() == nil {
			changed, err := w.scan(ctx)
			if err != nil {
				if ctx.Err() == nil {
					yield(store.Entry{}, err)
				}
				return
			}
			for _, e := range changed {
				if !yield(e, nil) {
					return
				}
			}
			if !w.wait(ctx) {
				return
			}
		}
	}
}

// watch is one Watch under way.
type watch struct {
	folder *Folder
	prefix string
	seen   map[store.Key]store.Rev
	notify *fsnotify.Watcher // nil where the system gives none: then it only looks now and then
}

func (f *Folder) newWatch(prefix string) *watch {
	w := &watch{folder: f, prefix: prefix, seen: map[store.Key]store.Rev{}}
	if n, err := fsnotify.NewWatcher(); err == nil {
		w.notify = n
	}
	return w
}

func (w *watch) close() {
	if w.notify != nil {
		_ = w.notify.Close() // it was only read
	}
}

// scan returns what is in another state than at the scan before. The folders are watched before they are read, so that what
// changes between comes by the next scan.
func (w *watch) scan(ctx context.Context) (changed []store.Entry, err error) {
	found, err := do(ctx, w.folder, "watch", w.prefix, store.CheckWatch(w.prefix), func(root *os.Root) ([]store.Entry, error) {
		w.follow(root)
		l := listing{root: root, limit: math.MaxInt, enter: w.add}
		err := l.folder(ctx, w.prefix)
		return l.found, err
	})
	for _, e := range found {
		if e.Rev != "" && w.seen[e.Key] != e.Rev {
			w.seen[e.Key] = e.Rev
			changed = append(changed, e)
		}
	}
	return changed, err
}

// follow watches the folder of the prefix, or the nearest one above it that is there.
func (w *watch) follow(root *os.Root) {
	for dir := filepath.Clean(w.prefix); ; dir = filepath.Dir(dir) {
		if info, err := root.Stat(dir); err == nil && info.IsDir() {
			w.add(dir)
			return
		}
		if dir == "." {
			return
		}
	}
}

// add watches a folder; twice is once. Where the system has no more watches the look every now and then remains.
func (w *watch) add(dir string) {
	if w.notify != nil {
		_ = w.notify.Add(filepath.Join(w.folder.dir, dir))
	}
}

// wait returns true when it is time to look again, and false when ctx is over.
func (w *watch) wait(ctx context.Context) bool {
	timer := time.NewTimer(w.folder.pollEvery)
	defer timer.Stop()
	var events <-chan fsnotify.Event
	var errs <-chan error
	notified := false
	if w.notify != nil {
		events, errs = w.notify.Events, w.notify.Errors
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-w.folder.done:
			return true // the look says that it is closed
		case <-events:
			if !notified {
				notified = timer.Reset(settleTime)
			}
		case <-errs: // changes were lost
			return true
		case <-timer.C:
			return true
		}
	}
}
