package index

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
)

// TestFiles: a file is found by the end of its path, a folder finds what lies in it at any depth and nothing that merely
// begins like it, and what a project names otherwise is found in that project alone.
func TestFiles(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	named := map[events.ID]string{}
	about := func(s events.SessionID, name string, files ...string) {
		id := uuid.Must(uuid.NewV7())
		w.put(s.Stream(), events.ObservationParsed{Observation: id, Title: "seen", FilesModified: files})
		named[id] = name
	}
	shop, bank := w.open("codex", "a", "shop"), w.open("codex", "b", "bank")
	about(shop, "rel", "src/pay/gw.go")
	about(shop, "abs", "/src/shop/src/pay/gw.go")
	about(shop, "tree", "/wt/x/src/pay/gw.go")
	about(shop, "deep", "/a/b/c/d/e/f/g/h/i/j/k.go")
	about(shop, "like", "src/payment/gw.go", "src/pay0/gw.go", "src/pay")
	about(shop, "top", "main.go")
	about(shop, "inner", "cmd/x/main.go")
	about(bank, "bank", "src/pay/gw.go")
	x := w.mustOpen(t.TempDir())
	in := func(file string, paths ...string) FileIn {
		return FileIn{Projects: []string{"/src/shop"}, Rootless: []string{"shop"}, Files: []string{file}, Paths: paths}
	}
	for _, c := range []struct {
		q    Query
		want []string
	}{
		{Query{File: "gw.go"}, []string{"abs", "bank", "like", "rel", "tree"}},
		{Query{File: "src/pay"}, []string{"abs", "bank", "like", "rel", "tree"}},
		{Query{File: "pay/"}, []string{"abs", "bank", "like", "rel", "tree"}},
		{Query{File: "src/pa"}, []string{}},
		{Query{File: "/src/shop/src/pay/gw.go"}, []string{"abs"}},
		{Query{File: "/src/shop/src/pay/gw.go", FileIn: in("src/pay/gw.go")}, []string{"abs", "rel", "tree"}},
		{Query{File: "/new/src/pay/gw.go", FileIn: in("src/pay/gw.go")}, []string{"abs", "rel", "tree"}},
		{Query{File: "/new/src/pay", FileIn: in("src/pay")}, []string{"abs", "like", "rel", "tree"}},
		{Query{File: "/src/shop/main.go", FileIn: in("", "main.go")}, []string{"top"}},
		{Query{File: "/src/shop/src", FileIn: in("", "src")}, []string{"abs", "like", "rel"}},
		{Query{File: "/src/shop", FileIn: in("", ".", "/wt/x")}, []string{"abs", "inner", "like", "rel", "top", "tree"}},
		{Query{File: "/a/b"}, []string{"deep"}},
		{Query{File: "/a/b/c/d/e/f/g/h/i/j"}, []string{"deep"}},
		{Query{File: "/"}, slices.Sorted(maps.Values(named))},
	} {
		got := []string{}
		for _, h := range mustSearch(t, x, c.q).Hits {
			got = append(got, named[h.ID])
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%+v: -want +got\n%s", c.q, diff)
		}
	}
}
