package capture

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/projections/projects"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// registryOf is a registry over a log, in which folders are named as ids says; those that it does not name have none.
func registryOf(t *testing.T, log eventlog.Log, ids map[string]string) *registry {
	t.Helper()
	g, err := newRegistry(t.Context(), nil, log)
	if err != nil {
		t.Fatal(err)
	}
	g.folderID = func(dir string) string { return ids[dir] }
	return g
}

// opened records that a session was opened in a folder as it was decided to be.
func opened(t *testing.T, log eventlog.Log, p Project) {
	t.Helper()
	draft := events.Draft{ID: newID(), OccurredAt: time.Now(), Event: events.SessionOpened{
		Agent: "claude-code", AgentSession: newID().String(), Project: p.Name, ProjectRoot: p.Root, ProjectKey: p.Key,
		ProjectClaim: p.Claim, RootFile: p.File, Source: "startup",
	}}
	id := events.SessionIDOf("claude-code", draft.ID.String())
	if _, err := eventlog.AppendEnd(t.Context(), log, id.Stream(), draft); err != nil {
		t.Fatal(err)
	}
}

// TestTheRegistryFollowsFolders over lives of the daemon: what is recorded in one is known in the next.
func TestTheRegistryFollowsFolders(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	repo := func(name string) evidence.Project {
		return evidence.Project{Name: name, Root: at(name), Key: "remote:x/payroll"}
	}
	mkdir := func(name string) {
		t.Helper()
		if err := os.MkdirAll(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const is, apart = "remote:x/payroll", "root:"
	for what, c := range map[string]struct {
		now  map[string]string // the folders as they are named afterwards; before: payroll is 8:1:1
		of   string
		want string // key, or apart
	}{
		"other device numbers after a start of the machine": {map[string]string{"payroll": "9:1:1"}, "payroll", is},
		"restored from a backup":                            {map[string]string{"payroll": "8:7:7"}, "payroll", is},
		"cloned again at the same path":                     {map[string]string{"payroll": "8:7:7"}, "payroll", is},
		"moved":                                             {map[string]string{"moved": "8:1:1"}, "moved", is},
		"moved to another disk, as a copy":                  {map[string]string{"moved": "9:1:1"}, "moved", apart},
		"its inode used again by another clone":             {map[string]string{"other": "8:1:9"}, "other", apart},
		"mounted at another path too, as in a container":    {map[string]string{"payroll": "8:1:1", "mounted": "8:1:1"}, "mounted", is},
		"mounted where the old path is not to be seen":      {map[string]string{"mounted": "8:1:1"}, "mounted", is},
		"moved, and cloned again at the old path":           {map[string]string{"payroll": "8:7:7", "moved": "8:1:1"}, "moved", apart},
		"another clone beside it":                           {map[string]string{"payroll": "8:1:1", "other": "8:2:2"}, "other", apart},
	} {
		t.Run(what, func(t *testing.T) {
			log := logtest.Open(t, eventlog.Config{NoSync: true})
			first := registryOf(t, log, map[string]string{at("payroll"): "8:1:1"})
			p := first.bind(claimOf(repo("payroll"), first.folderID))
			if p.Key != is {
				t.Fatalf("the first is %+v", p)
			}
			opened(t, log, p)
			ids := map[string]string{}
			os.RemoveAll(base)
			mkdir(".")
			for name, id := range c.now {
				mkdir(name)
				ids[at(name)] = id
			}
			for life := range 2 {
				g := registryOf(t, log, ids)
				got := g.bind(claimOf(repo(c.of), g.folderID))
				if want := c.want; got.Key != want && (want != apart || got.Key != projects.OwnKey(at(c.of))) || got.Claim != is {
					t.Errorf("in life %d: %+v, want %s", life, got, want)
				}
				opened(t, log, got)
			}
		})
	}
}

// TestOneOfManyIsTheProject: of folders that claim the same at once one is it, and asking binds none.
func TestOneOfManyIsTheProject(t *testing.T) {
	t.Parallel()
	g := registryOf(t, logtest.Open(t, eventlog.Config{NoSync: true}), nil)
	claim := func(root string) claimed {
		return claimed{Project: evidence.Project{Root: root, Key: "remote:x/payroll"}}
	}
	for range 2 {
		if got := g.of(claim("/asked")); got.Key != "remote:x/payroll" {
			t.Errorf("asked for: %+v", got)
		}
	}
	keys := make([]string, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() { keys[i] = g.bind(claim("/folder/" + string(rune('a'+i)))).Key })
	}
	all.Wait()
	n := 0
	for _, key := range keys {
		if !strings.HasPrefix(key, "root:") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d folders are the project: %v", n, keys)
	}
	for i, want := range []bool{false, true, false} {
		root := []string{"/asked", "/folder/a", "/folder/a"}[i]
		if r, ok := g.notify(root); ok != want || ok && r.Path != root {
			t.Errorf("%d: told of %+v, %t; want it once, and only where something was done", i, r, ok)
		}
	}
}

// damagedAt is a log of which one record cannot be read.
type damagedAt struct {
	eventlog.Log
	at events.Position
}

func (d damagedAt) Get(ctx context.Context, at events.Position) (events.Record, error) {
	if at == d.at {
		return events.Record{}, &eventlog.CorruptError{Position: at, Reason: "flipped"}
	}
	return d.Log.Get(ctx, at)
}

func (d damagedAt) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range d.Log.All(ctx, from) {
			if err == nil && r.Position >= d.at && from <= d.at {
				yield(events.Record{}, &eventlog.CorruptError{Position: d.at, Reason: "flipped"})
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// TestRegistryOfDamagedLog: a record that cannot be read keeps no daemon from starting; what stands before and behind it is known.
func TestRegistryOfDamagedLog(t *testing.T) {
	t.Parallel()
	log := logtest.Open(t, eventlog.Config{NoSync: true})
	for _, root := range []string{"/a", "/b", "/c"} {
		opened(t, log, Project{Name: "p", Root: root, Key: "dir:" + root})
	}
	g := registryOf(t, damagedAt{log, 2}, nil)
	for root, want := range map[string]bool{"/a": true, "/b": false, "/c": true} {
		if _, known := g.roots[root]; known != want {
			t.Errorf("%s: known %v, want %v", root, known, want)
		}
	}
}

// TestAFolderIsLookedAtOnceInAWhile: what names it is of the moment of its other facts.
func TestAFolderIsLookedAtOnceInAWhile(t *testing.T) {
	t.Parallel()
	now, looks := time.Now(), 0
	cache := newProjectCache(nil, func(string) string {
		looks++
		return "8:1:1"
	}, func() time.Time { return now })
	at := session.Origin{Cwd: t.TempDir()}
	for _, want := range []int{1, 1, 2} {
		got := cache.complete(t.Context(), at, factsAge, false, func(c claimed) Project { return Project{Root: c.Root, File: c.file} })
		if looks != want || got.RootFile != "8:1:1" {
			t.Errorf("looked %d times, want %d, and have it named %q", looks, want, got.RootFile)
		}
		now = now.Add(factsAge * 2 / 3)
	}
}
