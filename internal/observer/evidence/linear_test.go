package evidence

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/growth"
)

// TestTimeIsLinear feeds what makes careless scanners quadratic.
func TestTimeIsLinear(t *testing.T) {
	for _, unit := range []string{
		`{"a":`, `[`, `{`, `"`, `\`, `{"path":"a"},`, `["a",`, `{"edits":[{"path":"x"},`, "a ", "a|", "a <<E\n", "a;bash -c '", "(", "$(", "<(a) ", "$(a) ", "\n",
		"--- a\n+++ b\n", "*** Add File: x\n", "[a b] ", `{"command":"x",`, "4f2c9d1 ", "commit ", "`", "a b=c ", "Exit code 1\n", `{"a":"b","a":`,
		"4f2c9d1..", "commit 4f2c9d1\n", ".", "提",
	} {
		growth.Linear(t, fmt.Sprintf("%.12q repeated", unit), 8<<10, func(n int) { work(t, unit, n) })
	}
}

// work does everything over n bytes of repeated units, in all the places of a call.
func work(t *testing.T, unit string, n int) {
	t.Helper()
	text := strings.Repeat(unit, n/len(unit))
	quoted := mustJSON(t, text)
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
}
