package prompt

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

var update = flag.Bool("update", false, "write the golden files")

// recorded is a batch cut down from a recorded session, as testdata/batch.json has it.
type recorded struct {
	Cwd     string            `json:"cwd"`
	Request string            `json:"request"`
	Message string            `json:"message"`
	Inputs  []events.ToolUsed `json:"inputs"`
}

// recordedPrompt is the recorded batch as an observation turn.
func recordedPrompt(t testing.TB) observer.Prompt {
	t.Helper()
	raw, err := os.ReadFile("testdata/batch.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	p := observer.Prompt{
		Kind: events.TurnObservation, Attempt: 1, Project: "cli", Cwd: r.Cwd, Agent: "claude-code", Request: r.Request, Message: r.Message,
		Recent: []string{"Checkpoint ids are 12 hex characters", "Trailers are parsed by regular expressions"}, Stop: events.StopDone,
	}
	for i, in := range r.Inputs {
		p.Inputs = append(p.Inputs, observer.Input{
			Position: events.Position(i + 1), At: time.Date(2026, 3, 1, 9, i, 0, 0, time.UTC), Event: in,
		})
	}
	return p
}

// recordedSummary is the summary turn behind it.
func recordedSummary(t testing.TB) observer.Prompt {
	t.Helper()
	p := recordedPrompt(t)
	p.Kind, p.Recent = events.TurnSummary, nil
	p.Inputs = []observer.Input{{Position: 99, At: p.Inputs[0].At, Event: events.AgentStopped{LastMessage: p.Message, Cause: events.StopDone}}}
	p.Observed = []events.ObservationParsed{
		{
			Type: "bugfix", Title: "ParseCheckpoint takes ids of exactly 12 hex characters", Subtitle: "Longer ones matched by their beginning.",
			Narrative: "The trailer's pattern was [a-f0-9]+ and now is [0-9a-f]{12} with an end.",
			Facts:     []string{"The pattern is in trailers.go"}, FilesModified: []string{"cmd/entire/cli/trailers/trailers.go"},
		},
		{
			Type: "change", Title: "Committed as deadbee", Narrative: "The change was committed.",
			Claims: []events.Claim{{Kind: "commit", Value: "deadbee", Verdict: events.Absent}},
		},
	}
	return p
}

func newRenderer(t testing.TB, c Config) *Renderer {
	t.Helper()
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGolden shows what a model is asked, whole, for a recorded batch.
func TestGolden(t *testing.T) {
	t.Parallel()
	r := newRenderer(t, Config{})
	for name, c := range map[string]struct {
		prompt observer.Prompt
		form   events.Form
	}{
		"observation": {recordedPrompt(t), events.FormXML},
		"summary":     {recordedSummary(t), events.FormXML},
		"structured":  {recordedPrompt(t), events.FormStructured},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := r.Question(c.prompt, c.form)
			got := q.System + "\n======== user ========\n" + q.User
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		})
	}
}
