package extractive

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenCase is one answer of an agent, cut down from a recorded session.
type goldenCase struct {
	Cwd     string        `json:"cwd"`
	Request string        `json:"request"`
	Message string        `json:"message"`
	Inputs  []goldenInput `json:"inputs"`
}

type goldenInput struct {
	Tool      *events.ToolUsed         `json:"tool,omitempty"`
	Compacted *events.ContextCompacted `json:"compacted,omitempty"`
}

func (c goldenCase) turn() turn {
	t := turn{request: c.Request, message: c.Message}
	for i, in := range c.Inputs {
		input := observer.Input{Position: events.Position(i + 1), At: time.Date(2026, 3, 1, 9, 0, i, 0, time.UTC)}
		if in.Tool != nil {
			input.Event = *in.Tool
		}
		if in.Compacted != nil {
			input.Event = *in.Compacted
		}
		t.inputs = append(t.inputs, input)
	}
	return t
}

// Each testdata/*.json is observed and summed up as the golden file beside it says.
func TestGolden(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*.json")
	if err != nil || len(cases) < 4 {
		t.Fatalf("got %d cases (%v), want at least 4", len(cases), err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var c goldenCase
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatal(err)
			}
			checkGolden(t, strings.TrimSuffix(path, ".json")+".golden", written(t, c.turn(), c.Cwd))
		})
	}
}

// written is the output of an observation turn, and that of the summary turn behind it.
func written(t *testing.T, tn turn, cwd string) string {
	t.Helper()
	parsed := ask(t, tn.observation(cwd))
	checkLeaks(t, parsed)
	checkLeaks(t, ask(t, tn.summary(cwd, parsed.Observations)))
	first, err := New().Complete(t.Context(), tn.observation(cwd))
	if err != nil {
		t.Fatal(err)
	}
	second, err := New().Complete(t.Context(), tn.summary(cwd, parsed.Observations))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(first.Text.RawText()) + "\n\n" + strings.TrimSpace(second.Text.RawText()) + "\n"
}

func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
