package projections

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// projectView keeps which folders are one project, as the sessions that were opened in them say. A folder belongs to the
// project that its latest session named; sessions recorded before projects had keys name none, and change nothing.
type projectView struct{}

func (projectView) Name() string       { return "projects" }
func (projectView) Version() int       { return 1 }
func (projectView) SkipsUnknown() bool { return true }

func folderTable() engine.Table[folder]   { return engine.Table[folder]{Name: "rows"} }
func keyTable() engine.Table[keyOfFolder] { return engine.Table[keyOfFolder]{Name: "keys"} }

func (projectView) Tables() []engine.TableSpec {
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

type projectFold struct{ x *engine.Tx }

func (projectView) Fold(x *engine.Tx) engine.Fold { return projectFold{x} }

func (f projectFold) Apply(r *engine.Record) error {
	if r.Kind != events.KindSessionOpened {
		return nil
	}
	e, ok, err := engine.PayloadOf[events.SessionOpened](r)
	if err != nil || !ok || e.ProjectKey == "" || e.ProjectRoot == "" {
		return err
	}
	root := engine.ProjectIDOf(e.ProjectRoot)
	was, known, err := keyTable().Get(f.x, root[:])
	if err != nil {
		return err
	}
	if known && was.Key != e.ProjectKey {
		if err := folderTable().Delete(f.x, folderKey(engine.ProjectIDOf(was.Key), root)); err != nil {
			return err
		}
	}
	if err := keyTable().Put(f.x, root[:], keyOfFolder{Key: e.ProjectKey}); err != nil {
		return err
	}
	return folderTable().Put(f.x, folderKey(engine.ProjectIDOf(e.ProjectKey), root), folder{Root: e.ProjectRoot, Last: r.Position})
}

func (projectFold) Flush() error { return nil }

// maxFolders is how many roots of one project are read together, and mostFolders how many are looked at for them.
const (
	maxFolders  = 16
	mostFolders = 4096
)

// ProjectReader answers from the view of projects. Its methods are safe for concurrent use.
type ProjectReader struct{ *engine.Views }

// Folders returns the roots that are one project with root: itself first, then the others, the one used last first, at
// most 16 together. Key is what identifies the project; empty: as the sessions opened in root said. A root that nobody
// has heard of is alone.
func (v ProjectReader) Folders(ctx context.Context, root, key string) ([]string, error) {
	var found []folder
	err := v.View(ctx, projectView{}.Name(), func(x *engine.Tx) error {
		id := engine.ProjectIDOf(root)
		if key == "" {
			known, _, err := keyTable().Get(x, id[:])
			if err != nil {
				return err
			}
			key = known.Key
		}
		var err error
		found, err = foldersOf(x, engine.ProjectIDOf(key))
		return err
	})
	slices.SortFunc(found, func(a, b folder) int { return cmp.Compare(b.Last, a.Last) })
	roots := []string{root}
	for _, f := range found {
		if f.Root != root && len(roots) < maxFolders {
			roots = append(roots, f.Root)
		}
	}
	return roots, err
}

func foldersOf(x *engine.Tx, p engine.ProjectID) ([]folder, error) {
	b, err := folderTable().In(x)
	if err != nil {
		return nil, err
	}
	var found []folder
	c := b.Cursor()
	for k, raw := c.Seek(p[:]); bytes.HasPrefix(k, p[:]) && len(found) < mostFolders; k, raw = c.Next() {
		var f folder
		if err := x.Decode(raw, &f); err != nil {
			return nil, engine.Damaged("folder %s: %v", showFolder(k), err)
		}
		found = append(found, f)
	}
	return found, nil
}
