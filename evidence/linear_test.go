package evidence

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// TestTimeIsLinear feeds what makes careless scanners quadratic; each text is 256 KiB.
func TestTimeIsLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		`{"a":`, `[`, `{`, `"`, `\`, `{"path":"a"},`, `["a",`, `{"edits":[{"path":"x"},`, "a ", "a|", "a <<E\n", "a;bash -c '", "(", "\n",
		"--- a\n+++ b\n", "*** Add File: x\n", "[a b] ", `{"command":"x",`, "4f2c9d1 ", "commit ", "`", "a b=c ", "Exit code 1\n", `{"a":"b","a":`,
	} {
		text := strings.Repeat(unit, 1<<18/len(unit))
		for _, u := range []events.ToolUsed{
			{Tool: "Bash", Input: text, Output: text},
			{Tool: text, Input: `{"command":` + text, Output: `{"stdout":"` + text},
			{Tool: "apply_patch", Input: `{"patch":` + mustJSON(t, text) + `}`, Output: `"` + text},
			{Tool: "Bash", Input: `{"command":` + mustJSON(t, text) + `}`, Output: `{"edits":[` + text},
			{Tool: "Edit", Input: `{"edits":[` + text, Output: text},
		} {
			start := time.Now()
			Files(u)
			Classify(u).Tests()
			Commits(u.Output)
			Claims(u.Output)
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("%.12q repeated, as %.8s: %v", unit, u.Tool, took)
			}
		}
	}
}
