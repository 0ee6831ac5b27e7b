package server

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// TestSearchByAnAbsolutePath: agents hold absolute paths. A file of the project is found by its path in any of its working
// trees, as it is or as it was, and by a folder that it lies in, whichever way the memory names it.
func TestSearchByAnAbsolutePath(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	root, folders := repository(t)
	tree := folders[2]
	var last events.Position
	save := func(project, file string) events.ID {
		t.Helper()
		saved, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: project, Text: "about " + file, Files: []string{file}})
		if err != nil {
			t.Fatal(err)
		}
		last = saved.Position
		return saved.ID
	}
	rel, abs := save(root, "src/pay/gw.go"), save(root, filepath.Join(root, "src/pay/gw.go"))
	moved := save(tree, filepath.Join(tree, "src/pay/gw.go"))
	save("bank", "src/pay/gw.go")
	save(root, "src/payment/gw.go")
	want := sortedIDs([]events.ID{rel, abs, moved})
	for _, dir := range []string{root, tree} {
		for _, file := range []string{"src/pay/gw.go", "src/pay", "src/pay/"} {
			found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{File: dir + "/" + file, After: last})
			if diff := cmp.Diff(want, sortedIDs(resultIDs(found.Results))); diff != "" || err != nil {
				t.Errorf("%s in %s: %v (-want +got):\n%s", file, dir, err, diff)
			}
		}
	}
}
