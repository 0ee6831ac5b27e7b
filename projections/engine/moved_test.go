package engine

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/cmemd/cmemd/testkit/follow"
)

// TestMoved moves the folder of open views away, where another daemon begins anew: its file is left alone. Where the file alone was
// exchanged or deleted, it is made anew.
func TestMoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		move  func(t *testing.T, dir string) error
		moved bool
	}{
		"the folder": {func(t *testing.T, dir string) error {
			if err := os.Rename(dir, dir+".moved"); err != nil {
				return err
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return errors.Join(
				os.WriteFile(filepath.Join(dir, fileName), []byte("another's"), 0o600),
				os.WriteFile(filepath.Join(dir, fileName+CopySuffix), []byte("another's"), 0o600))
		}, true},
		"the file deleted": {func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, fileName)) }, false},
		"the file exchanged": {func(_ *testing.T, dir string) error {
			path := filepath.Join(dir, fileName)
			return errors.Join(os.WriteFile(path+".new", []byte("something"), 0o600), os.Rename(path+".new", path))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "views")
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.open()
				at := w.tool()
				v := mustOpen(t, dir, w.log, Config{})
				stop := follow.Run(t, v)
				if err := v.Wait(t.Context(), at); err != nil {
					t.Fatal(err)
				}
				if err := c.move(t, dir); err != nil {
					t.Fatal(err)
				}
				if err := v.Compact(t.Context()); !errors.Is(err, ErrMoved) {
					t.Errorf("compact: got %v", err)
				}
				synctest.Wait()
				checkTrouble(t, v, c.moved, ErrMoved)
				if c.moved {
					checkAnothers(t, dir)
				} else if err := errors.Join(v.Wait(t.Context(), at), v.Compact(t.Context())); err != nil {
					t.Errorf("made anew: %v", err)
				}
				if err := stop(); (err != nil) != c.moved {
					t.Errorf("run: got %v", err)
				}
				if err := v.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
				if c.moved {
					checkAnothers(t, dir)
				}
			})
		})
	}
}

// checkAnothers checks that the files of another daemon are as they were.
func checkAnothers(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{fileName, fileName + CopySuffix} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "another's" {
			t.Errorf("%s: got %q, %v", name, b, err)
		}
	}
}
