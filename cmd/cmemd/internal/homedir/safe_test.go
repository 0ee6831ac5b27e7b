//go:build linux || darwin

package homedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestCheckParents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode fs.FileMode
		ok   bool
	}{
		"own": {0o700, true}, "readable": {0o755, true}, "anybody": {0o777, false}, "others alone": {0o703, false}, "sticky": {0o777 | fs.ModeSticky, true},
	} {
		above := filepath.Join(t.TempDir(), "above")
		home := filepath.Join(above, "x", "home")
		if err := os.MkdirAll(home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(above, c.mode); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(home, link); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{home, link} {
			if err := CheckParents(path); (err == nil) != c.ok || err != nil && !errors.Is(err, errOpenToOthers) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
	if err := CheckParents(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
