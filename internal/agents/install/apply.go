package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

// A Runner runs a command of an agent's client. Its error holds what the client said.
type Runner func(ctx context.Context, c Command) error

// Apply carries a plan out. Each file is replaced in one step and is on disk when Apply returns. Nothing is written if a file
// is not what it was when the plan was made (ErrChanged). If one cannot be written, those before it are put back. If a
// command fails, what was written stays: the record says what, and a removal takes it back.
func (s Store) Apply(ctx context.Context, p Plan, run Runner, now time.Time) error {
	for _, c := range p.Changes {
		if err := c.checkUnchanged(); err != nil {
			return err
		}
	}
	if p.Removal {
		return s.remove(ctx, p, run)
	}
	return s.install(ctx, p, run, now)
}

// checkUnchanged refuses a change whose file is another by now.
func (c Change) checkUnchanged() error {
	now, err := read(c.Path)
	if err == nil && !now.is(c) {
		err = &FileError{c.Path, ErrChanged}
	}
	return err
}

func (s Store) install(ctx context.Context, p Plan, run Runner, now time.Time) error {
	for _, text := range p.keep {
		if err := s.keep(text); err != nil {
			return err
		}
	}
	r := *p.record
	r.Files = slices.Clone(r.Files)
	r.At, r.State = now, stateApplying
	if err := s.save(&r); err != nil {
		return err
	}
	if p.TreeDir != "" {
		if err := writeTree(p.TreeDir, p.Tree); err != nil {
			return err
		}
	}
	if err := writeAll(p.Changes, &r); err != nil {
		return errors.Join(err, s.giveUp(p))
	}
	if err := s.runCommands(ctx, p, run, &r); err != nil {
		return err
	}
	r.State = stateApplied
	return s.save(&r)
}

// giveUp leaves the record as it was before an installation whose files were put back.
func (s Store) giveUp(p Plan) error {
	if p.old == nil {
		return s.drop(p.Agent)
	}
	return s.save(p.old)
}

func (s Store) remove(ctx context.Context, p Plan, run Runner) error {
	var r *Record
	if p.record != nil {
		copied := *p.record
		copied.State, copied.Files = stateRemoving, slices.Clone(copied.Files)
		r = &copied
		if err := s.save(r); err != nil {
			return err
		}
	}
	if err := writeAll(slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool { return c.deferred }), nil); err != nil {
		return err
	}
	if err := s.runRemoval(ctx, p, run, r); err != nil {
		return err
	}
	if err := restoreDeferred(p.deferred, r); err != nil {
		return err
	}
	for _, dir := range p.trash {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if r == nil {
		return nil
	}
	if err := removeFolders(r.Files); err != nil {
		return err
	}
	return s.drop(p.Agent)
}

// writeAll writes changes, or none of them. Folders that it makes go into the files' records.
func writeAll(changes []Change, r *Record) error {
	for i, c := range changes {
		made := missing(filepath.Dir(c.Path))
		err := c.write()
		if err != nil {
			for _, done := range slices.Backward(changes[:i]) {
				err = errors.Join(err, done.undo())
			}
			return err
		}
		if f := r.file(c.Path); f != nil && len(made) > 0 {
			f.Folders = made
		}
	}
	return nil
}

// write makes the file what the change wants.
func (c Change) write() error {
	now, err := read(c.Path)
	if err != nil {
		return err
	}
	if c.After == nil {
		if !now.exists {
			return nil
		}
		if err := os.Remove(now.real); err != nil {
			return err
		}
		return durable.SyncDir(filepath.Dir(now.real))
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return err
	}
	if err := durable.Replace(now.real, c.After, c.Mode); err != nil {
		return fmt.Errorf("%s was not changed: %w", c.Path, err)
	}
	return nil
}

// undo puts back what was there before write.
func (c Change) undo() error {
	return Change{Path: c.Path, After: c.Before, Mode: c.Old}.write()
}

// missing lists the folders that MkdirAll would make for dir, the outermost first.
func missing(dir string) (all []string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			break
		}
		all = append(all, dir)
	}
	slices.Reverse(all)
	return all
}

// removeFolders removes the folders that were made for files, where no file is in them any more.
func removeFolders(files []FileRecord) error {
	for _, f := range files {
		for _, dir := range slices.Backward(f.Folders) { // the innermost first
			if err := removeEmpty(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeEmpty removes dir if there is no file in it, nor in a folder in it.
func removeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if err == nil && e.IsDir() {
			err = removeEmpty(filepath.Join(dir, e.Name()))
		}
	}
	if err != nil {
		return err
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		return err
	}
	return os.Remove(dir)
}

// writeTree makes dir hold files and no others.
func writeTree(dir string, files []File) error {
	wanted := map[string]bool{}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		wanted[path] = true
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := durable.Replace(path, f.Text, f.Mode); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || wanted[path] {
			return err
		}
		return os.Remove(path)
	})
}

// sameTree reports whether dir holds files as they are to be.
func sameTree(dir string, files []File) bool {
	for _, f := range files {
		c, err := read(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err != nil || !c.exists || string(c.text) != string(f.Text) || c.mode != f.Mode {
			return false
		}
	}
	return true
}
