package evidence

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// TestTimeIsLinear feeds what makes careless scanners quadratic. Eight times the text may take 32 times as long, half
// of what a quadratic scan would; on a busy machine the quickest of several tries counts.
func TestTimeIsLinear(t *testing.T) {
	for _, unit := range []string{
		`{"a":`, `[`, `{`, `"`, `\`, `{"path":"a"},`, `["a",`, `{"edits":[{"path":"x"},`, "a ", "a|", "a <<E\n", "a;bash -c '", "(", "$(", "<(a) ", "$(a) ", "\n",
		"--- a\n+++ b\n", "*** Add File: x\n", "[a b] ", `{"command":"x",`, "4f2c9d1 ", "commit ", "`", "a b=c ", "Exit code 1\n", `{"a":"b","a":`,
		"4f2c9d1..", "commit 4f2c9d1\n", ".", "提",
	} {
		var short, long time.Duration
		for range 20 {
			short, long = quickest(short, work(t, unit, 8<<10)), quickest(long, work(t, unit, 64<<10))
			if long < 32*short || long < 20*time.Millisecond {
				break
			}
		}
		if long >= 32*short && long >= 20*time.Millisecond {
			t.Errorf("%.12q repeated: 8 KiB took %v, 64 KiB %v", unit, short, long)
		}
	}
}

func quickest(a, b time.Duration) time.Duration {
	if a == 0 || b < a {
		return b
	}
	return a
}

// work is how long everything takes over n bytes of repeated units, in all the places of a call.
func work(t *testing.T, unit string, n int) time.Duration {
	t.Helper()
	text := strings.Repeat(unit, n/len(unit))
	quoted := mustJSON(t, text)
	start := time.Now()
	for _, u := range []events.ToolUsed{
		{Tool: "Bash", Input: text, Output: text},
		{Tool: text, Input: `{"command":` + text, Output: `{"stdout":"` + text},
		{Tool: "apply_patch", Input: `{"patch":` + quoted + `}`, Output: `"` + text},
		{Tool: "Bash", Input: `{"command":` + quoted + `}`, Output: `{"edits":[` + text},
		{Tool: "Edit", Input: `{"edits":[` + text, Output: text},
	} {
		c := Parse(u)
		c.Files()
		for _, cmd := range Split(c.Shape().Command) {
			cmd.IsTest()
		}
		Commits(u.Output)
		Claims(u.Output)
		Named(u.Output)
	}
	return time.Since(start)
}
