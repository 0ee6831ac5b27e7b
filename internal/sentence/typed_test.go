package sentence

import (
	"strings"
	"testing"
)

// TestTypedFirst: what a person typed below what was pasted stands first, whatever that is; what they typed at the head stays there.
func TestTypedFirst(t *testing.T) {
	t.Parallel()
	const typed = "Why does the carousel stop when it rains?"
	for name, pasted := range map[string]string{
		"a fence":           "```\nwagon: 3\n\nspeed: 4\n```",
		"a quotation":       "> The carousel stops at night.\n> Please look at it.",
		"a patch":           "diff --git a/wagon.go b/wagon.go\n--- a/wagon.go\n+++ b/wagon.go\n-speed := 3\n+speed := 4",
		"part of a patch":   "@@ -1,3 +1,3 @@\n-speed := 3",
		"an added line":     "+speed is four now, as the person at the gate had asked for",
		"a numbered line":   "+8 Speed is four now, as the person at the gate had asked for",
		"a shell":           "$ wagon --start all of them\nall of them were started",
		"a shell with sign": "➜  carousel git:(main) wagon start\nall of them were started",
		"a log":             "2026-03-01 09:15:02 WARN the wagon is slow\n2026-03-01 09:15:03 ERROR the wagon stopped",
		"a log in brackets": "[2026-03-01T09:15:02Z] the wagon is slow",
		"a trace":           "Error: the wagon stopped in the rain\n    at turn (wagon.js:3:2)\n    at main (wagon.js:9:1)",
		"two of them":       "> It stops.\n\nError: the wagon stopped in the rain\n    at turn (wagon.js:3:2)",
	} {
		if got := TypedFirst(pasted + "\n\n" + typed); strings.TrimSpace(got) != typed+"\n\n"+pasted {
			t.Errorf("%s: got\n%s", name, got)
		}
		if got := TypedFirst(pasted); got != pasted {
			t.Errorf("%s alone: got\n%s", name, got)
		}
		if got := TypedFirst(pasted + "\n\nfix it"); got != pasted+"\n\nfix it" {
			t.Errorf("%s, and words that say nothing: got\n%s", name, got)
		}
		if got := TypedFirst(typed + "\n\n" + pasted); got != typed+"\n\n"+pasted {
			t.Errorf("%s behind what was typed: got\n%s", name, got)
		}
	}
	for _, head := range []string{
		"", "\n", "Make the wagons slower", "- Make the wagons slower\n- Oil the axles", "+ Make the wagons slower\n+ Oil the axles",
		"1. Make the wagons slower\n   in the rain", "- Make the wagons slower\n  in the rain", "# Wagons\nMake them slower", "@wagon.go is too fast",
		"$SPEED is not read by the wagons", "/slower all wagons", "2026-03-01 is the day of the feast: close the gate by then", "<Wagon> does not turn",
		"Let the wagon say this:\n    Slow down\n    Stop", "Make the wagons slower\nin the rain, and oil\nthe axles before\nthe feast\nbegins",
		"`turn` is called twice", "\"Slow down\" is never said", "--speed is to be documented", "{name} stands in the mail as it is",
	} {
		prompt := head + "\n\nThen oil the axles of all of them."
		if got := TypedFirst(prompt); got != prompt {
			t.Errorf("%q was taken for pasted: got\n%s", head, got)
		}
	}
}

func FuzzTypedFirst(f *testing.F) {
	f.Add("> x\n\nWhy does the carousel stop?")
	f.Add("```\nx")
	f.Add("+\n\n+ \n\n2026-03-01T")
	f.Fuzz(func(t *testing.T, prompt string) {
		fields := func(s string) int { return len(strings.Fields(s)) }
		if got := TypedFirst(prompt); fields(got) != fields(prompt) {
			t.Errorf("%q became %q", prompt, got)
		}
	})
}
