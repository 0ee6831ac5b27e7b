package projections

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/injections"
	"github.com/cmemd/cmemd/testkit/follow"
)

// openIn opens a session in a root that says which project it is.
func (w *world) openIn(n int, root, key string) {
	w.say(sessionOf(n).Stream(), events.ID{}, events.SessionOpened{
		Agent: "claude-code", AgentSession: fmt.Sprint("s", n), Project: "p", ProjectRoot: root, ProjectKey: key, Cwd: root, Source: "startup",
	})
}

func TestExtent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	defer v.Close()
	check := func(root, key string, want ...string) {
		t.Helper()
		follow.MustCatchUp(t, v)
		got, err := v.Extent(t.Context(), root, key)
		if diff := cmp.Diff(want, got.Roots); err != nil || diff != "" {
			t.Errorf("Extent(%s, %s): %v, -want +got\n%s", root, key, err, diff)
		}
	}
	say := func(e events.Event) { w.say(events.Projects, events.ID{}, e) }
	check("/a", "", "/a")
	w.openIn(1, "/a", "") // recorded before projects had keys
	check("/a", "", "/a")
	check("/b", "", "/b")
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
	say(events.ProjectJoined{Root: "/c", Key: "remote:x/y"})
	check("/c", "", "/c", "/a", "/b")
	w.openIn(8, "/c", "name:own") // what a person said stands
	check("/c", "", "/c", "/a", "/b")
	say(events.ProjectParted{Root: "/a"})
	w.openIn(9, "/a", "remote:x/y")
	check("/a", "", "/a")
	check("/b", "", "/b", "/c")
	for n := range 30 {
		w.openIn(100+n, fmt.Sprint("/many/", n), "name:many")
	}
	follow.MustCatchUp(t, v)
	got, err := v.Extent(t.Context(), "/many/3", "")
	if err != nil || len(got.Roots) != 16 || got.Roots[0] != "/many/3" || got.Roots[1] != "/many/29" {
		t.Errorf("of many: %v, %v", got, err)
	}
	if got, err := v.WholeExtent(t.Context(), "/many/3", ""); err != nil || len(got.Roots) != 30 {
		t.Errorf("all of many: %v, %v", got, err)
	}
}

// TestNamesOfAnExtent: a name without a folder is of the project of the folder that it was given to last.
func TestNamesOfAnExtent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	defer v.Close()
	check := func(root string, want ...string) {
		t.Helper()
		follow.MustCatchUp(t, v)
		got, err := v.Extent(t.Context(), root, "")
		if diff := cmp.Diff(want, got.Names); err != nil || diff != "" {
			t.Errorf("names of %s: %v, -want +got\n%s", root, err, diff)
		}
	}
	give := func(name, root string) {
		w.say(events.Projects, events.ID{}, events.ProjectGiven{Name: name, Root: root})
	}
	w.openIn(1, "/a", "remote:x/y")
	w.openIn(2, "/b", "remote:x/y")
	w.openIn(3, "/c", "dir:/c")
	check("/a")
	give("shop", "/a")
	give("bank", "/b")
	check("/a", "bank", "shop")
	check("/b", "bank", "shop")
	check("/c")
	give("shop", "/c")
	check("/a", "bank")
	check("/c", "shop")
	give("shop", "")
	check("/c")
}

// TestRootsRemember what a session's opening said, and whether a person was told of it.
func TestRootsRemember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	defer v.Close()
	open := func(n int, source, key, claim, file string) {
		w.say(sessionOf(n).Stream(), events.ID{}, events.SessionOpened{
			Agent: "claude-code", AgentSession: fmt.Sprint("s", n), Project: "p", ProjectRoot: "/a", ProjectKey: key, ProjectClaim: claim, RootFile: file, Source: source,
		})
	}
	check := func(key, claim, file string, told, old bool) {
		t.Helper()
		follow.MustCatchUp(t, v)
		roots, _, at, err := v.Projects(t.Context())
		if err != nil || len(roots) != 1 || at == 0 {
			t.Fatalf("%+v at %d, %v", roots, at, err)
		}
		if r := roots[0]; r.Path != "/a" || r.Key != key || r.Claim != claim || r.File != file || r.Notified != told || r.LegacyClaims != old {
			t.Errorf("got %+v, want %s, %s, %s, told %t, old %t", r, key, claim, file, told, old)
		}
	}
	open(1, "startup", "remote:x/y", "", "") // of a release that recorded no claims
	check("remote:x/y", "", "", false, true)
	open(2, "transcript", "remote:x/y", "remote:x/z", "1:2:3")
	check("remote:x/y", "remote:x/z", "1:2:3", false, true)
	open(3, "resume", "remote:x/y", "remote:x/z", "1:2:3")
	check("remote:x/y", "remote:x/z", "1:2:3", true, false)
	open(4, "sight", "remote:x/y", "remote:x/z", "")
	check("remote:x/y", "remote:x/z", "1:2:3", true, false)
	open(5, "sight", "remote:x/y", "name:other", "")
	check("remote:x/y", "name:other", "1:2:3", false, false)
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
	give := func(hook string, knew events.Position, given ...events.ID) {
		w.say(s.Stream(), events.ID{}, events.ContextInjected{Hook: hook, IDs: given, Position: events.Moment(knew)})
	}
	check := func(knew events.Position, want ...events.ID) {
		t.Helper()
		follow.MustCatchUp(t, v)
		set := map[events.ID]bool{}
		for _, id := range want {
			set[id] = true
		}
		got, err := v.Injected(t.Context(), s)
		if diff := cmp.Diff(injections.Injected{IDs: set, Knew: knew}, got); err != nil || diff != "" {
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
