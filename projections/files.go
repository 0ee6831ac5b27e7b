package projections

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// fileView keeps which observations and tool uses read or changed a file. Paths inside a project are kept relative to
// it, so that worktrees and absolute names meet.
type fileView struct{}

func (fileView) Name() string       { return "files" }
func (fileView) Version() int       { return 2 }
func (fileView) SkipsUnknown() bool { return true }

// maxPath is the longest path that is kept, in bytes: Linux knows none over 4,096, and a key must fit a page.
const maxPath = 2 << 10

func touchTable() engine.Table[Touch]    { return engine.Table[Touch]{Name: "rows"} }
func recentTable() engine.Table[fileRef] { return engine.Table[fileRef]{Name: "recent"} }
func touchedTable() engine.Table[touched] {
	return engine.Table[touched]{Name: "touched", Ordered: true}
}
func projectTable() engine.Table[rootName] { return engine.Table[rootName]{Name: "projects"} }

func (fileView) Tables() []engine.TableSpec {
	return []engine.TableSpec{
		touchTable().Spec(showTouch), recentTable().Spec(engine.ShowHex), touchedTable().Spec(engine.ShowPosition),
		projectTable().Spec(engine.ShowHex), engine.FactsTable().Spec(engine.ShowID),
	}
}

// touched is what one record touched, so that it can be forgotten.
type touched struct {
	Project engine.ProjectID `cbor:"1,keyasint" json:"project"`
	Paths   []string         `cbor:"2,keyasint,omitempty" json:"paths"`
}

// rootName is the root of a project whose id is in keys.
type rootName struct {
	Root string `cbor:"1,keyasint,omitempty" json:"root"`
}

// fileRef is the file of an entry in a project's list by time.
type fileRef struct {
	Modified bool   `json:"modified"`
	Path     string `json:"path"`
}

// AppendBinary appends whether it was changed, and the path.
func (r fileRef) AppendBinary(b []byte) ([]byte, error) {
	var changed byte
	if r.Modified {
		changed = 1
	}
	return append(append(b, changed), r.Path...), nil
}

// UnmarshalBinary reads what AppendBinary wrote.
func (r *fileRef) UnmarshalBinary(b []byte) error {
	if len(b) == 0 {
		return engine.ErrShort
	}
	*r = fileRef{Modified: b[0] == 1, Path: string(b[1:])}
	return nil
}

// touchKey orders the touches of a project by path, and those of a path newest first.
func touchKey(p engine.ProjectID, file string, at events.Position) []byte {
	return binary.BigEndian.AppendUint64(pathKey(p, file), ^uint64(at))
}

// pathKey begins the keys of all touches of a file.
func pathKey(p engine.ProjectID, file string) []byte {
	b := append(make([]byte, 0, len(p)+len(file)+9), p[:]...)
	return append(append(b, file...), 0)
}

// pathOfKey is the path in a touchKey.
func pathOfKey(k []byte) (string, bool) {
	if len(k) < 16+1+8 {
		return "", false
	}
	return string(k[16 : len(k)-9]), k[len(k)-9] == 0
}

func showTouch(k []byte) string {
	file, ok := pathOfKey(k)
	if !ok {
		return engine.ShowHex(k)
	}
	return file + " " + engine.ShowPosition(engine.PositionKey(^engine.KeyPosition(k)))
}

// recentKey orders the touches of a project by time. The number tells the files of one record apart.
func recentKey(p engine.ProjectID, t Touch, n int) []byte {
	return append(engine.TimeKey(p, t.At, t.Position), byte(n>>8), byte(n))
}

type fileFold struct {
	x     *engine.Tx
	facts engine.FactsCache
	roots *engine.Cache[engine.ProjectID, rootName]
}

func (fileView) Fold(x *engine.Tx) engine.Fold {
	return &fileFold{
		x: x, facts: engine.NewFactsCache(x),
		roots: engine.NewCache(x, projectTable(), func(p engine.ProjectID) []byte { return p[:] }),
	}
}

func (f *fileFold) Flush() error {
	if err := f.facts.Flush(); err != nil {
		return err
	}
	return f.roots.Flush()
}

func (f *fileFold) Apply(r *engine.Record) error {
	switch r.Kind {
	case events.KindSessionOpened:
		return f.open(r)
	case events.KindToolUsed:
		return f.tool(r)
	case events.KindObservationParsed:
		return f.observation(r)
	case events.KindMemoryForgotten:
		return f.forget(r)
	}
	return nil
}

func (f *fileFold) tool(r *engine.Record) error {
	if r.Unobserved {
		return nil
	}
	e, ok, err := engine.PayloadOf[events.ToolUsed](r)
	if err != nil || !ok {
		return err
	}
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

func (f *fileFold) observation(r *engine.Record) error {
	e, ok, err := engine.PayloadOf[events.ObservationParsed](r)
	if err != nil || !ok {
		return err
	}
	return f.touch(r, Touch{ID: e.Observation}, e.FilesModified, e.FilesRead)
}

// touch enters that r changed and read files. One that it did both to was changed.
func (f *fileFold) touch(r *engine.Record, t Touch, changed, read []string) error {
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
func (f *fileFold) open(r *engine.Record) error {
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

func (f *fileFold) enter(p engine.ProjectID, file string, t Touch, n int) error {
	if err := touchTable().Put(f.x, touchKey(p, file, t.Position), t); err != nil {
		return err
	}
	return recentTable().Put(f.x, recentKey(p, t, n), fileRef{Modified: t.Modified, Path: file})
}

func (f *fileFold) forget(r *engine.Record) error {
	e, ok, err := engine.PayloadOf[events.MemoryForgotten](r)
	if err != nil || !ok {
		return err
	}
	return engine.ForgottenRecords(f.x, e, func(h events.Header) error {
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

func (f *fileFold) remove(h events.Header, done touched) error {
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

// Touch is one observation or tool use that read or changed a file.
type Touch struct {
	Position events.Position  `cbor:"1,keyasint,omitempty" json:"position"`
	At       time.Time        `cbor:"2,keyasint,omitzero" json:"at"`
	Session  events.SessionID `cbor:"3,keyasint,omitzero" json:"session,omitzero"`
	ID       events.ID        `cbor:"4,keyasint,omitzero" json:"id,omitzero"`      // of the observation; zero: a tool use
	Tool     string           `cbor:"5,keyasint,omitempty" json:"tool,omitempty"`  // of a tool use
	Modified bool             `cbor:"6,keyasint,omitempty" json:"modified"`        // false: read
	Failed   bool             `cbor:"7,keyasint,omitempty" json:"failed,omitzero"` // the tool use failed: it changed nothing
}
