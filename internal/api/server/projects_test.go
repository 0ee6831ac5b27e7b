package server

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// foldersIn makes folders, and returns their paths without symbolic links.
func foldersIn(t *testing.T, names ...string) (paths []string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		dir := filepath.Join(base, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, dir)
	}
	return paths
}

// rootsOf are the folders of the listed projects, a list a project.
func rootsOf(listed api.Projects) (all [][]string) {
	for _, p := range listed.Projects {
		var roots []string
		for _, f := range p.Folders {
			roots = append(roots, f.Root)
		}
		slices.Sort(roots)
		all = append(all, roots)
	}
	slices.SortFunc(all, slices.Compare[[]string])
	return all
}

// TestJoinAndPart: a clone that is kept apart shares the memory once it is joined, and no more once it is parted.
func TestJoinAndPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	dirs := foldersIn(t, "a/shop", "b/shop", "c/other")
	a, b, c := dirs[0], dirs[1], dirs[2]
	repositoryAt(t, filepath.Join(a, ".git"), "https://example.org/shop")
	repositoryAt(t, filepath.Join(b, ".git"), "https://example.org/shop")
	for _, dir := range dirs {
		w.startIn(t, "in "+dir, dir)
	}
	w.answer(t, "in "+a, a, "heron")
	sees := func(folder string, want bool) {
		t.Helper()
		w.settled(t)
		if all := w.everything(t, folder); strings.Contains(all, "heron") != want {
			t.Errorf("%s sees it: %t, want %t:\n%s", folder, !want, want, all)
		}
	}
	listed := func(want ...[]string) api.Projects {
		t.Helper()
		got, err := api.ProjectsRoute.Call(t.Context(), w.client, api.NoQuery{})
		if diff := cmp.Diff(want, rootsOf(got)); diff != "" || err != nil {
			t.Errorf("projects: %v (-want +got):\n%s", err, diff)
		}
		return got
	}
	sees(b, false)
	for _, p := range listed([]string{a}, []string{b}, []string{c}).Projects {
		like := p.Folders[0].LooksLike
		if want := p.Folders[0].Root == b; want != (len(like) > 0) || want && like[0] != a {
			t.Errorf("%s looks like %v", p.Folders[0].Root, like)
		}
	}
	done, err := api.JoinRoute.Call(t.Context(), w.client, api.JoinRequest{Folder: b})
	if err != nil || done.Root != b || len(done.Project.Folders) != 2 {
		t.Fatalf("joined: %+v, %v", done, err)
	}
	sees(b, true)
	listed([]string{a, b}, []string{c})
	if _, notice := w.startIn(t, "again in b", b); notice != "" {
		t.Errorf("told after joining: %q", notice)
	}
	if done, err = api.JoinRoute.Call(t.Context(), w.client, api.JoinRequest{Folder: c, Project: a}); err != nil || len(done.Project.Folders) != 3 {
		t.Fatalf("joined by a folder: %+v, %v", done, err)
	}
	sees(c, true)
	if _, err := api.PartRoute.Call(t.Context(), w.client, api.PartRequest{Folder: b}); err != nil {
		t.Fatal(err)
	}
	w.startIn(t, "once more in b", b)
	sees(b, false)
	sees(c, true)
	listed([]string{a, c}, []string{b})
	if _, err := api.JoinRoute.Call(t.Context(), w.client, api.JoinRequest{Folder: b, Project: "other"}); err != nil {
		t.Errorf("joined by a name: %v", err)
	}
	sees(b, true)
}

// TestWhatJoinsByItself: repositories below a file of the person's that stands in none, and a worktree; a repository without either
// does not.
func TestWhatJoinsByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	dirs := foldersIn(t, "work/a", "work/b", "tree", "alone")
	a, b, tree, alone := dirs[0], dirs[1], dirs[2], dirs[3]
	capturetest.WriteFile(t, filepath.Join(filepath.Dir(a), ".cmemd-project"), []byte("work\n"))
	for i, dir := range []string{a, b, alone} {
		repositoryAt(t, filepath.Join(dir, ".git"), "https://example.org/"+strings.Repeat("x", i+1))
	}
	in := filepath.Join(b, ".git", "worktrees", "tree")
	capturetest.WriteFile(t, filepath.Join(in, "HEAD"), []byte("ref: refs/heads/fix\n"))
	capturetest.WriteFile(t, filepath.Join(in, "commondir"), []byte("../..\n"))
	capturetest.WriteFile(t, filepath.Join(in, "gitdir"), []byte(filepath.Join(tree, ".git")+"\n"))
	capturetest.WriteFile(t, filepath.Join(tree, ".git"), []byte("gitdir: "+in+"\n"))
	w.startIn(t, "a", a)
	w.answer(t, "a", a, "heron")
	for _, dir := range []string{b, tree, alone} {
		told, notice := w.startIn(t, "in "+dir, dir)
		if want := dir != alone; strings.Contains(told, "heron") != want || notice != "" {
			t.Errorf("in %s: %s, %q", dir, told, notice)
		}
	}
}

// TestWhatCannotBeJoined is refused with what to do instead.
func TestWhatCannotBeJoined(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	dirs := foldersIn(t, "a/shop", "b/shop", "c/other", "d")
	for _, dir := range dirs[:3] {
		w.startIn(t, "in "+dir, dir)
	}
	join := func(folder, to string) error {
		_, err := api.JoinRoute.Call(t.Context(), w.client, api.JoinRequest{Folder: folder, Project: to})
		return err
	}
	_, parted := api.PartRoute.Call(t.Context(), w.client, api.PartRequest{Folder: dirs[0]})
	_, given := api.GiveRoute.Call(t.Context(), w.client, api.GiveRequest{Name: "shop", Folder: dirs[0]})
	for what, c := range map[string]struct {
		err    error
		status int
		says   string
	}{
		"it looks like none":        {join(dirs[2], ""), http.StatusConflict, "--to"},
		"two are called so":         {join(dirs[2], "shop"), http.StatusConflict, dirs[0]},
		"none is called so":         {join(dirs[2], "bank"), http.StatusNotFound, "project list"},
		"nothing was recorded":      {join(dirs[2], dirs[3]), http.StatusNotFound, "project list"},
		"itself":                    {join(dirs[2], dirs[2]), http.StatusConflict, "nothing to join"},
		"no folder":                 {join(filepath.Join(dirs[3], "gone"), dirs[0]), http.StatusNotFound, "no such folder"},
		"no absolute path":          {join("shop", dirs[0]), http.StatusBadRequest, "absolute"},
		"parted from nobody":        {parted, http.StatusConflict, "no other folder"},
		"memory that there is none": {given, http.StatusNotFound, "project list"},
	} {
		if p := problem(t, c.err); p.Status != c.status || !strings.Contains(p.Error(), c.says) {
			t.Errorf("%s: %v, want %d and %q", what, c.err, c.status, c.says)
		}
	}
}

// TestRowsWithoutAFolder are found by their name, are offered once where a folder is called so, and are of no folder before the
// person gives them to it.
func TestRowsWithoutAFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if _, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: "shop", Text: "the secret is the heron"}); err != nil {
		t.Fatal(err)
	}
	dirs := foldersIn(t, "a/shop", "b/shop")
	for _, dir := range dirs {
		told, notice := w.startIn(t, "in "+dir, dir)
		if strings.Contains(told, "heron") || !strings.Contains(notice, "`cmemd project give shop .`") {
			t.Errorf("in %s: %s, %q", dir, told, notice)
		}
		if _, notice = w.startIn(t, "again in "+dir, dir); notice != "" {
			t.Errorf("offered again: %q", notice)
		}
		if all := w.everything(t, dir); strings.Contains(all, "heron") {
			t.Errorf("%s has it:\n%s", dir, all)
		}
	}
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "heron", Project: "shop"})
	if err != nil || len(found.Results) != 1 {
		t.Errorf("by the name: %+v, %v", found, err)
	}
	got, err := api.ProjectsRoute.Call(t.Context(), w.client, api.NoQuery{})
	want := []api.ProjectName{{Name: "shop", Rows: 1, Folders: []string{dirs[1], dirs[0]}}}
	if diff := cmp.Diff(want, got.Names); diff != "" || err != nil {
		t.Errorf("names: %v (-want +got):\n%s", err, diff)
	}
	if _, err := api.GiveRoute.Call(t.Context(), w.client, api.GiveRequest{Name: "shop", Folder: dirs[0]}); err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	for i, dir := range dirs {
		if all := w.everything(t, dir); strings.Contains(all, "heron") != (i == 0) {
			t.Errorf("after it was given, %s has:\n%s", dir, all)
		}
	}
	if _, err := api.GiveRoute.Call(t.Context(), w.client, api.GiveRequest{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	if all := w.everything(t, dirs[0]); strings.Contains(all, "heron") {
		t.Errorf("taken back, it has:\n%s", all)
	}
}

// TestAnUpgradeKeepsWhatWasJoined: clones that an earlier release recorded under one key stay one project, which is said once.
func TestAnUpgradeKeepsWhatWasJoined(t *testing.T) {
	t.Parallel()
	dirs := foldersIn(t, "a/shop", "b/shop", "c/shop")
	for _, dir := range dirs {
		repositoryAt(t, filepath.Join(dir, ".git"), "https://example.org/shop")
	}
	log := logtest.Open(t, eventlog.Config{})
	for _, dir := range dirs[:2] {
		opened := events.SessionOpened{
			Agent: "claude-code", AgentSession: dir, Project: "shop", ProjectRoot: dir, Cwd: dir, Source: "startup", ProjectKey: "remote:example.org/shop",
		}
		stream := events.SessionIDOf("claude-code", dir).Stream()
		if _, err := eventlog.AppendEnd(t.Context(), log, stream, events.Draft{ID: newID(), OccurredAt: time.Now(), Event: opened}); err != nil {
			t.Fatal(err)
		}
	}
	w := startWorld(t, log, nil)
	told, err := api.StatusRoute.Call(t.Context(), w.client, api.NoQuery{})
	if err != nil || told.Projects.JoinedBefore != 2 || told.Projects.Apart != 0 {
		t.Errorf("status: %+v, %v", told.Projects, err)
	}
	w.answer(t, dirs[0], dirs[0], "heron")
	if _, notice := w.startIn(t, "later", dirs[1]); !strings.Contains(notice, "shares its memory with "+dirs[0]) || !strings.Contains(notice, "cmemd project part") {
		t.Errorf("its person is told %q", notice)
	}
	if told, notice := w.startIn(t, "later still", dirs[1]); notice != "" || !strings.Contains(told, "heron") {
		t.Errorf("told again %q, and %s", notice, told)
	}
	if told, _ := w.startIn(t, "new", dirs[2]); strings.Contains(told, "heron") {
		t.Errorf("a clone that came later is told %s", told)
	}
	w.settled(t)
	told, err = api.StatusRoute.Call(t.Context(), w.client, api.NoQuery{})
	if err != nil || told.Projects.JoinedBefore != 1 || told.Projects.Apart != 1 {
		t.Errorf("status afterwards: %+v, %v", told.Projects, err)
	}
}
