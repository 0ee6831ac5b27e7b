package ignore

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBy: the file that hides a path is told, the nearest that says so; one that is refused hides nothing.
func TestBy(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	own, clone := filepath.Join(top, "own"), filepath.Join(top, "src", "clone")
	if err := os.MkdirAll(filepath.Join(clone, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	shipped, above := filepath.Join(clone, File), filepath.Join(top, "src", File)
	for path, text := range map[string]string{own: "mine/\n", shipped: "*\n", above: "other/\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree := NewTree(Parse("/set"), own)
	for path, want := range map[string]string{
		clone: shipped, filepath.Join(clone, "sub"): shipped, filepath.Join(top, "src", "other"): above, filepath.Join(top, "mine"): own,
		filepath.Join(top, "src"): "",
	} {
		if got := tree.By(path); got != want || tree.Ignored(path) != (want != "") {
			t.Errorf("By(%s) = %q, ignored %t, want %q", path, got, tree.Ignored(path), want)
		}
	}
	refusing := NewTree(Patterns{}, own)
	refusing.Refuse(shipped)
	given := refusing.With([]Source{{Folder: clone, Text: "*"}})
	if refusing.Ignored(clone) || given.Ignored(clone) || !refusing.Ignored(filepath.Join(top, "mine")) {
		t.Error("a refused file counts, or another one no more")
	}
}
