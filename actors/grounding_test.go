package actors

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// findings is a Tracker that writes down what it is asked, and knows what it is given.
type findings struct {
	mu      sync.Mutex // guards the fields below
	noted   []string
	asked   map[string][]evidence.RunWindow
	changed map[string][]string
}

func (l *findings) Note(_ context.Context, dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noted = append(l.noted, dir)
}

func (l *findings) Changes(_ context.Context, dir string, ran []evidence.RunWindow) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[dir] = append(l.asked[dir], ran...)
	return l.changed[dir]
}

func bash(command string) events.ToolUsed {
	return events.ToolUsed{Tool: "Bash", Input: `{"command":"` + command + `"}`, DurationMS: 3000}
}

func TestShellChangesAreModifiedFiles(t *testing.T) {
	known := &findings{asked: map[string][]evidence.RunWindow{}, changed: map[string][]string{"/p": {"/p/a.go", "/p/gen.go"}, "/q": {"/q/x"}}}
	bubble(t, func(w *world) {
		w.stopCleanly()
		w.cfg.Tracker = known
		w.start()
		w.work("a", 1)
		w.capture("a", bash("make generate"))
		elsewhere := bash("./fix.sh")
		elsewhere.Cwd, elsewhere.Failed = "/q", true
		w.capture("a", elsewhere)
		w.stopAgent("a")
		w.settled("a")
		got := all[events.ObservationParsed](w)
		if len(got) != 1 {
			t.Fatalf("%d observations", len(got))
		}
		if diff := cmp.Diff([]string{"/p/a.go", "/p/gen.go", "/q/x"}, got[0].FilesModified); diff != "" {
			t.Errorf("modified (-want +got):\n%s", diff)
		}
		if r := known.asked["/p"]; len(r) != 1 || r[0].End.Sub(r[0].Start) != 3*time.Second {
			t.Errorf("asked about %v, want 3 s", r)
		}
		if !slices.Contains(known.noted, "/p") || len(known.noted) < 2 {
			t.Errorf("looked at %q, want /p when the session began and after its turns", known.noted)
		}
	}, good)
}

// TestNoLookWithoutNeed: reading commands and edits by other tools are no reason, and neither is a history.
func TestNoLookWithoutNeed(t *testing.T) {
	known := &findings{asked: map[string][]evidence.RunWindow{}}
	bubble(t, func(w *world) {
		w.stopCleanly()
		w.cfg.Tracker = known
		w.start()
		w.work("a", 3)
		w.capture("a", bash("cat a.go | grep x"))
		w.stopAgent("a")
		w.settled("a")
		if len(known.asked) != 0 {
			t.Errorf("asked about %v", known.asked)
		}
		before := len(known.noted)
		w.sys.noteTree("/p", time.Now().Add(-time.Hour))
		w.stop()
		if len(known.noted) != before {
			t.Error("the tree was looked at for what happened an hour ago")
		}
	}, good)
}

// TestFilesNobodyTouchedAreFlagged walks two turns of a session: what the first was borne out to be about, the second
// may speak of.
func TestFilesNobodyTouchedAreFlagged(t *testing.T) {
	says := func(text string) providertest.Step {
		return func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
			if p.Kind == events.TurnSummary {
				return good(ctx, n, p)
			}
			return observer.Reply{Text: events.NewOutput("<observation><title>" + text + "</title></observation>"), Form: events.FormXML}, nil
		}
	}
	var got, recent []string
	last := func(ctx context.Context, n int, p observer.Prompt) (observer.Reply, error) {
		recent = p.Recent
		return says("d.go grew")(ctx, n, p)
	}
	bubble(t, func(w *world) {
		for _, file := range []string{"a.go", "b.go", "c.go", "d.go"} {
			w.capture("s", events.ToolUsed{Tool: "Edit", Input: `{"file_path":"/p/` + file + `","new_string":"x"}`})
			w.stopAgent("s")
			w.settled("s")
		}
		for _, o := range all[events.ObservationParsed](w) {
			got = append(got, o.Title+map[bool]string{true: " (unseen)"}[o.Unseen])
		}
		want := "Edited a.go|a.go again|ghost.go was deleted (unseen)|d.go grew"
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("got %q, want %q", s, want)
		}
		if diff := cmp.Diff([]string{"Edited a.go", "a.go again"}, recent); diff != "" {
			t.Errorf("the brief has (-want +got):\n%s", diff)
		}
	}, says("Edited a.go"), good, says("a.go again"), good, says("ghost.go was deleted"), good, last, good)
}
