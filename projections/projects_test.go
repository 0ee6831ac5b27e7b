package projections

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/injections"
)

// openIn opens a session in a root that says which project it is.
func (w *world) openIn(n int, root, key string) {
	w.say(sessionOf(n).Stream(), events.ID{}, events.SessionOpened{
		Agent: "claude-code", AgentSession: fmt.Sprint("s", n), Project: "p", ProjectRoot: root, ProjectKey: key, Cwd: root, Source: "startup",
	})
}

func TestFolders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	defer v.Close()
	check := func(root, key string, want ...string) {
		t.Helper()
		mustCatchUp(t, v)
		got, err := v.Folders(t.Context(), root, key)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Folders(%s, %s): %v, -want +got\n%s", root, key, err, diff)
		}
	}
	check("/a", "", "/a")
	w.openIn(1, "/a", "") // recorded before projects had keys
	check("/a", "", "/a")
	w.openIn(2, "/a", "dir:/a/.git")
	w.openIn(3, "/b", "remote:x/y")
	check("/a", "", "/a")
	check("/new", "remote:x/y", "/new", "/b") // nobody was there yet
	w.openIn(4, "/a", "remote:x/y")           // it was given a remote
	check("/a", "", "/a", "/b")
	check("/b", "", "/b", "/a")
	check("/old", "dir:/a/.git", "/old")
	w.openIn(5, "/c", "remote:x/y")
	w.openIn(6, "/b", "")
	check("/b", "", "/b", "/c", "/a")
	w.openIn(7, "/c", "name:own")
	check("/b", "", "/b", "/a")
	for n := range 30 {
		w.openIn(100+n, fmt.Sprint("/many/", n), "name:many")
	}
	mustCatchUp(t, v)
	got, err := v.Folders(t.Context(), "/many/3", "")
	if err != nil || len(got) != 16 || got[0] != "/many/3" || got[1] != "/many/29" {
		t.Errorf("of many: %v, %v", got, err)
	}
}

func TestGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	defer v.Close()
	s := w.open(0)
	ids := make([]events.ID, 6)
	for n := range ids {
		ids[n] = w.id()
	}
	give := func(hook string, knew uint64, given ...events.ID) {
		w.say(s.Stream(), events.ID{}, events.ContextInjected{Hook: hook, IDs: given, Position: knew})
	}
	check := func(knew events.Position, want ...events.ID) {
		t.Helper()
		mustCatchUp(t, v)
		set := map[events.ID]bool{}
		for _, id := range want {
			set[id] = true
		}
		got, err := v.Given(t.Context(), s)
		if diff := cmp.Diff(injections.Given{IDs: set, Knew: knew}, got); err != nil || diff != "" {
			t.Errorf("%v, -want +got\n%s", err, diff)
		}
	}
	check(0)
	give("prompt", 3, ids[5])
	check(0, ids[5])
	give("startup", 5, ids[0], ids[1])
	check(5, ids[0], ids[1])
	give("prompt", 9, ids[2])
	give("file", 9, ids[1], ids[3])
	check(5, ids[0], ids[1], ids[2], ids[3])
	give("resume", 12, ids[4])
	check(12, ids[0], ids[1], ids[2], ids[3], ids[4])
	give("compact", 20, ids[0])
	check(20, ids[0])
	w.say(sessionOf(1).Stream(), events.ID{}, events.ContextInjected{Hook: "startup", IDs: ids, Position: 30})
	check(20, ids[0])
}
