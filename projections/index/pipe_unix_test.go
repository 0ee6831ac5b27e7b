//go:build unix

package index

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPipesAtRest has a named pipe in the place of each file of an index that was closed in order: none is waited for, and what is
// found is what was found.
func TestPipesAtRest(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.fill(newCorpus(9), 30)
	source := t.TempDir()
	x := w.mustOpen(source)
	want := idsOf(mustSearch(t, x, Query{}))
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(source, "g*", "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for _, file := range append(files, filepath.Join(source, currentFile)) {
		dir := filepath.Join(t.TempDir(), "index")
		name, err := filepath.Rel(source, file)
		if err == nil {
			err = os.CopyFS(dir, os.DirFS(source))
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		y := w.mustOpen(dir)
		if diff := cmp.Diff(want, idsOf(mustSearch(t, y, Query{}))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if err := y.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
	}
}
