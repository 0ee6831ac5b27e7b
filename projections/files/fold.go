package files

import (
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

func (View) Fold(x *engine.Tx) func(*engine.Record) {
	f := &fold{
		x: x, facts: engine.NewFactsCache(x),
		roots: engine.NewCache(x, projectTable(), func(p engine.ProjectID) []byte { return p[:] }),
	}
	return f.apply
}

func (f *fold) apply(r *engine.Record) {
	switch r.Kind {
	case events.KindSessionOpened:
		f.open(r)
	case events.KindToolUsed:
		if !r.Unobserved {
			engine.Handle(r, f.tool)
		}
	case events.KindObservationParsed:
		engine.Handle(r, f.observation)
	case events.KindMemoryForgotten:
		f.forget(r)
	}
}

func (f *fold) tool(r *engine.Record, e events.ToolUsed) {
	file, modified := fileOf(e.Input)
	if file == "" {
		return
	}
	if !path.IsAbs(file) && e.Cwd != "" {
		file = path.Join(e.Cwd, file)
	}
	t, names := Touch{Tool: e.Tool, Failed: e.Failed}, []string{file}
	if modified && !e.Failed {
		f.touch(r, t, names, nil)
	} else {
		f.touch(r, t, nil, names)
	}
}

func (f *fold) observation(r *engine.Record, e events.ObservationParsed) {
	f.touch(r, Touch{ID: e.Observation}, e.FilesModified, e.FilesRead)
}

// touch enters that r changed and read files. One that it did both to was changed.
func (f *fold) touch(r *engine.Record, t Touch, changed, read []string) {
	known := f.facts.Peek(r.Part)
	if known == nil {
		known = &engine.Facts{}
	}
	t.Position, t.At, t.Session, t.Log = r.Position, r.OccurredAt, r.Session, r.Home.Log
	done := touched{Project: engine.ProjectIDOf(known.ListedRoot())}
	for i, name := range slices.Concat(changed, read) {
		file := relative(*known, name)
		if file == "" || slices.Contains(done.Paths, file) {
			continue
		}
		t.Modified = i < len(changed)
		touchTable().Put(f.x, touchKey(done.Project, file, t.Position), t)
		recentTable().Put(f.x, recentKey(done.Project, t, len(done.Paths)), fileRef{Modified: t.Modified, Path: file})
		done.Paths = append(done.Paths, file)
	}
	if len(done.Paths) > 0 {
		touchedTable().Put(f.x, engine.PositionKey(r.Position), done)
	}
}

// open keeps the name of the session's project: it must not depend on a touch, which can be forgotten.
func (f *fold) open(r *engine.Record) {
	f.facts.Learn(r)
	if known := f.facts.Peek(r.Part); known != nil {
		f.roots.Edit(engine.ProjectIDOf(known.ListedRoot())).Root = known.ListedRoot()
	}
}

func (f *fold) forget(r *engine.Record) {
	for h := range engine.ForgottenRecords(f.x, r) {
		if h.Kind != events.KindToolUsed && h.Kind != events.KindObservationParsed {
			continue
		}
		if done, ok := touchedTable().Get(f.x, engine.PositionKey(h.Position)); ok {
			f.remove(h, done)
		}
	}
}

func (f *fold) remove(h events.Header, done touched) {
	t := Touch{At: h.OccurredAt, Position: h.Position}
	for n, file := range done.Paths {
		touchTable().Delete(f.x, touchKey(done.Project, file, h.Position))
		recentTable().Delete(f.x, recentKey(done.Project, t, n))
	}
	touchedTable().Delete(f.x, engine.PositionKey(h.Position))
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
