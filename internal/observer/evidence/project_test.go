package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mkdir makes folders below base.
func mkdir(t testing.TB, base string, folders ...string) {
	t.Helper()
	for _, f := range folders {
		if err := os.MkdirAll(filepath.Join(base, filepath.FromSlash(f)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func symlink(t testing.TB, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// TestProjectOf is a table over real repositories. Key is the folder, below base, of a key that is one.
func TestProjectOf(t *testing.T) {
	t.Parallel()
	base := resolve(t.TempDir())
	dir := filepath.Join(base, "parser")
	git(t, base, "init", "-q", dir)
	commit(t, dir, "x")
	git(t, dir, "worktree", "add", "-q", filepath.Join(base, "elsewhere"))
	git(t, dir, "worktree", "add", "-q", filepath.Join(dir, ".worktrees", "inside"))
	git(t, base, "clone", "-q", dir, "copy")
	git(t, base, "clone", "-q", "--bare", dir, "store.git")
	git(t, base, "clone", "-q", "--bare", dir, "tool/.bare")
	git(t, filepath.Join(base, "tool", ".bare"), "worktree", "add", "-q", "-b", "w", filepath.Join(base, "tool", "w"))
	git(t, base, "init", "-q", "--separate-git-dir", filepath.Join(base, "data"), filepath.Join(base, "apart"))
	super := filepath.Join(base, "super")
	git(t, base, "init", "-q", super)
	git(t, super, "submodule", "--quiet", "add", dir, "lib")
	git(t, filepath.Join(super, "lib"), "worktree", "add", "-q", "-b", "l", filepath.Join(base, "lib2"))
	mkdir(t, base, "plain/folder", "parser/a/b", "other/parser/folder")
	symlink(t, dir, filepath.Join(base, "link"))
	symlink(t, filepath.Join(base, "plain"), filepath.Join(base, "plainlink"))
	for _, tc := range []struct{ cwd, name, root, key string }{
		{"parser", "parser", "parser", "parser/.git"},
		{"parser/a/b", "parser", "parser", "parser/.git"},
		{"parser/gone/folder", "parser", "parser", "parser/.git"},
		{"parser/.git", "parser", "parser", "parser/.git"},
		{"elsewhere", "parser", "parser", "parser/.git"},
		{"parser/.worktrees/inside", "parser", "parser", "parser/.git"},
		{"link/a", "parser", "parser", "parser/.git"},
		{"copy", "copy", "copy", "copy/.git"}, // its remote is a folder here: it may be anything
		{"store.git", "store", "store.git", "store.git"},
		{"tool/w", "tool", "tool", "tool/.bare"},
		{"apart", "apart", "apart", "data"},
		{"super/lib", "lib", "super/lib", "super/.git/modules/lib"},
		{"lib2", "lib", "super/lib", "super/.git/modules/lib"},
		{"super", "super", "super", "super/.git"},
		{"plain/folder", "folder", "plain/folder", "plain/folder"},
		{"plainlink/folder", "folder", "plain/folder", "plain/folder"},
		{"other/parser", "parser", "other/parser", "other/parser"},
	} {
		got := ProjectOf(filepath.Join(base, filepath.FromSlash(tc.cwd)))
		want := Project{
			Name: tc.name, Root: filepath.Join(base, filepath.FromSlash(tc.root)),
			Key: "dir:" + filepath.Join(base, filepath.FromSlash(tc.key)),
		}
		if got != want {
			t.Errorf("ProjectOf(%s) = %+v, want %+v", tc.cwd, got, want)
		}
	}
}

// TestWhatARepositorySaysOfItself: files that come with a clone or an archive claim no other folder as their root.
func TestWhatARepositorySaysOfItself(t *testing.T) {
	t.Parallel()
	base := resolve(t.TempDir())
	real := filepath.Join(base, "payroll")
	git(t, base, "init", "-q", real)
	git(t, real, "remote", "add", "origin", "git@github.com:victim/payroll.git")
	commit(t, real, "x")
	git(t, real, "worktree", "add", "-q", filepath.Join(base, "moved"))
	moved := filepath.Join(base, "moved2")
	if err := os.Rename(filepath.Join(base, "moved"), moved); err != nil {
		t.Fatal(err)
	}
	mkdir(t, base, "pointed", "made/data")
	write(t, filepath.Join(base, "pointed", ".git"), "gitdir: "+filepath.Join(real, ".git")+"\n")
	own := filepath.Join(base, "made", "data") // a worktree's folder of its own making
	write(t, filepath.Join(base, "made", ".git"), "gitdir: data\n")
	write(t, filepath.Join(own, "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(own, "commondir"), filepath.Join(real, ".git")+"\n")
	write(t, filepath.Join(own, "gitdir"), filepath.Join(base, "made", ".git")+"\n")
	git(t, base, "init", "-q", filepath.Join(base, "inner"))
	write(t, filepath.Join(base, "inner", ".git", "commondir"), filepath.Join(real, ".git")+"\n")
	tree := filepath.Join(base, "tree") // a worktree that its own repository says is another folder's
	git(t, base, "init", "-q", filepath.Join(base, "main"))
	commit(t, filepath.Join(base, "main"), "x")
	git(t, filepath.Join(base, "main"), "worktree", "add", "-q", tree)
	git(t, filepath.Join(base, "main"), "config", "core.worktree", real)
	outer := filepath.Join(base, "outer") // with a repository's data among its files
	git(t, base, "init", "-q", outer)
	git(t, base, "clone", "-q", "--bare", real, filepath.Join(outer, "docs"))
	git(t, filepath.Join(outer, "docs"), "remote", "set-url", "origin", "https://github.com/victim/payroll")
	for folder, key := range map[string]string{
		"pointed": "remote:github.com/victim/payroll", "made": "remote:github.com/victim/payroll", "moved2": "remote:github.com/victim/payroll",
		"inner": "remote:github.com/victim/payroll", "tree": "dir:" + filepath.Join(base, "main", ".git"), "outer/docs": "dir:" + filepath.Join(outer, ".git"),
	} {
		want := filepath.Join(base, strings.TrimSuffix(folder, "/docs"))
		if got := ProjectOf(filepath.Join(base, folder)); got.Root != want || got.Key != key {
			t.Errorf("ProjectOf(%s) = %+v, want the root %s and the key %s", folder, got, want, key)
		}
	}
}

// TestProjectNames: a file gives a name that can be seen, and no path.
func TestProjectNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "# a comment\n\n": "", "shop\nbank": "shop", "# x\n  the shop  \n": "the shop", "/home/me/shop": "home/me/shop", "//\nshop": "shop",
		`C:\src\shop`: "C:srcshop", "\x00shop": "shop", "\x1b[31mshop": "[31mshop", "sh\xffop": "shop", "\uFEFF# x\nshop": "\uFEFF# x",
	} {
		if got := projectName(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestFolderID: it stays while a folder is moved, and another folder has another, whichever inode it gets.
func TestFolderID(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	at, to := filepath.Join(base, "a"), filepath.Join(base, "b")
	mkdir(t, base, "a")
	id := FolderID(at)
	if id == "" {
		t.Skip("this file system does not tell when a folder was made")
	}
	if err := os.Rename(at, to); err != nil {
		t.Fatal(err)
	}
	if got := FolderID(to); got != id {
		t.Errorf("moved: %s, want %s", got, id)
	}
	made := func(id string) string { return id[strings.LastIndexByte(id, ':'):] }
	for n := 0; ; n++ { // until the file system's clock has gone on: what is made within one tick of it has one time
		dir := fmt.Sprint("tick", n)
		mkdir(t, base, dir)
		if made(FolderID(filepath.Join(base, dir))) != made(id) {
			break
		}
	}
	if err := os.Remove(to); err != nil {
		t.Fatal(err)
	}
	mkdir(t, base, "a")
	write(t, filepath.Join(base, "file"), "")
	for _, other := range []string{at, to, filepath.Join(base, "file")} {
		if got := FolderID(other); got == id {
			t.Errorf("%s has the id of a folder that is gone", other)
		}
	}
}

// Clones of one remote are one project, however each reaches it; folders of one name with other remotes are not.
func TestClonesShareAProject(t *testing.T) {
	t.Parallel()
	base := resolve(t.TempDir())
	clone := func(folder, remote string) string {
		t.Helper()
		dir := filepath.Join(base, folder)
		git(t, base, "init", "-q", dir)
		git(t, dir, "remote", "add", "origin", remote)
		return dir
	}
	one := clone("a/shop", "git@github.com:Team/Shop.git")
	two := clone("b/shop-2", "https://token@github.com/team/shop")
	other := clone("c/shop", "https://github.com/another/shop.git")
	git(t, one, "config", "user.name", "dev")
	commit(t, one, "x")
	tree := filepath.Join(base, "tree")
	git(t, one, "worktree", "add", "-q", tree)
	want := Project{Name: "shop", Root: one, Key: "remote:github.com/team/shop"}
	if got := ProjectOf(one); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := ProjectOf(tree); got != want {
		t.Errorf("its worktree: got %+v, want %+v", got, want)
	}
	if got := ProjectOf(two); got.Key != want.Key || got.Root != two || got.Name != "shop-2" {
		t.Errorf("another clone: got %+v, want the key %s", got, want.Key)
	}
	if got := ProjectOf(other); got.Key == want.Key || got.Name != want.Name {
		t.Errorf("another repository of that name: got %+v", got)
	}
}

func TestProjectFile(t *testing.T) {
	t.Parallel()
	base := resolve(t.TempDir())
	mono := filepath.Join(base, "client", "mono")
	mkdir(t, base, "client/notes", "client/mono/services/pay/api", "client/mono/web", "loose/deep", "open/sub")
	git(t, base, "init", "-q", mono)
	write(t, filepath.Join(mono, "services", "pay", ProjectFile), "# pay has its own memory\n\n")
	write(t, filepath.Join(mono, "web", ProjectFile), "# with the app\n  storefront \nmore\n")
	commit(t, mono, "x")
	git(t, mono, "add", "-A")
	git(t, mono, "commit", "-q", "-m", "files")
	tree := filepath.Join(base, "tree")
	git(t, mono, "worktree", "add", "-q", tree)
	write(t, filepath.Join(base, "client", ProjectFile), "client\n")
	write(t, filepath.Join(base, "loose", ProjectFile), "")
	write(t, filepath.Join(base, "open", ProjectFile), "stranger")
	if err := os.Chmod(filepath.Join(base, "open"), 0o777); err != nil {
		t.Fatal(err)
	}
	pay := filepath.Join(mono, "services", "pay")
	for _, tc := range []struct {
		cwd  string
		want Project
	}{
		{"client/mono", Project{Name: "client", Root: mono, Key: "name:client", Above: filepath.Join(base, "client")}},
		{"client/mono/services", Project{Name: "client", Root: mono, Key: "name:client", Above: filepath.Join(base, "client")}},
		{"client/notes", Project{Name: "client", Root: filepath.Join(base, "client"), Key: "name:client", Above: filepath.Join(base, "client")}},
		{"tree", Project{Name: "client", Root: mono, Key: "name:client", Above: filepath.Join(base, "client")}},
		{"client/mono/services/pay/api", Project{Name: "pay", Root: pay, Key: "dir:" + pay, Own: true}},
		{"tree/services/pay", Project{Name: "pay", Root: pay, Key: "dir:" + pay, Own: true}},
		{"client/mono/web", Project{Name: "storefront", Root: filepath.Join(mono, "web"), Key: "name:storefront"}},
		{"loose/deep", Project{Name: "loose", Root: filepath.Join(base, "loose"), Key: "dir:" + filepath.Join(base, "loose"), Above: filepath.Join(base, "loose"), Own: true}},
		{"open/sub", Project{Name: "sub", Root: filepath.Join(base, "open", "sub"), Key: "dir:" + filepath.Join(base, "open", "sub")}},
	} {
		if got := ProjectOf(filepath.Join(base, filepath.FromSlash(tc.cwd))); got != tc.want {
			t.Errorf("ProjectOf(%s) = %+v, want %+v", tc.cwd, got, tc.want)
		}
	}
}

func TestProjectName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "#x\n": "", "shop": "shop", "\r\n shop \r\n": "shop", "two words\nmore": "two words", "a\xffb": "ab",
		strings.Repeat("é", 80): strings.Repeat("é", maxProjectName/2),
	} {
		if got := projectName(text); got != want {
			t.Errorf("projectName(%.20q) = %q, want %q", text, got, want)
		}
	}
}

func TestNormalRemote(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"git@github.com:Team/Shop.git":             "github.com/team/shop",
		"ssh://git@github.com/team/shop":           "github.com/team/shop",
		"ssh://git@github.com:22/team/shop/":       "github.com/team/shop",
		"https://user:pw@GitHub.com/team/shop.git": "github.com/team/shop",
		"git://example.org/~me/Shop.git/":          "example.org/~me/Shop",
		"https://example.org:8443/a":               "example.org:8443/a",
		"host.example.org:a.git":                   "host.example.org/a",
		"ssh://git@[::1]:2222/a":                   "::1:2222/a",
		"/src/shop":                                "",
		"../shop":                                  "",
		"./a:b":                                    "",
		`C:\src\shop`:                              "",
		"C:/src/shop":                              "",
		"file:///src/shop.git":                     "",
		"https://example.org":                      "",
		"https://exa mple.org/%zz":                 "",
		"":                                         "",
	} {
		if got := NormalRemote(remote); got != want {
			t.Errorf("NormalRemote(%q) = %q, want %q", remote, got, want)
		}
	}
}

// A normal remote holds nothing of who asks, and an address that is made of it is normal already.
func TestNormalRemoteIsStable(t *testing.T) {
	t.Parallel()
	part := rapid.StringMatching("[A-Za-z0-9_-]{1,12}")
	rapid.Check(t, func(r *rapid.T) {
		user := "u" + rapid.StringMatching("[0-9]{6}").Draw(r, "user")
		address := part.Draw(r, "host") + ".example/" + part.Draw(r, "owner") + "/" + part.Draw(r, "name")
		scheme := rapid.SampledFrom([]string{"https", "ssh", "git", "http"}).Draw(r, "scheme")
		once := NormalRemote(scheme + "://" + user + ":secret@" + address + ".git")
		if strings.Contains(once, user) || strings.Contains(once, "secret") || once == "" {
			r.Errorf("got %q", once)
		}
		if again := NormalRemote("https://" + once); again != once {
			r.Errorf("%q became %q", once, again)
		}
	})
}

func BenchmarkProjectOf(b *testing.B) {
	dir, _ := newRepo(b, 1)
	for b.Loop() {
		ProjectOf(dir)
	}
}
