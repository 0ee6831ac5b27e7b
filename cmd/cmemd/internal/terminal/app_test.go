package terminal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHomeThatCannotBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(dir, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	for home, blocked := range map[string]string{
		dir: "", filepath.Join(dir, "a", "b"): "", filepath.Join(dir, "link"): "", filepath.Join(dir, "link", "a"): "",
		file: file, filepath.Join(file, "a", "b"): file, os.DevNull: os.DevNull, filepath.Join(os.DevNull, "a"): os.DevNull,
	} {
		got, err := (&App{HomeDir: home}).Home()
		switch {
		case blocked == "" && (err != nil || got != home):
			t.Errorf("%s: got %s, %v", home, got, err)
		case blocked != "" && (err == nil || !strings.HasPrefix(err.Error(), blocked+" is no folder") || NextStep(err) != "let CMEMD_HOME or --home name another folder"):
			t.Errorf("%s: got %v, want what stands in its place, and that another is named; next: %s", home, err, NextStep(err))
		}
	}
}
