package recall

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/index"
)

// TestFileByItsAbsolutePath: whoever names a file or a folder by its absolute path finds what its project calls it, in
// whichever of the project's folders and working trees, and nothing of another project.
func TestFileByItsAbsolutePath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	names := map[events.ID]string{}
	about := func(s events.SessionID, name string, files ...string) {
		id := newID()
		names[id] = name
		w.put(s.Stream(), events.ObservationParsed{Observation: id, Type: "change", Title: name + " was seen", FilesModified: files})
	}
	open := func(native, root, key string) events.SessionID {
		s := events.SessionIDOf("codex", native)
		w.put(s.Stream(), events.SessionOpened{Agent: "codex", AgentSession: native, Project: "p", ProjectRoot: root, ProjectKey: key, Cwd: root})
		return s
	}
	shop, clone, bank := open("a", "/src/shop", "remote:x/shop"), open("b", "/home/shop", "remote:x/shop"), open("c", "/src/bank", "remote:x/bank")
	about(shop, "rel", "src/pay/gw.go")
	about(shop, "abs", "/src/shop/src/pay/gw.go")
	about(shop, "tree", "/wt/fix/src/pay/gw.go")
	about(shop, "top", "main.go")
	about(clone, "clone", "/home/shop/src/pay/gw.go")
	about(clone, "below", "cmd/x/main.go")
	about(bank, "bank", "src/pay/gw.go", "main.go")
	w.sync()
	gw := []string{"abs", "clone", "rel", "tree"}
	tree := func(path string) FileIn {
		return FileIn{Root: "/src/shop", Key: "remote:x/shop", Path: path}
	}
	for _, c := range []struct {
		q    Query
		want []string
	}{
		{Query{File: "/src/shop/src/pay/gw.go"}, gw},
		{Query{File: "/home/shop/src/pay/gw.go"}, gw},
		{Query{File: "/src/shop/src/pay/"}, gw},
		{Query{File: "/new/tree/src/pay/gw.go"}, nil},
		{Query{File: "/new/tree/src/pay/gw.go", FileIn: tree("src/pay/gw.go")}, gw},
		{Query{File: "/new/tree/src", FileIn: tree("src")}, []string{"abs", "clone", "rel"}},
		{Query{File: "/src/shop/main.go"}, []string{"top"}},
		{Query{File: "/src/shop"}, []string{"abs", "below", "clone", "rel", "top"}},
		{Query{File: "/src/bank/src/pay/gw.go"}, []string{"bank"}},
		{Query{File: "/src/shop/src/pay/gw.go", Project: "/src/bank"}, nil},
		{Query{File: "/src/shop/src/pay/gw.go", Project: "/home/shop"}, gw},
		{Query{File: "src/pay"}, []string{"abs", "bank", "clone", "rel", "tree"}},
	} {
		got := map[string]bool{}
		for _, it := range w.mustSearch(c.q).Results {
			got[names[it.ID]] = true
		}
		want := map[string]bool{}
		for _, name := range c.want {
			want[name] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("file %s of %+v in %q (-want +got):\n%s", c.q.File, c.q.FileIn, c.q.Project, diff)
		}
	}
}

func TestFileInNothingKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sync()
	for _, q := range []Query{{}, {File: "src/gw.go"}, {File: "/src/gw.go"}, {File: "/src/gw.go", Project: "shop"}} {
		got, err := w.fileIn(t.Context(), q)
		if diff := cmp.Diff(index.FileIn{}, got); diff != "" || err != nil {
			t.Errorf("%+v: %v (-want +got):\n%s", q, err, diff)
		}
	}
}
