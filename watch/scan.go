package watch

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// Bounds of what is looked through: folders of transcripts have some thousands of files.
const (
	maxFolders = 8192
	maxFiles   = 100_000
	maxDepth   = 32
)

// scan looks through the folders of all rules: it watches those that are new, and takes up files that are. What is gone is
// forgotten.
func (w *Watcher) scan() {
	for _, f := range w.files {
		f.there = false
	}
	for _, r := range w.cfg.Rules {
		base, err := filepath.EvalSymlinks(r.base)
		if err != nil {
			continue // not there yet
		}
		w.scanRule(r, base, base)
	}
	for path, f := range w.files {
		if !f.there {
			w.drop(f)
			delete(w.files, path)
			w.dirty = true
		}
	}
}

// scanRule looks through one folder of a rule whose base is resolved.
func (w *Watcher) scanRule(r Rule, base, dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
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
func (w *Watcher) excluded(path string) bool {
	for _, not := range w.cfg.Exclude {
		if rel, err := filepath.Rel(not, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// watchFolder asks for notices of a folder. Without them it is looked at every now and then all the same.
func (w *Watcher) watchFolder(path string) {
	if w.notices == nil || w.folders[path] || len(w.folders) >= maxFolders {
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
	f.there, f.Agent = true, r.Agent
	w.look(f)
}

// notice takes a notice of the system: of a folder or a file that changed.
func (w *Watcher) notice(path string) {
	if path == "" {
		w.scan()
		return
	}
	if f := w.files[path]; f != nil {
		w.look(f)
		return
	}
	for _, r := range w.cfg.Rules {
		base, err := filepath.EvalSymlinks(r.base)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			w.scanRule(r, base, path)
		}
	}
}
