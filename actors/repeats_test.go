package actors

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// repeats tells, turn by turn, which inputs repeat an earlier one.
func (w *world) repeats() (turns [][]bool) {
	for _, p := range w.provider.Prompts() {
		var marks []bool
		for _, in := range p.Inputs {
			marks = append(marks, in.Repeats)
		}
		turns = append(turns, marks)
	}
	return turns
}

func readOf(file, output string) events.ToolUsed {
	return events.ToolUsed{Tool: "Read", Input: fmt.Sprintf(`{"file_path":%q}`, file), Output: output}
}

// TestWhatEarlierTurnsLookedAtIsMarked: by call and result, not by name; only what just looks; only what was read out.
func TestWhatEarlierTurnsLookedAtIsMarked(t *testing.T) {
	a := readOf("/p/a.go", "package a")
	later := a
	later.ToolUseID, later.DurationMS = "toolu_2", 12345
	edit := events.ToolUsed{Tool: "Edit", Input: a.Input, Output: a.Output}
	failed := a
	failed.Failed = true
	for name, c := range map[string]struct {
		steps []providertest.Step
		uses  []events.ToolUsed
		want  [][]bool
	}{
		"read again":            {[]providertest.Step{good}, []events.ToolUsed{a, later}, [][]bool{{false}, {true}}},
		"after others":          {[]providertest.Step{good}, []events.ToolUsed{a, readOf("/p/b.go", "package b"), a}, [][]bool{{false}, {false}, {true}}},
		"with another result":   {[]providertest.Step{good}, []events.ToolUsed{a, readOf("/p/a.go", "package b")}, [][]bool{{false}, {false}}},
		"another file, as long": {[]providertest.Step{good}, []events.ToolUsed{a, readOf("/p/b.go", "package a")}, [][]bool{{false}, {false}}},
		"edited again":          {[]providertest.Step{good}, []events.ToolUsed{edit, edit}, [][]bool{{false}, {false}}},
		"failed":                {[]providertest.Step{good}, []events.ToolUsed{a, failed}, [][]bool{{false}, {false}}},
		"nobody had told of it": {[]providertest.Step{prose(), good}, []events.ToolUsed{a, a}, [][]bool{{false}, {false}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got [][]bool
			bubble(t, func(w *world) {
				w.provider.Limits = policy.BatchLimits{MaxInputs: 1}
				w.again()
				for _, u := range c.uses {
					w.capture("s", u)
					w.calls()
				}
				got = w.repeats()
			}, c.steps...)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("marked (-want +got):\n%s", d)
			}
		})
	}
}
