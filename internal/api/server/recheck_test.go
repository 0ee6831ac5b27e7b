package server

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/observer/turn"
)

// grounding is a checker that says what a test has it say, and else that it is not known.
type grounding struct {
	mu   sync.Mutex // guards the fields below
	says map[string]events.Verdict
	dirs []string
}

func (c *grounding) set(hash string, v events.Verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.says == nil {
		c.says = map[string]events.Verdict{}
	}
	c.says[hash] = v
}

func (c *grounding) Check(_ context.Context, dir string, hashes []string) []events.Claim {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirs = append(c.dirs, dir)
	var out []events.Claim
	for _, h := range hashes {
		claim := events.Claim{Kind: "commit", Value: h, Verdict: events.Unknown, Evidence: "nobody knows"}
		if v, ok := c.says[h]; ok {
			claim.Verdict, claim.Evidence = v, ""
		}
		out = append(out, claim)
	}
	return out
}

func (*grounding) Unreachable(context.Context, string, []string) []string { return nil }

func (*grounding) Origins(context.Context, string, []string) evidence.Origin {
	return evidence.Origin{}
}

func (*grounding) Foreign(context.Context, string, []evidence.Revisions) (foreign, known bool) {
	return false, true
}

// claimWorld has a session remember that it committed hash.
func claimWorld(t *testing.T, check interface {
	turn.Checker
	curation.Checker
}, hash string) (*world, *moody) {
	t.Helper()
	m := newMoody(say("Committed the fix as commit " + hash))
	w := moodyWorld(t, m, func(c *actors.Config) { c.Checker = check }, func(c *testConfig) { c.Checker = check })
	return w, m
}

func (w *world) recheck(t *testing.T, q api.RecheckRequest) api.Rechecked {
	t.Helper()
	got, err := api.RecheckRoute.Call(t.Context(), w.client, q, nil)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return got
}

// told says how a claim of hash is seen: by a search, by its row, and by what a session is told.
func (w *world) told(t *testing.T) (flagged, injected bool, row api.Row) {
	t.Helper()
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "committed", Kind: "observation"})
	if err != nil || len(found.Results) != 1 {
		t.Fatalf("found %+v, %v", found, err)
	}
	row, err = api.RowRoute.Call(t.Context(), w.client, api.RowQuery{ID: found.Results[0].ID.String()})
	if err != nil || row.Flagged != found.Results[0].Flagged {
		t.Fatalf("row %+v, %v: search and row do not agree", row, err)
	}
	memory, err := api.ContextRoute.Call(t.Context(), w.client, api.ContextQuery{Project: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	return row.Flagged, strings.Contains(memory.Text, "Committed the fix"), row
}

// TestRecheck looks again for a commit that comes and goes.
func TestRecheck(t *testing.T) {
	t.Parallel()
	const hash = "abcdef1"
	check := &grounding{}
	check.set(hash, events.Absent)
	w, _ := claimWorld(t, check, hash)
	w.use(t, "s", 1)
	w.settled(t)
	for _, c := range []struct {
		name     string
		now      events.Verdict
		changed  int
		flagged  bool
		gone     bool
		verdicts int
	}{
		{"a lie stays one", events.Absent, 0, true, false, 0},
		{"nobody can tell", events.Unknown, 0, true, false, 0},
		{"it is there after all", events.Verified, 2, false, false, 1},
		{"nothing new", events.Verified, 0, false, false, 1},
		{"it was rebased away", events.Absent, 2, false, true, 2},
		{"nobody can tell that either", events.Unknown, 0, false, true, 2},
	} {
		check.set(hash, c.now)
		before := w.count(t, events.KindClaimChecked)
		dry := w.recheck(t, api.RecheckRequest{DryRun: true})
		if len(dry.Changed) != c.changed || dry.Position != 0 || w.count(t, events.KindClaimChecked) != before {
			t.Errorf("%s, dry: got %+v, want %d changed and nothing on record", c.name, dry, c.changed)
		}
		got := w.recheck(t, api.RecheckRequest{})
		if got.Rows != 2 || got.Claims != 2 || len(got.Changed) != c.changed || w.count(t, events.KindClaimChecked)-before != c.changed {
			t.Errorf("%s: got %+v, want 2 claims, %d of them changed and on record", c.name, got, c.changed)
		}
		if n := map[events.Verdict]int{events.Verified: got.Verified, events.Absent: got.Absent, events.Unknown: got.Unknown}; n[c.now] != 2 {
			t.Errorf("%s: got %+v, want both %s", c.name, got, c.now)
		}
		for _, one := range got.Changed {
			if one.Now != c.now || one.Gone != c.gone || one.Title == "" || one.Session != claude("s") {
				t.Errorf("%s: got %+v", c.name, one)
			}
		}
		flagged, injected, row := w.told(t)
		if flagged != c.flagged || injected == c.flagged {
			t.Errorf("%s: flagged %v, injected %v, want flagged %v", c.name, flagged, injected, c.flagged)
		}
		v := row.Verdicts()
		if len(v) != 1 || v[0].Claim.Verdict != events.Absent || v[0].Gone() != c.gone || len(row.Checks) != c.verdicts {
			t.Errorf("%s: got %+v, want what was found then, and %d looks since", c.name, v, c.verdicts)
		}
	}
}

// TestRecheckChooses holds its conditions to their words.
func TestRecheckChooses(t *testing.T) {
	t.Parallel()
	check := &grounding{}
	check.set("aaaaaa1", events.Verified)
	w, m := claimWorld(t, check, "aaaaaa1")
	w.use(t, "one", 1)
	w.settled(t)
	between := time.Now()
	check.set("bbbbbb2", events.Absent)
	m.turn(say("Committed the fix as commit bbbbbb2"))
	w.use(t, "two", 1)
	w.settled(t)
	m.turn(say("nothing to be checked"))
	w.use(t, "three", 1)
	w.settled(t)
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Session: "two", Kind: "summary"})
	if err != nil || len(found.Results) != 1 {
		t.Fatalf("got %+v, %v", found, err)
	}
	id := found.Results[0].ID.String()
	for _, c := range []struct {
		name string
		q    api.RecheckRequest
		want int
	}{
		{"all", api.RecheckRequest{}, 4},
		{"absent", api.RecheckRequest{Absent: true}, 2},
		{"session", api.RecheckRequest{Session: "one"}, 2},
		{"session, absent", api.RecheckRequest{Session: "one", Absent: true}, 0},
		{"since", api.RecheckRequest{Since: between}, 2},
		{"since, session", api.RecheckRequest{Since: between, Session: "one"}, 0},
		{"id", api.RecheckRequest{IDs: []string{id, id[:23]}}, 1},
		{"id of another session", api.RecheckRequest{IDs: []string{id}, Session: "one"}, 0},
		{"nothing to be checked", api.RecheckRequest{Session: "three"}, 0},
	} {
		if got := w.recheck(t, c.q); got.Claims != c.want || got.Rows != c.want || got.Changed == nil {
			t.Errorf("%s: got %+v, want %d", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		q      api.RecheckRequest
		status int
	}{
		{api.RecheckRequest{IDs: []string{"x"}}, 400},
		{api.RecheckRequest{IDs: []string{newID().String()}}, 404},
		{api.RecheckRequest{Session: "nobody's"}, 404},
		{api.RecheckRequest{IDs: make([]string, api.MaxRows+1)}, 400},
	} {
		_, err := api.RecheckRoute.Call(t.Context(), w.client, c.q, nil)
		if p := problem(t, err); p.Status != c.status {
			t.Errorf("got %+v, want %d", p, c.status)
		}
	}
}

// TestRecheckOfARebasedCommit has git itself forget a commit.
func TestRecheckOfARebasedCommit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	hash := git("rev-parse", "HEAD")[:10]
	check := evidence.NewChecker(evidence.Config{})
	w, _ := claimWorld(t, check, hash)
	o := session.Origin{Agent: "claude-code", AgentSession: "s", Project: "shop", ProjectRoot: dir, Cwd: filepath.Join(dir, "a worktree that is gone")}
	capture := func(e events.Event) session.Capture {
		return session.Capture{ID: newID(), At: time.Now(), Origin: o, Event: e}
	}
	_, err := w.actors.Do(t.Context(), o.Session(), capture(events.ToolUsed{Tool: "Bash", Output: "ok"}), capture(events.AgentStopped{Cause: events.StopDone}))
	if err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	if got := w.recheck(t, api.RecheckRequest{}); got.Verified != 2 {
		t.Errorf("got %+v, want it found in the project's folder", got)
	}
	git("commit", "-q", "--amend", "--allow-empty", "-m", "second")
	git("reflog", "expire", "--expire=now", "--all")
	git("gc", "-q", "--prune=now")
	got := w.recheck(t, api.RecheckRequest{Session: "s"})
	if got.Absent != 2 || len(got.Changed) != 2 || !got.Changed[0].Gone {
		t.Errorf("got %+v, want it gone", got)
	}
	if flagged, injected, _ := w.told(t); flagged || !injected {
		t.Errorf("flagged %v, injected %v, want what was true once to be told", flagged, injected)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if got := w.recheck(t, api.RecheckRequest{}); got.Unknown != 2 || len(got.Changed) != 0 {
		t.Errorf("without a repository: got %+v, want nothing to change", got)
	}
}
