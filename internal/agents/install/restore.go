package install

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
)

// A deferredFile is one that is restored after the commands of a removal, from what they left of it.
type deferredFile struct {
	target
	base []byte // what stood in it before cmemd came, as far as is known; nil: nothing
}

// runCommands runs the commands of p, and takes down what they made of the files that they change.
func (s Store) runCommands(ctx context.Context, p Plan, run Runner, r *Record) error {
	if len(p.Commands) == 0 {
		return nil
	}
	for _, t := range p.clientFiles {
		if err := s.note(t, r); err != nil {
			return err
		}
	}
	if err := s.save(r); err != nil {
		return err
	}
	var err error
	for i := 0; i < len(p.Commands) && err == nil; i++ {
		err = run(ctx, p.Commands[i])
	}
	for _, t := range p.clientFiles { // a command that failed may have done something
		c, readErr := read(t.path)
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		f := r.file(t.path)
		f.After, f.Set = c.sum(), c.mode
	}
	if err != nil {
		return errors.Join(err, s.save(r))
	}
	return nil
}

// note takes down what a removal shall restore of a file that commands are about to change.
func (s Store) note(t target, r *Record) error {
	c, err := read(t.path)
	if err != nil {
		return err
	}
	old := r.file(t.path)
	f, text, err := s.base(t, c, old)
	if err != nil {
		return err
	}
	if f.Existed {
		if err := s.keep(text); err != nil {
			return err
		}
	}
	if old == nil {
		f.Folders = missing(filepath.Dir(t.path))
	}
	f.Left = ""
	r.put(f)
	return nil
}

// base is what a removal shall restore: what was there before cmemd came. Where a person changed the file since, or nobody
// knows what was there, that is what it holds now, without cmemd's entries. Old is what was written down before; nil: nothing.
func (s Store) base(t target, c fileState, old *FileRecord) (FileRecord, []byte, error) {
	if old == nil {
		text, err := t.withoutClient(c.text)
		f := FileRecord{Path: t.path, Existed: c.exists, Mode: c.mode}
		if c.exists {
			f.Before = sumOf(text)
		}
		return f, text, err
	}
	text, err := s.restored(t, old)
	known := old
	switch {
	case errors.Is(err, errLost):
		known = nil
	case err != nil:
		return FileRecord{}, nil, err
	case old.untouched(c) || c.sum() == old.Before && c.exists == old.Existed:
		f := *old
		if f.Existed {
			f.Before = sumOf(text)
		}
		return f, text, nil
	}
	f := FileRecord{Path: t.path, Mode: old.modeFor(c), Set: old.Set, Folders: old.Folders}
	if !c.exists {
		return f, nil, nil
	}
	if text, err = t.withoutEntries(c.text, known, text); err != nil {
		return f, nil, err
	}
	if f.Existed = text != nil; f.Existed {
		f.Before = sumOf(text)
	}
	return f, text, nil
}

// restored is what a removal puts into a file that is as f has it; nil where there was none.
func (s Store) restored(t target, f *FileRecord) ([]byte, error) {
	text, err := s.before(f)
	if err != nil || text == nil {
		return nil, err
	}
	return t.withoutClient(text)
}

// withoutClient is text without what the client's commands put into it.
func (t target) withoutClient(text []byte) ([]byte, error) {
	if t.client == nil || text == nil {
		return text, nil
	}
	out, err := t.client.strip(text, nil)
	if err != nil {
		err = &FileError{t.path, err}
	}
	return out, err
}

// withoutEntries is what remains of a file that is not as cmemd left it: text without cmemd's entries. It is base where a client, which
// writes in a way of its own, is all that changed it. F is what is known of the time before; nil: nothing.
func (t target) withoutEntries(text []byte, f *FileRecord, base []byte) ([]byte, error) {
	known := base
	if f != nil && known == nil {
		known = []byte{} // there was nothing
	}
	out, err := t.edit.strip(text, known)
	switch {
	case err != nil:
		return nil, &FileError{t.path, err}
	case f != nil && !f.Existed && isBlank(out):
		return nil, nil
	case f != nil && t.client != nil && sameValue(out, base):
		return base, nil
	}
	return out, nil
}

// sameValue reports whether a text without comments says what base says.
func sameValue(text, base []byte) bool {
	if base == nil || !json.Valid(text) {
		return false
	}
	says, said := jsonedit.Parse(text), jsonedit.Parse(base)
	value, _ := says.Get()
	was, _ := said.Get()
	return errors.Join(says.Err(), said.Err()) == nil && reflect.DeepEqual(value, was)
}

// outcome is what a removal makes of a file, and its mode; nil: it goes.
func (t target) outcome(c fileState, f *FileRecord, base []byte) ([]byte, fs.FileMode, error) {
	mode := f.modeFor(c)
	switch {
	case f.untouched(c):
		return base, mode, nil
	case t.edit == nil, f != nil && f.Existed && f.Before == c.sum():
		return c.bytes(), mode, nil
	}
	out, err := t.withoutEntries(c.text, f, base)
	return out, mode, err
}

// runRemoval runs the commands of a removal. What they make of a file that nobody else changed is written down after each of
// them, so that it can be told from a person's work whenever the removal is gone on with.
func (s Store) runRemoval(ctx context.Context, p Plan, run Runner, r *Record) error {
	for _, c := range p.Commands {
		unchanged, err := untouchedOf(p.deferred, r)
		if err != nil {
			return err
		}
		err = run(ctx, c)
		for _, f := range unchanged {
			now, readErr := read(f.Path)
			f.Left, err = now.sum(), errors.Join(err, readErr)
		}
		if len(unchanged) > 0 {
			err = errors.Join(err, s.save(r))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// untouchedOf are those of some files that are as cmemd, or the client at its word, left them.
func untouchedOf(files []deferredFile, r *Record) (all []*FileRecord, err error) {
	for _, l := range files {
		c, err := read(l.path)
		if err != nil {
			return nil, err
		}
		if f := r.file(l.path); f.untouched(c) && c.exists {
			all = append(all, f)
		}
	}
	return all, nil
}

// restoreDeferred restores the files that the commands of a removal changed.
func restoreDeferred(files []deferredFile, r *Record) error {
	for _, l := range files {
		c, err := read(l.path)
		if err != nil {
			return err
		}
		if !c.exists {
			continue
		}
		after, mode, err := l.outcome(c, r.file(l.path), l.base)
		if err != nil {
			return err
		}
		if after != nil && slices.Equal(after, c.text) && mode == c.mode {
			continue
		}
		if err := (Change{Path: l.path, After: after, Mode: mode}).write(); err != nil {
			return err
		}
	}
	return nil
}
