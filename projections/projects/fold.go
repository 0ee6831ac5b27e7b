package projects

import (
	"bytes"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// View keeps which folders are one project, and whose the names without a folder are.
type View struct{}

func (View) Name() string        { return "projects" }
func (View) Reads() engine.Reads { return engine.Reads{SkipsUnknown: true, Others: true} }

func rootTable() engine.Table[Root]     { return engine.Table[Root]{Name: "rows"} }
func folderTable() engine.Table[folder] { return engine.Table[folder]{Name: "keys"} }
func givenTable() engine.Table[Given]   { return engine.Table[Given]{Name: "names"} }

func (View) Layout() engine.Layout {
	return engine.Layout{Version: 2, Tables: []engine.TableSpec{rootTable().Spec(engine.ShowHex), folderTable().Spec(showFolder), givenTable().Spec(engine.ShowHex)}}
}

// folder is a root of a project.
type folder struct {
	Root string          `cbor:"1,keyasint,omitempty" json:"root"`
	Last events.Position `cbor:"2,keyasint,omitempty" json:"last"` // of its latest session's opening
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

func (View) Fold(x *engine.Tx) func(*engine.Record) { return fold{x}.apply }

func (f fold) apply(r *engine.Record) {
	switch r.Kind {
	case events.KindSessionOpened, events.KindProjectJoined, events.KindProjectParted:
		engine.Handle(r, f.root)
	case events.KindProjectGiven:
		engine.Handle(r, f.give)
	}
}

func (f fold) root(r *engine.Record, e events.Event) {
	e = here(r, e)
	path := RootOf(e)
	if path == "" {
		return
	}
	id := engine.ProjectIDOf(path)
	was, known := rootTable().Get(f.x, id[:])
	is := was.After(e, r.Position, r.OccurredAt)
	if _, opened := e.(events.SessionOpened); !opened && f.x.Joined {
		if late(r, was.Said) {
			return
		}
		is.Said = r.Said()
	}
	if known && was.Key != is.Key {
		folderTable().Delete(f.x, folderKey(engine.ProjectIDOf(was.Key), id))
	}
	rootTable().Put(f.x, id[:], is)
	folderTable().Put(f.x, folderKey(engine.ProjectIDOf(is.Key), id), folder{Root: is.Path, Last: is.Last})
}

// here is e, which r says, with folders and keys as they are called on this machine.
func here(r *engine.Record, e events.Event) events.Event {
	switch e := e.(type) {
	case events.SessionOpened:
		e.ProjectRoot, e.ProjectKey, e.ProjectClaim = r.Root(e.ProjectRoot), r.Key(e.ProjectKey), r.Key(e.ProjectClaim)
		return e
	case events.ProjectJoined:
		e.Root, e.Key = r.Root(e.Root), r.Key(e.Key)
		return e
	case events.ProjectParted:
		e.Root = r.Root(e.Root)
		return e
	}
	return e
}

// late reports whether r is a person's word at another machine that the one which stands was said after, as both happened.
func late(r *engine.Record, stands engine.Said) bool {
	return stands.Home.Log != r.Home.Log && !stands.Home.Log.IsZero() && r.Said().First(stands) < 0
}

func (f fold) give(r *engine.Record, e events.ProjectGiven) {
	id, given := engine.ProjectIDOf(e.Name), Given{Name: e.Name, Root: r.Root(e.Root)}
	if f.x.Joined {
		was, _ := givenTable().Get(f.x, id[:])
		if late(r, was.Said) {
			return
		}
		given.Said = r.Said()
	} else if e.Root == "" {
		givenTable().Delete(f.x, id[:])
		return
	}
	givenTable().Put(f.x, id[:], given)
}
