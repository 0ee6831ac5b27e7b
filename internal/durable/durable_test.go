package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

// kinds are the two ways to replace a file.
func kinds() map[string]func(string, []byte, fs.FileMode) error {
	return map[string]func(string, []byte, fs.FileMode) error{"Replace": durable.Replace, "Swap": durable.Swap}
}

func TestReplacesWhole(t *testing.T) {
	t.Parallel()
	for name, replace := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "token")
			for _, content := range []string{"first and longer", "second", ""} {
				if err := replace(path, []byte(content), 0o640); err != nil {
					t.Fatal(err)
				}
				if got := read(t, path); got != content {
					t.Errorf("content %q, want %q", got, content)
				}
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v (%v), want 0640", info.Mode(), err)
			}
			onlyFile(t, path)
		})
	}
}

// TestFailureLeavesTheOld has a folder where the file should go, so that the rename fails after all was written.
func TestFailureLeavesTheOld(t *testing.T) {
	t.Parallel()
	for name, replace := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "token")
			if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := replace(path, []byte("new"), 0o600); err == nil {
				t.Error("a folder was replaced")
			}
			onlyFile(t, path)
			if err := replace(filepath.Join(path, "absent", "file"), nil, 0o600); err == nil {
				t.Error("a file was made in a folder that is not there")
			}
		})
	}
}

// TestReadersSeeOneOrTheOther reads a file while it is replaced.
func TestReadersSeeOneOrTheOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	long := strings.Repeat("a", 1<<16)
	if err := durable.Swap(path, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 200 {
			if err := durable.Swap(path, []byte(strings.Repeat(string(rune('a'+i%3)), 1<<16)), 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	for range 200 {
		if got := read(t, path); len(got) != 1<<16 || strings.Count(got, got[:1]) != len(got) {
			t.Fatalf("read %d bytes of more than one content", len(got))
		}
	}
	wg.Wait()
	onlyFile(t, path)
}

func TestSyncDir(t *testing.T) {
	t.Parallel()
	if err := durable.SyncDir(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := durable.SyncDir(filepath.Join(t.TempDir(), "absent")); err == nil && runtime.GOOS != "windows" {
		t.Error("a folder that is not there was synced")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// onlyFile fails if anything but path is in its folder.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s was left", e.Name())
		}
	}
}

// TestReplaceWithKeepsWhatWas has the writing fail halfway.
func TestReplaceWithKeepsWhatWas(t *testing.T) {
	t.Parallel()
	path, full := filepath.Join(t.TempDir(), "f"), errors.New("full")
	size, err := durable.ReplaceWith(path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "whole")
		return err
	})
	if size != 5 || err != nil {
		t.Fatalf("wrote %d bytes, %v", size, err)
	}
	_, err = durable.ReplaceWith(path, 0o600, func(w io.Writer) error {
		_, _ = io.WriteString(w, "ha")
		return full
	})
	left, _ := os.ReadDir(filepath.Dir(path))
	if data, _ := os.ReadFile(path); !errors.Is(err, full) || string(data) != "whole" || len(left) != 1 {
		t.Errorf("%v: %q, and %d files", err, data, len(left))
	}
}

// TestSweep removes what killed processes left half replaced, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{
		".new-old-1": time.Hour, ".new-future-1": -time.Hour, ".new-young-1": time.Second, ".new-ahead-1": -time.Second, "old": time.Hour, ".other": time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, now.Add(-age), now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".new-folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if n, err := durable.Sweep(dir, now, time.Minute); n != 2 || err != nil {
		t.Errorf("removed %d, %v; want 2", n, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 5 {
		t.Errorf("left %v, %v; want 5", left, err)
	}
	if n, err := durable.Sweep(filepath.Join(dir, "none"), now, 0); n != 0 || err != nil {
		t.Errorf("of no folder: %d, %v", n, err)
	}
}

// TestReplaceNames: what cannot be made is called by its own name, and not by that of the file beside it.
func TestReplaceNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gone", "x.md")
	err := durable.Replace(path, nil, 0o600)
	if refused, ok := errors.AsType[*fs.PathError](err); !ok || refused.Path != path || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want an error of %s", err, path)
	}
}
