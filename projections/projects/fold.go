package projects

import (
	"bytes"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// View keeps which folders are one project, as the sessions that were opened in them say. A folder belongs to the
// project that its latest session named; sessions recorded before projects had keys name none, and change nothing.
type View struct{}

func (View) Name() string       { return "projects" }
func (View) Version() int       { return 1 }
func (View) SkipsUnknown() bool { return true }

func folderTable() engine.Table[folder]   { return engine.Table[folder]{Name: "rows"} }
func keyTable() engine.Table[keyOfFolder] { return engine.Table[keyOfFolder]{Name: "keys"} }

func (View) Tables() []engine.TableSpec {
	return []engine.TableSpec{folderTable().Spec(showFolder), keyTable().Spec(engine.ShowHex)}
}

// folder is a root of a project.
type folder struct {
	Root string          `cbor:"1,keyasint,omitempty" json:"root"`
	Last events.Position `cbor:"2,keyasint,omitempty" json:"last"` // of its latest session's opening
}

// keyOfFolder is the key of the project that a root belongs to.
type keyOfFolder struct {
	Key string `cbor:"1,keyasint,omitempty" json:"key"`
}

// folderKey orders the roots of a project.
func folderKey(p engine.ProjectID, root engine.ProjectID) []byte {
	return append(bytes.Clone(p[:]), root[:]...)
}

func showFolder(k []byte) string {
	if len(k) != 32 {
		return engine.ShowHex(k)
	}
	return engine.ShowHex(k[:16]) + " " + engine.ShowHex(k[16:])
}

type fold struct{ x *engine.Tx }

func (View) Fold(x *engine.Tx) engine.Fold { return fold{x} }

func (f fold) Apply(r *engine.Record) {
	if r.Kind != events.KindSessionOpened {
		return
	}
	e, ok := engine.PayloadOf[events.SessionOpened](r)
	if !ok || e.ProjectKey == "" || e.ProjectRoot == "" {
		return
	}
	root := engine.ProjectIDOf(e.ProjectRoot)
	was, known := keyTable().Get(f.x, root[:])
	if known && was.Key != e.ProjectKey {
		folderTable().Delete(f.x, folderKey(engine.ProjectIDOf(was.Key), root))
	}
	keyTable().Put(f.x, root[:], keyOfFolder{Key: e.ProjectKey})
	folderTable().Put(f.x, folderKey(engine.ProjectIDOf(e.ProjectKey), root), folder{Root: e.ProjectRoot, Last: r.Position})
}

func (fold) Flush() {}
