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
	asked   map[string][]evidence.Ran
	changed map[string][]string
}

func (l *findings) Note(_ context.Context, dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noted = append(l.noted, dir)
}

func (l *findings) Changes(_ context.Context, dir string, ran []evidence.Ran) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[dir] = append(l.asked[dir], ran...)
	return l.changed[dir]
}

func bash(command string) events.ToolUsed {
	return events.ToolUsed{Tool: "Bash", Input: `{"command":"` + command + `"}`, DurationMS: 3000}
}

func TestShellChangesAreModifiedFiles(t *testing.T) {
	known := &findings{asked: map[string][]evidence.Ran{}, changed: map[string][]string{"/p": {"/p/a.go", "/p/gen.go"}, "/q": {"/q/x"}}}
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
	known := &findings{asked: map[string][]evidence.Ran{}}
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
		w.sys.note("/p", time.Now().Add(-time.Hour))
		w.stop()
		if len(known.noted) != before {
			t.Error("the tree was looked at for what happened an hour ago")
		}
	}, good)
}

func TestWindow(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	long, short, back := bash("make"), bash("make"), bash("make")
	short.DurationMS = 0
	back.Input = `{"command":"make","run_in_background":true}`
	for _, tc := range []struct {
		name   string
		tool   events.ToolUsed
		before time.Time
		want   evidence.Ran
	}{
		{"told", long, at.Add(-time.Minute), evidence.Ran{Start: at.Add(-3 * time.Second), End: at}},
		{"after another input", short, at.Add(-time.Minute), evidence.Ran{Start: at.Add(-time.Minute), End: at}},
		{"the first", short, time.Time{}, evidence.Ran{Start: at.Add(-unknownDuration), End: at}},
		{"in the background", back, time.Time{}, evidence.Ran{Start: at.Add(-3 * time.Second)}},
	} {
		if diff := cmp.Diff(tc.want, window(evidence.Parse(tc.tool), at, tc.before)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestUnseen(t *testing.T) {
	t.Parallel()
	inputs := func(list ...events.Event) (out []observer.Input) {
		for _, e := range list {
			out = append(out, observer.Input{Event: e})
		}
		return out
	}
	edit := events.ToolUsed{Tool: "Edit", Input: `{"file_path":"/p/src/a.go","new_string":"x"}`}
	search := events.ToolUsed{Tool: "Bash", Input: `{"command":"rg foo"}`, Output: `{"stdout":"lib/found.go:3: foo\nx"}`}
	cut := search
	cut.OutputSize = len(cut.Output) + 1
	cutEdit := edit
	cutEdit.InputSize = len(cutEdit.Input) + 1
	for _, tc := range []struct {
		name   string
		prompt observer.Prompt
		text   string
		want   bool
	}{
		{"a file that was edited", observer.Prompt{Inputs: inputs(edit)}, "Fixed src/a.go", false},
		{"a file that nobody touched", observer.Prompt{Inputs: inputs(edit)}, "Fixed billing.go", true},
		{"one of two", observer.Prompt{Inputs: inputs(edit)}, "Fixed billing.go and a.go", false},
		{"no file", observer.Prompt{Inputs: inputs(edit)}, "Fixed the bill", false},
		{"a product", observer.Prompt{Inputs: inputs(edit)}, "Raised Node.js", false},
		{"found by a shell", observer.Prompt{Inputs: inputs(search)}, "Looked at found.go", false},
		{"read by a shell", observer.Prompt{Inputs: inputs(bash("sed -n 1,9p cfg/x.toml"))}, "The settings in cfg/x.toml", false},
		{"of which a part is in a name", observer.Prompt{Inputs: inputs(search)}, "Looked at und.go", true},
		{"named by the user", observer.Prompt{Inputs: inputs(edit), Request: "why is billing.go slow?"}, "billing.go is slow", false},
		{"named by the agent alone", observer.Prompt{Inputs: inputs(edit), Message: "I fixed billing.go"}, "Fixed billing.go", true},
		{"touched before", observer.Prompt{Inputs: inputs(edit), Touched: []string{"/p/billing.go"}}, "Fixed billing.go", false},
		{"touched before, on Windows", observer.Prompt{Inputs: inputs(edit), Touched: []string{`C:\p\billing.go`}}, "Fixed billing.go", false},
		{"in what was compacted", observer.Prompt{Inputs: inputs(events.ContextCompacted{Summary: "billing.go was done"})}, "Fixed billing.go", false},
		{"in an output that was cut", observer.Prompt{Inputs: inputs(edit, cut)}, "Fixed billing.go", false},
		{"in an edit that was cut", observer.Prompt{Inputs: inputs(cutEdit)}, "Fixed billing.go", true},
		{"in a payload that was erased", observer.Prompt{Inputs: inputs(edit, nil)}, "Fixed billing.go", false},
		{"said by an observation", observer.Prompt{Observed: []events.ObservationParsed{{Narrative: "billing.go broke"}}}, "billing.go broke", false},
		{"said by a flagged one", observer.Prompt{Observed: []events.ObservationParsed{{Narrative: "billing.go broke", Unseen: true}}}, "billing.go broke", true},
		{"nothing was done", observer.Prompt{}, "Fixed billing.go", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			read, modified := filesOf(tc.prompt)
			for _, o := range []observer.Observation{{Title: tc.text}, {Title: "Done", Narrative: tc.text}} {
				if got := unseen(tc.prompt, o, slices.Concat(read, modified)); got != tc.want {
					t.Errorf("%+v: flagged %t, want %t", o, got, tc.want)
				}
			}
		})
	}
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
