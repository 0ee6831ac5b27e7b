package setup

import (
	"fmt"
	"testing"
)

// TestLines: what comes and goes is counted, and neither the names of the files nor what stays.
func TestLines(t *testing.T) {
	t.Parallel()
	for diff, want := range map[string]string{
		"": "(+0 -0 lines)",
		"--- /x\n+++ /x\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n\\ No newline at end of file\n":        "(+2 -1 lines)",
		"--- /x\n+++ /x\n@@ -1,2 +1,1 @@\n--- of SQL\n-- [ ] to do\n+++ more\n@@ -9 +9 @@\n+z\n": "(+2 -2 lines)",
	} {
		plus, minus := shownFile{Diff: diff}.changedLines()
		if got := fmt.Sprintf("(+%d -%d lines)", plus, minus); got != want {
			t.Errorf("%q: got %s, want %s", diff, got, want)
		}
	}
}
