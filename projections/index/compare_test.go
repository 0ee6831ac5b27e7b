package index

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// TestCompare sets an index beside one that is made anew: as it is, when something was forgotten, when a document is missing, and when
// a byte of its files is another.
func TestCompare(t *testing.T) {
	t.Parallel()
	w, dir := newWriter(t), t.TempDir()
	s := w.open("codex", "s", "p")
	gone := w.observe(s, "needle one", "")
	w.observe(s, "needle two", "")
	x := w.mustOpen(dir)
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	check := func(when string, want ...string) {
		t.Helper()
		anew := w.mustOpen(t.TempDir())
		if err := anew.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := x.Compare(t.Context(), anew)
		alike := slices.EqualFunc(got, want, func(g, w string) bool { return strings.Contains(g, w) })
		if err != nil || !alike {
			t.Errorf("%s: got %q, %v, want %q", when, got, err, want)
		}
	}
	check("as it is")
	w.put(s.Stream(), events.MemoryForgotten{IDs: []events.ID{gone}})
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("forgotten")
	files, err := filepath.Glob(filepath.Join(dir, "g*", "*.zap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, %v", files, err)
	}
	f, err := os.OpenFile(files[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff}, 1); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	check("a byte", "index: damaged")
}

// TestCompareWhileItMoves: an index that went on meanwhile is not damaged.
func TestCompareWhileItMoves(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "p")
	w.observe(s, "needle one", "")
	x, anew := w.mustOpen(t.TempDir()), w.mustOpen(t.TempDir())
	if err := anew.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.observe(s, "needle two", "")
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := x.Compare(t.Context(), anew); !errors.Is(err, engine.ErrPositionsDiffer) || got != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
