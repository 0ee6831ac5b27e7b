package server

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/capturetest"
)

// repository makes a repository with a worktree beside it, and returns folders of both.
func repository(t *testing.T) (root string, folders []string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(root, "shop")
	tree := filepath.Join(filepath.Dir(root), "shop-fix")
	for path, text := range map[string]string{
		filepath.Join(root, ".git", "HEAD"):                               "ref: refs/heads/main\n",
		filepath.Join(root, ".git", "config"):                             "[core]\n\tbare = false\n",
		filepath.Join(root, ".git", "worktrees", "shop-fix", "HEAD"):      "ref: refs/heads/fix\n",
		filepath.Join(root, ".git", "worktrees", "shop-fix", "commondir"): "../..\n",
		filepath.Join(root, ".git", "worktrees", "shop-fix", "gitdir"):    filepath.Join(tree, ".git") + "\n",
		filepath.Join(root, ".git", "objects", "info", "packs"):           "",
		filepath.Join(root, ".git", "refs", "heads", "main"):              "",
		filepath.Join(root, "cart", "cart.go"):                            "",
		filepath.Join(tree, ".git"):                                       "gitdir: " + filepath.Join(root, ".git", "worktrees", "shop-fix") + "\n",
		filepath.Join(tree, "menu", "menu.go"):                            "",
	} {
		capturetest.WriteFile(t, path, []byte(text))
	}
	return root, []string{root, filepath.Join(root, "cart"), tree, filepath.Join(tree, "menu")}
}

// TestProjectByAnyOfItsFolders: a project that is named by a folder below it, or by a worktree's, is the project; what was
// saved under its mere name is its too, and goes with it when it is forgotten. One of the same name elsewhere is another.
func TestProjectByAnyOfItsFolders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	root, folders := repository(t)
	other, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other = filepath.Join(other, "shop")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	w.post(t,
		hook("UserPromptSubmit", "one", map[string]any{"prompt": "the carousel is slow", "prompt_id": newID().String(), "cwd": folders[3]}),
		hook("Stop", "one", map[string]any{"last_assistant_message": "carousel done", "prompt_id": newID().String(), "cwd": folders[3]}))
	save := func(m api.Memory) events.ID {
		t.Helper()
		saved, err := api.SaveRoute.Call(t.Context(), w.client, m)
		if err != nil {
			t.Fatal(err)
		}
		return saved.ID
	}
	want := []events.ID{
		save(api.Memory{Project: folders[1], Text: "carousel saved in a folder"}), save(api.Memory{Project: "shop", Text: "carousel saved under the name"}),
	}
	elsewhere := save(api.Memory{Project: other, Text: "carousel of another shop"})
	w.settled(t)
	for _, folder := range folders {
		found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "carousel", Project: folder, Kind: "memory"})
		if diff := cmp.Diff(sortedIDs(want), sortedIDs(resultIDs(found.Results))); diff != "" || err != nil {
			t.Errorf("search in %s: %v (-want +got):\n%s", folder, err, diff)
		}
		line, err := api.TimelineRoute.Call(t.Context(), w.client, api.TimelineQuery{Anchor: "2020-01-01", Project: folder, After: 50})
		if ids := resultIDs(line.After); err != nil || len(ids) != 3 || slices.Contains(ids, elsewhere) {
			t.Errorf("timeline of %s: %+v, %v; want a prompt and two memories", folder, line.After, err)
		}
		listed, err := api.SessionsRoute.Call(t.Context(), w.client, api.SessionsQuery{Project: folder})
		if err != nil || len(listed.Sessions) != 1 || listed.Sessions[0].ProjectRoot != root {
			t.Errorf("sessions of %s: %+v, %v", folder, listed.Sessions, err)
		}
		told, err := api.ContextRoute.Call(t.Context(), w.client, api.ContextQuery{Project: folder})
		if err != nil || !slices.Contains(told.IDs, want[0]) || !slices.Contains(told.IDs, want[1]) || slices.Contains(told.IDs, elsewhere) {
			t.Errorf("context in %s: %v, %v", folder, told.IDs, err)
		}
		plan, err := api.ForgetPlanRoute.Call(t.Context(), w.client, api.ForgetRequest{Project: folder}.Plan(), nil)
		if err != nil || plan.Kinds[events.KindMemorySaved] != 2 || plan.Kinds[events.KindPromptSubmitted] != 1 {
			t.Errorf("to forget of %s: %v, %v", folder, plan.Kinds, err)
		}
	}
	if _, err := api.ForgetRoute.Call(t.Context(), w.client, api.ForgetRequest{Project: folders[3]}, nil); err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "carousel"})
	if diff := cmp.Diff([]events.ID{elsewhere}, resultIDs(found.Results)); diff != "" || err != nil {
		t.Errorf("what is left: %v (-want +got):\n%s", err, diff)
	}
}

func resultIDs(list []api.Result) (ids []events.ID) {
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}

func sortedIDs(ids []events.ID) []events.ID {
	return slices.SortedFunc(slices.Values(ids), func(a, b events.ID) int { return slices.Compare(a[:], b[:]) })
}
