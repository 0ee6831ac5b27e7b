package relay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/google/go-cmp/cmp"
)

func TestIgnoreFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	below := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(dir, text string) {
		if err := os.WriteFile(filepath.Join(dir, ignore.File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := []ignore.Source{{Folder: below, Text: "*"}}
	if got := ignoreFiles(below); len(got) != 0 {
		t.Errorf("without any: %v", got)
	}
	write(root, "x\n")
	write(below, "y\n")
	if diff := cmp.Diff([]ignore.Source{{Folder: below, Text: "y\n"}, {Folder: root, Text: "x\n"}}, ignoreFiles(below)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	linked := filepath.Join(root, "linked")
	if err := os.Mkdir(linked, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(below, ignore.File), filepath.Join(linked, ignore.File)); err == nil {
		if got := ignoreFiles(linked); len(got) != 2 || got[0].Text != "y\n" {
			t.Errorf("by a link: %v", got)
		}
	}
	for name, text := range map[string]string{"a long one": strings.Repeat("x\n", maxIgnoreFiles), "one with NUL": "a\x00b"} {
		write(filepath.Dir(below), text)
		if diff := cmp.Diff(all, ignoreFiles(below)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
	if err := os.Remove(filepath.Join(filepath.Dir(below), ignore.File)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(filepath.Dir(below), ignore.File), 0o700); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, ignoreFiles(below)); diff != "" {
		t.Errorf("a folder in its place: -want +got:\n%s", diff)
	}
	for _, folder := range []string{"", "relative", "/a\x00b"} {
		if got := ignoreFiles(folder); got != nil {
			t.Errorf("of %q: %v", folder, got)
		}
	}
}

// TestIgnoreFilesAreBounded: a hook judges nothing by the ignore files that it keeps, and keeps few bytes of them, however many lines
// a repository has in one.
func TestIgnoreFilesAreBounded(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	lines := strings.Repeat("**/a*a*a*a*a*a*b/**/c\n", 20_000)
	if err := os.WriteFile(filepath.Join(project, ignore.File), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	payload := strings.Replace(toolUse, "{", `{"cwd":"`+project+`",`, 1)
	if r := runHook(t, Config{Home: home, Stdin: strings.NewReader(payload)}); r.Outcome != Spooled {
		t.Fatalf("got %+v", r)
	}
	waiting, bytes, err := spool.New(home).Usage()
	if most := int64(maxIgnoreFiles + len(payload) + 4<<10); waiting != 1 || bytes > most || err != nil {
		t.Errorf("%d waiting with %d bytes, %v; want one of at most %d", waiting, bytes, err, most)
	}
	if got := ignoreFiles(project); len(got) != 1 || got[0].Text != "*" {
		t.Errorf("kept %d sources; want all to be ignored", len(got))
	}
}
