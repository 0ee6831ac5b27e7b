package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

// TestCopy copies files and what links lead to, and leaves what was there where it cannot.
func TestCopy(t *testing.T) {
	t.Parallel()
	for name, cp := range map[string]func(from, to string, mode fs.FileMode) error{"Copy": durable.Copy, "SwapCopy": durable.SwapCopy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
			file, link := filepath.Join(from, "file"), filepath.Join(from, "link")
			if err := errors.Join(os.WriteFile(file, []byte("words"), 0o644), os.Symlink("file", link)); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{file, link} {
				if err := errors.Join(durable.Replace(to, []byte("before"), 0o600), cp(path, to, 0o600)); err != nil {
					t.Fatal(err)
				}
				if got := read(t, to); got != "words" {
					t.Errorf("%s: copied %q", path, got)
				}
			}
			if err := cp(from, to, 0o600); !errors.Is(err, durable.ErrIrregular) {
				t.Errorf("of a folder: %v", err)
			}
			if err := cp(filepath.Join(from, "none"), to, 0o600); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("of no file: %v", err)
			}
			onlyFile(t, to)
			if got := read(t, to); got != "words" {
				t.Errorf("a copy that failed left %q", got)
			}
		})
	}
}

// TestSetAside: a file that is set aside twice within a second has two names.
func TestSetAside(t *testing.T) {
	t.Parallel()
	path, at := filepath.Join(t.TempDir(), "views.db"), time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, want := range []string{".aside-20260506T070809Z", ".aside-20260506T070809Z-2"} {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		kept, err := durable.SetAside(path, at)
		if err != nil || kept != path+want || read(t, kept) != want {
			t.Errorf("set aside as %s, %v; want %s", kept, err, path+want)
		}
	}
	if kept, err := durable.SetAside(path, at); !errors.Is(err, fs.ErrNotExist) || kept != "" {
		t.Errorf("of no file: %q, %v", kept, err)
	}
}
