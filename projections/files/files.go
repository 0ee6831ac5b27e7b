package files

import (
	"encoding/binary"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// View keeps which observations and tool uses read or changed a file. Paths inside a project are kept relative to
// it, so that worktrees and absolute names meet.
type View struct{}

func (View) Name() string        { return "files" }
func (View) Reads() engine.Reads { return engine.Reads{SkipsUnknown: true, Others: true} }

// maxPath is the longest path that is kept, in bytes: Linux knows none over 4,096, and a key must fit a page.
const maxPath = 2 << 10

func touchTable() engine.Table[Touch]    { return engine.Table[Touch]{Name: "rows"} }
func recentTable() engine.Table[fileRef] { return engine.Table[fileRef]{Name: "recent"} }
func touchedTable() engine.Table[touched] {
	return engine.Table[touched]{Name: "touched", Ordered: true}
}
func projectTable() engine.Table[rootName] { return engine.Table[rootName]{Name: "projects"} }

func (View) Layout() engine.Layout {
	return engine.Layout{Version: 2, Tables: []engine.TableSpec{
		touchTable().Spec(showTouch), recentTable().Spec(engine.ShowHex), touchedTable().Spec(engine.ShowPosition),
		projectTable().Spec(engine.ShowHex), engine.FactsTable().Spec(engine.ShowID),
	}}
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

// Form is whether it was changed, and the path.
func (r *fileRef) Form(p *engine.Packed) {
	p.Flags(&r.Modified)
	p.Rest(&r.Path)
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

// recentKey orders the touches of a project by time. The number distinguishes the files of one record.
func recentKey(p engine.ProjectID, t Touch, n int) []byte {
	return append(engine.TimeKey(p, t.At, t.Position), byte(n>>8), byte(n))
}

// Touch is one observation or tool use that read or changed a file.
type Touch struct {
	Position events.Position  `cbor:"1,keyasint,omitempty" json:"position"`
	At       time.Time        `cbor:"2,keyasint,omitzero" json:"at"`
	Session  events.SessionID `cbor:"3,keyasint,omitzero" json:"session,omitzero"`
	ID       events.ID        `cbor:"4,keyasint,omitzero" json:"id,omitzero"`      // of the observation; zero: a tool use
	Tool     string           `cbor:"5,keyasint,omitempty" json:"tool,omitempty"`  // of a tool use
	Modified bool             `cbor:"6,keyasint,omitempty" json:"modified"`        // false: read
	Log      events.LogID     `cbor:"8,keyasint,omitzero" json:"log,omitzero"`     // whose record it is; zero: there is one log
	Failed   bool             `cbor:"7,keyasint,omitempty" json:"failed,omitzero"` // the tool use failed: it changed nothing
}

// Filter chooses files.
type Filter struct {
	ProjectRoot  string // empty: all projects
	ModifiedOnly bool
	Limit        int // files; 0 means 50
	Touches      int // newest touches a file; 0 means 10
}

// File is one file of a project and the latest that touched it, newest first.
type File struct {
	Path        string    `json:"path"` // relative to the project where it lies in it, with slashes
	ProjectRoot string    `json:"project_root,omitempty"`
	LastAt      time.Time `json:"last_at"`
	Touches     []Touch   `json:"touches"`
}
