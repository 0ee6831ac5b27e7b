package evidence

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInTree(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"repo/.git/objects", "repo/.git/refs", "repo/src/pay", "repo/tools/.git/objects", "repo/tools/.git/refs", "other"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, head := range []string{"repo/.git/HEAD", "repo/tools/.git/HEAD"} {
		if err := os.WriteFile(filepath.Join(top, head), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "repo", "src"), filepath.Join(top, "link")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	for folder, want := range map[string]string{
		"repo": ".", "repo/src/pay": "src/pay", "link/pay": "src/pay", "repo/tools": ".", "other": "", "none/at/all": "",
	} {
		got, ok := InTree(filepath.Join(top, folder))
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t, want %q", folder, got, ok, want)
		}
	}
}
