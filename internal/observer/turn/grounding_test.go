package turn

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

func bash(command string) events.ToolUsed {
	return events.ToolUsed{Tool: "Bash", Input: `{"command":"` + command + `"}`, DurationMS: 3000}
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
		want   evidence.RunWindow
	}{
		{"told", long, at.Add(-time.Minute), evidence.RunWindow{Start: at.Add(-3 * time.Second), End: at}},
		{"after another input", short, at.Add(-time.Minute), evidence.RunWindow{Start: at.Add(-time.Minute), End: at}},
		{"the first", short, time.Time{}, evidence.RunWindow{Start: at.Add(-unknownDuration), End: at}},
		{"in the background", back, time.Time{}, evidence.RunWindow{Start: at.Add(-3 * time.Second)}},
	} {
		if diff := cmp.Diff(tc.want, runWindow(evidence.Parse(tc.tool), at, tc.before)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestUnseen(t *testing.T) {
	t.Parallel()
	inputs := func(list ...events.Event) (out []observer.Input) {
		for _, e := range list {
			out = append(out, observer.NewInput(0, time.Time{}, e))
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
