package engine

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestExchangeNotOpened: what the system refuses says nothing about the file; what is no database does.
func TestExchangeNotOpened(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		put     func(path string) error
		damaged bool
	}{
		"refused": {func(path string) error { return os.Symlink("f", path) }, false}, // to itself, once it is exchanged
		"text":    {func(path string) error { return os.WriteFile(path, []byte("no database"), 0o600) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && !tc.damaged {
				t.Skip("links need a right of their own")
			}
			dir := t.TempDir()
			f, err := OpenFile(filepath.Join(dir, "f"), true)
			if err != nil {
				t.Fatal(err)
			}
			by := &File{path: filepath.Join(dir, "by")}
			if err := tc.put(by.path); err != nil {
				t.Fatal(err)
			}
			if err := f.Exchange(by); !errors.Is(err, ErrNotOpen) || errors.Is(err, ErrDamaged) != tc.damaged {
				t.Errorf("got %v, want it damaged: %t", err, tc.damaged)
			}
			if err := f.Close(); err != nil {
				t.Errorf("closing: %v", err)
			}
		})
	}
}
