package watch

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// Bounds of what is looked through: folders of transcripts have some thousands of files. maxEntries is of one walk, which
// takes about a second then.
const (
	maxFolders = 8192
	maxFiles   = 100_000
	maxDepth   = 32
	maxEntries = 500_000
)

// scan looks through the folders of all rules: it watches those that are new, and takes up files that are. What is gone is
// forgotten.
func (w *Watcher) scan() {
	for _, f := range w.files {
		f.inLastScan = false
	}
	whole := true
	for _, r := range w.cfg.Rules {
		if base, ok := w.baseOf(r); ok {
			whole = w.scanRule(r, base, base) && whole
		}
	}
	for path, f := range w.files {
		if !f.inLastScan && (whole || !exists(path)) {
			w.drop(f)
			delete(w.files, path)
			w.dirty = true
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// baseOf is the base of a rule, symbolic links resolved. It reports false where there is none yet, and where a link leads to
// what no pattern may name.
func (w *Watcher) baseOf(r Rule) (string, bool) {
	base, err := filepath.EvalSymlinks(r.base)
	if err != nil {
		return "", false
	}
	if offLimits(base) {
		w.once("base "+r.base, "a folder of transcripts leads too far, and is not looked through", "folder", r.base, "to", base)
		return "", false
	}
	return base, true
}

// offLimits reports whether a folder is the whole file system, or one in which the system shows itself as files: to look
// through these has no end, and to read them may have effects.
func offLimits(dir string) bool {
	if filepath.Dir(dir) == dir {
		return true
	}
	return isWithinAny(dir, "/proc", "/sys", "/dev")
}

// isWithinAny reports whether path is one of the folders, or lies below one.
func isWithinAny(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		rel, err := filepath.Rel(folder, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// scanRule looks through one folder of a rule whose base is resolved. It reports false if it saw too much to see all.
func (w *Watcher) scanRule(r Rule, base, dir string) bool {
	seen := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > w.cfg.entries {
			w.once("walk "+base, "a folder of transcripts has more than is looked through; the rest is not followed", "folder", base, "most", w.cfg.entries)
			return filepath.SkipAll
		}
		if err != nil {
			return nil // what cannot be read is passed over, and looked at again
		}
		rel, err := filepath.Rel(base, path)
		if err != nil {
			return nil
		}
		if d.IsDir() {
			return w.scanFolder(r, path, rel)
		}
		if d.Type().IsRegular() && r.matches(filepath.ToSlash(rel)) && !w.excluded(path) {
			w.found(r, path)
		}
		return nil
	})
	return seen <= w.cfg.entries
}

// scanFolder watches a folder, unless it is not to be looked at.
func (w *Watcher) scanFolder(r Rule, path, rel string) error {
	depth := 0
	if rel != "." {
		depth = 1 + strings.Count(filepath.ToSlash(rel), "/")
	}
	if w.excluded(path) || depth > maxDepth || r.deep() >= 0 && depth > r.deep() {
		return filepath.SkipDir
	}
	w.watchFolder(path)
	return nil
}

// excluded reports whether path lies in a folder that is not looked at.
func (w *Watcher) excluded(path string) bool { return isWithinAny(path, w.cfg.Exclude...) }

// watchFolder asks for notices of a folder. Without them it is looked at every now and then all the same.
func (w *Watcher) watchFolder(path string) {
	if w.notices.add == nil || w.folders[path] || len(w.folders) >= maxFolders {
		return
	}
	if err := w.notices.add(path); err != nil {
		w.once("folder", "a folder gives no notice of what happens in it; it is looked at every now and then", "folder", path, "err", err)
		return
	}
	w.folders[path] = true
}

// found takes up a file, and notes that it is to be looked at.
func (w *Watcher) found(r Rule, path string) {
	f := w.files[path]
	if f == nil {
		if len(w.files) >= maxFiles {
			w.once("files", "there are more transcripts than are followed", "most", maxFiles)
			return
		}
		f = &file{File: File{Path: path, Agent: r.Agent}}
		w.files[path] = f
	}
	f.inLastScan, f.Agent, f.rule = true, r.Agent, r.String()
	w.inspect(f)
}

// notice takes a notice of the system: of a folder or a file that changed.
func (w *Watcher) notice(change fsnotify.Event) {
	if change.Op == fsnotify.Chmod {
		return
	}
	path := change.Name
	if w.folders[path] && (change.Has(fsnotify.Remove) || change.Has(fsnotify.Rename)) {
		// Folders that are made there again are others, of which nothing would be heard.
		maps.DeleteFunc(w.folders, func(folder string, _ bool) bool { return isWithinAny(folder, path) })
	}
	if f := w.files[path]; f != nil {
		w.inspect(f)
		return
	}
	for _, r := range w.cfg.Rules {
		if base, ok := w.baseOf(r); ok && isWithinAny(path, base) {
			w.scanRule(r, base, path)
		}
	}
}
