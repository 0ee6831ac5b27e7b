package projections

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/follow"
)

// TestRestored: what a person replaced or took back stands again when that is undone, counted with those that say the same,
// unless what it was made of was observed anew meanwhile.
func TestRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	a, b := w.tool(s, ""), w.tool(s, "")
	w.keep(w.start(s, events.TurnObservation, a), "same")
	w.keep(w.start(s, events.TurnObservation, b), "same")
	first, second := w.rows[0], w.rows[1]
	v := caughtUp(t, w)
	by := func(id, by events.ID) { w.say(events.Daemon, events.ID{}, events.MemorySuperseded{Memory: id, By: by}) }
	check := func(what string, id events.ID, listed bool, count int, supersededBy events.ID) {
		t.Helper()
		follow.MustCatchUp(t, v)
		row, err := v.Row(t.Context(), id)
		if err != nil || row.Listed() != listed || row.Count != count || row.SupersededBy != supersededBy {
			t.Errorf("%s: listed %t, said %d times, superseded by %s, %v; want %t, %d, %s", what, row.Listed(), row.Count,
				row.SupersededBy, err, listed, count, supersededBy)
		}
	}
	check("two that say the same", first, true, 2, events.ID{})
	by(first, first)
	check("taken back", first, false, 1, first)
	check("the other leads", second, true, 1, events.ID{})
	by(first, events.ID{})
	check("it is one with the other again", first, false, 0, events.ID{})
	check("which leads still", second, true, 2, events.ID{})
	by(first, events.ID{}) // nothing is left to undo
	check("undone twice", second, true, 2, events.ID{})

	by(second, second)
	again := w.start(s, events.TurnObservation, b)
	w.keep(again, "anew")
	check("what is observed anew leaves it as a person did", second, false, 1, second)
	by(second, events.ID{})
	check("undone, it stays replaced by the turn", second, false, 1, again.id)
	by(second, events.ID{})
	check("which nobody undoes by hand", second, false, 1, again.id)
}

// TestCompact: what was forgotten is in no byte of the file after it, what is there stays, and the views go on.
func TestCompact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	made := w.keep(w.start(s, events.TurnObservation, in), "the forgotten word")
	w.keep(w.start(s, events.TurnObservation, w.tool(s, "")), "the kept word")
	dir := t.TempDir()
	v := mustOpen(t, dir, w.log, engine.Config{})
	follow.MustCatchUp(t, v)
	w.forget(false, []events.Position{in, made[1].Position}, w.rows[0])
	follow.MustCatchUp(t, v)
	want := dump(t, v)
	if !inFile(t, dir, "the forgotten word") {
		t.Error("the word was not in the file before compaction: the search does not work")
	}
	writeFile(t, filepath.Join(dir, viewsFile+viewsCompacting), "left by a kill")
	if err := v.Compact(t.Context()); err != nil {
		t.Fatalf("Compact: %v", err)
	}
	if inFile(t, dir, "the forgotten word") || !inFile(t, dir, "the kept word") {
		t.Error("the forgotten word is in a file, or the kept one is not")
	}
	if diff := cmp.Diff(want, dump(t, v)); diff != "" {
		t.Errorf("after compaction (-want +got):\n%s", diff)
	}
	w.keep(w.start(s, events.TurnObservation, w.tool(s, "")), "later")
	follow.MustCatchUp(t, v)
	want = dump(t, v)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, dir, w.log, engine.Config{})
	if diff := cmp.Diff(want, dump(t, again)); diff != "" {
		t.Errorf("opened again (-want +got):\n%s", diff)
	}
}

// TestInjectionsOf finds where a row was given, over all sessions.
func TestInjectionsOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []events.Position
	wanted, other := events.ID{1}, events.ID{2}
	for n := range 3 * engine.ReadSlice {
		s := sessionOf(n % 7)
		ids := []events.ID{other}
		if n%500 == 0 {
			ids = append(ids, wanted)
		}
		r := w.say(s.Stream(), events.ID{}, events.ContextInjected{Hook: "startup", IDs: ids})
		if n%500 == 0 {
			want = append(want, r[0].Position)
		}
	}
	v := caughtUp(t, w)
	list, total, err := v.InjectionsOf(t.Context(), wanted, 3)
	var got []events.Position
	for _, i := range list {
		got = append(got, i.Position)
	}
	if err != nil || total != len(want) || !cmp.Equal(got, want[:3]) {
		t.Errorf("got %v of %d, %v; want %v of %d", got, total, err, want[:3], len(want))
	}
}

func inFile(t *testing.T, dir, word string) bool {
	t.Helper()
	found := false
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found = found || bytes.Contains(b, []byte(word))
	}
	return found
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
