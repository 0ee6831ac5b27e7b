//go:build linux || darwin

package owned

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestFolder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode fs.FileMode
		ok   bool
	}{"own": {0o700, true}, "readable": {0o755, true}, "anybody's": {0o777, false}, "its group's": {0o770, false}, "sticky": {0o777 | fs.ModeSticky, false}} {
		dir := filepath.Join(t.TempDir(), "dir")
		mustMake(t, dir, c.mode)
		if err := Folder(dir); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrOthers) {
			t.Errorf("%s: got %v", name, err)
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		if err := Folder(link); !errors.Is(err, ErrOthers) {
			t.Errorf("a link to %s: got %v", name, err)
		}
	}
	if err := Folder(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, second := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "second")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	if err := File(file); err != nil {
		t.Error(err)
	}
	for name, path := range map[string]string{"a link": link, "a folder": dir} {
		if err := File(path); !errors.Is(err, ErrOthers) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := os.Chmod(file, 0o620); err != nil {
		t.Fatal(err)
	}
	if err := File(file); !errors.Is(err, ErrOthers) {
		t.Errorf("one that its group may write: got %v", err)
	}
	if err := errors.Join(os.Chmod(file, 0o600), os.Link(file, second)); err != nil {
		t.Fatal(err)
	}
	if err := File(file); !errors.Is(err, ErrOthers) {
		t.Errorf("one with a second name: got %v", err)
	}
}

// TestOtherUsers needs the right to give files away.
func TestOtherUsers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("not root: no file can be given to another user")
	}
	dir := filepath.Join(t.TempDir(), "dir")
	mustMake(t, dir, 0o700)
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chown(file, 12345, 0), os.Chown(dir, 12345, 0)); err != nil {
		t.Fatal(err)
	}
	_, err := Parents(dir)
	for name, got := range map[string]error{"folder": Folder(dir), "file": File(file), "parents": err} {
		if !errors.Is(got, ErrOthers) {
			t.Errorf("another user's %s: got %v", name, got)
		}
	}
}

func TestParents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode fs.FileMode
		ok   bool
	}{
		"own": {0o700, true}, "readable": {0o755, true}, "anybody's": {0o777, false}, "others' alone": {0o703, false}, "sticky": {0o777 | fs.ModeSticky, true},
	} {
		above := filepath.Join(t.TempDir(), "above")
		home := filepath.Join(above, "x", "home")
		mustMake(t, home, 0o700)
		if err := os.Chmod(above, c.mode); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(home, link); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{home, link} {
			at, err := Parents(path)
			if (err == nil) != c.ok || err != nil && (!errors.Is(err, ErrOthers) || filepath.Base(at) != "above") {
				t.Errorf("%s: got %q, %v", name, at, err)
			}
		}
	}
	if _, err := Parents(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestParentsByLinks: who may exchange a link on the way decides where it leads, whatever is there now.
func TestParentsByLinks(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	home, open := filepath.Join(base, "homeį"), filepath.Join(base, "open") // the last byte of that letter's number is a slash's
	mustMake(t, filepath.Join(home, "run"), 0o700)
	mustMake(t, open, 0o777)
	for link, to := range map[string]string{
		filepath.Join(open, "link"): home, filepath.Join(base, "two"): "one", filepath.Join(base, "one"): "open/link", filepath.Join(base, "own"): "open/../homeį",
		filepath.Join(base, "round"): "round", filepath.Join(home, "out"): filepath.Join(open, "sub"),
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"open/link": open, "open/link/run": open, "two/run": open, "own/run": open, "homeį/run": "", "homeį/out/../run": open, "homeį/../homeį/./run": ""} {
		at, err := Parents(base + "/" + path)
		if at != want || errors.Is(err, ErrOthers) != (want != "") || err != nil && want == "" {
			t.Errorf("%s: got %q, %v, want %q", path, at, err, want)
		}
	}
	if _, err := Parents(filepath.Join(base, "round")); err == nil {
		t.Error("a link to itself leads somewhere")
	}
	if os.Getuid() != 0 {
		return // no link can be given to another user
	}
	link := filepath.Join(base, "theirs")
	if err := errors.Join(os.Symlink(home, link), os.Lchown(link, 12345, 0)); err != nil {
		t.Fatal(err)
	}
	if at, err := Parents(filepath.Join(link, "run")); at != link || !errors.Is(err, ErrOthers) {
		t.Errorf("another user's link: got %q, %v", at, err)
	}
}

func mustMake(t *testing.T, dir string, mode fs.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, mode)); err != nil {
		t.Fatal(err)
	}
}
