package files

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

type fold struct {
	x     *engine.Tx
	facts engine.FactsCache
	roots *engine.Cache[engine.ProjectID, rootName]
}

func (View) Fold(x *engine.Tx) engine.Fold {
	return &fold{
		x: x, facts: engine.NewFactsCache(x),
		roots: engine.NewCache(x, projectTable(), func(p engine.ProjectID) []byte { return p[:] }),
	}
}

func (f *fold) Flush() error { return engine.Flush(f.facts, f.roots) }

func (f *fold) Apply(r *engine.Record) error {
	switch r.Kind {
	case events.KindSessionOpened:
		return f.open(r)
	case events.KindToolUsed:
		if r.Unobserved {
			return nil
		}
		return engine.Handle(r, f.tool)
	case events.KindObservationParsed:
		return engine.Handle(r, f.observation)
	case events.KindMemoryForgotten:
		return f.forget(r)
	}
	return nil
}

func (f *fold) tool(r *engine.Record, e events.ToolUsed) error {
	file, modified := fileOf(e.Input)
	if file == "" {
		return nil
	}
	if !path.IsAbs(file) && e.Cwd != "" {
		file = path.Join(e.Cwd, file)
	}
	t := Touch{Tool: e.Tool, Failed: e.Failed}
	if modified && !e.Failed {
		return f.touch(r, t, []string{file}, nil)
	}
	return f.touch(r, t, nil, []string{file})
}

func (f *fold) observation(r *engine.Record, e events.ObservationParsed) error {
	return f.touch(r, Touch{ID: e.Observation}, e.FilesModified, e.FilesRead)
}

// touch enters that r changed and read files. One that it did both to was changed.
func (f *fold) touch(r *engine.Record, t Touch, changed, read []string) error {
	known, err := f.facts.Peek(r.Session)
	if err != nil {
		return err
	}
	if known == nil {
		known = &engine.Facts{}
	}
	t.Position, t.At, t.Session = r.Position, r.OccurredAt, r.Session
	done := touched{Project: engine.ProjectIDOf(known.ProjectRoot)}
	for i, name := range slices.Concat(changed, read) {
		file := relative(*known, name)
		if file == "" || slices.Contains(done.Paths, file) {
			continue
		}
		t.Modified = i < len(changed)
		if err := f.enter(done.Project, file, t, len(done.Paths)); err != nil {
			return err
		}
		done.Paths = append(done.Paths, file)
	}
	if len(done.Paths) == 0 {
		return nil
	}
	return touchedTable().Put(f.x, engine.PositionKey(r.Position), done)
}

// open keeps the name of the session's project: it must not depend on a touch, which can be forgotten.
func (f *fold) open(r *engine.Record) error {
	if err := f.facts.Learn(r); err != nil {
		return err
	}
	known, err := f.facts.Peek(r.Session)
	if err != nil || known == nil {
		return err
	}
	name, err := f.roots.Edit(engine.ProjectIDOf(known.ProjectRoot))
	if err != nil {
		return err
	}
	name.Root = known.ProjectRoot
	return nil
}

func (f *fold) enter(p engine.ProjectID, file string, t Touch, n int) error {
	if err := touchTable().Put(f.x, touchKey(p, file, t.Position), t); err != nil {
		return err
	}
	return recentTable().Put(f.x, recentKey(p, t, n), fileRef{Modified: t.Modified, Path: file})
}

func (f *fold) forget(r *engine.Record) error {
	return engine.ForgottenRecords(f.x, r, func(h events.Header) error {
		if h.Kind != events.KindToolUsed && h.Kind != events.KindObservationParsed {
			return nil
		}
		done, ok, err := touchedTable().Get(f.x, engine.PositionKey(h.Position))
		if err != nil || !ok {
			return err
		}
		return f.remove(h, done)
	})
}

func (f *fold) remove(h events.Header, done touched) error {
	t := Touch{At: h.OccurredAt, Position: h.Position}
	for n, file := range done.Paths {
		if err := touchTable().Delete(f.x, touchKey(done.Project, file, h.Position)); err != nil {
			return err
		}
		if err := recentTable().Delete(f.x, recentKey(done.Project, t, n)); err != nil {
			return err
		}
	}
	return touchedTable().Delete(f.x, engine.PositionKey(h.Position))
}

// relative is the path as it is kept: inside the project or the working tree relative to it, else as it is. It is
// empty for what is no file: nothing, a URL, a device, a folder, a path that is too long.
func relative(known engine.Facts, name string) string {
	if name == "" || len(name) > maxPath || strings.Contains(name, "://") || strings.HasPrefix(name, "/dev/") || strings.ContainsRune(name, 0) {
		return ""
	}
	name = path.Clean(name)
	for _, root := range []string{known.GitRoot, known.ProjectRoot} {
		if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(root, "/")+"/"); ok && root != "" {
			return rest
		}
	}
	if name == known.GitRoot || name == known.ProjectRoot || name == "." || name == "/" {
		return ""
	}
	return name
}

// nextPath is the smallest key after all touches of the file that key k touches.
func nextPath(k []byte) []byte {
	n := bytes.Clone(k[:len(k)-8])
	n[len(n)-1] = 1
	return n
}
