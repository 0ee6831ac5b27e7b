package extractive

import (
	"slices"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// TestNetOfEdits: an answer changed what differs at its end, not what it edited on the way.
func TestNetOfEdits(t *testing.T) {
	t.Parallel()
	change := func(before, after string) events.ToolUsed {
		return used("Edit", map[string]any{"file_path": cwd + "/cart.go", "old_string": before, "new_string": after}, "", false)
	}
	for name, c := range map[string]struct {
		edits []events.ToolUsed
		want  string // the fact about the file
		files int    // that are listed as changed
	}{
		"swapped back in one place of several": {[]events.ToolUsed{used("Edit", map[string]any{
			"file_path": cwd + "/cart.go", "old_string": "sum", "new_string": "total", "replace_all": true,
		}, "", false), change("total", "sum")}, "Edited cart.go (2 edits)", 1},
		"one":                      {[]events.ToolUsed{change("sum()", "total()")}, "Edited cart.go (1 edit)", 1},
		"swapped back":             {[]events.ToolUsed{change("sum()", "total()"), change("total()", "sum()")}, "Edited cart.go, and put back what it was", 0},
		"put in and taken out":     {[]events.ToolUsed{change("sum()\n", "sum()\nprint(1)\n"), change("print(1)\n", "")}, "Edited cart.go, and put back what it was", 0},
		"two taken out by a third": {[]events.ToolUsed{change("a()", "a1()"), change("b()", "b1()"), change("x\na1()\nb1()\n", "x\na()\nb()\n")}, "Edited cart.go, and put back what it was", 0},
		"replaced":                 {[]events.ToolUsed{change("a\n", "a\nb\nc\n"), change("b\nc\n", "d\n")}, "Edited cart.go (2 edits, +1 -0 lines)", 1},
		"moved about":              {[]events.ToolUsed{change("a\nb\n", "b\na\n")}, "Edited cart.go (1 edit)", 1},
		"written anew":             {[]events.ToolUsed{change("a", "b"), used("Write", map[string]any{"file_path": cwd + "/cart.go", "content": "a"}, "", false), change("b", "a")}, "Edited cart.go (3 edits)", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := observer.Prompt{Kind: events.TurnObservation, Cwd: cwd, Request: "Make the cart show the right sum.", Message: "The sum of the cart is right now."}
			for _, u := range c.edits {
				p.Inputs = append(p.Inputs, observer.Input{Event: u})
			}
			all, err := New().observe(t.Context(), p)
			if err != nil || len(all) != 1 {
				t.Fatalf("%d observations, %v, want one", len(all), err)
			}
			if !slices.Contains(all[0].Facts, c.want) || len(all[0].FilesModified) != c.files {
				t.Errorf("facts %q, files %q; want %q and %d", strings.Join(all[0].Facts, " | "), all[0].FilesModified, c.want, c.files)
			}
		})
	}
}
