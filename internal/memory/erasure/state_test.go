package erasure

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// TestStateOfAnotherLog: what is to be forgotten outlives the log that it was asked of, and how far that was looked at does not.
func TestStateOfAnotherLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "forget.json")
	if err := Rescan(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil || Awaited(path) != nil {
		t.Error("where there was no file there is one")
	}
	f := stateFile{path: path}
	if err := f.change(func(s *state) {
		s.Scanned, s.Chain, s.Retained, s.Owed, s.Erased = 90, events.Hash{1}, 80, true, 7
		s.Pending = []pending{{Stream: "a", Positions: []events.Position{3, 4}}, {Stream: "b", Positions: []events.Position{9}}}
	}); err != nil {
		t.Fatal(err)
	}
	if err := Rescan(path); err != nil {
		t.Fatal(err)
	}
	got := (&stateFile{path: path}).get()
	if got.Scanned != 0 || got.Chain != (events.Hash{}) || got.Retained != 0 || !got.Owed || got.Erased != 7 {
		t.Errorf("got %+v", got)
	}
	if at := Awaited(path); !slices.Equal(at, []events.Position{3, 4, 9}) {
		t.Errorf("awaited %v", at)
	}
}
