package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/replay"
)

// TestVerdict says the worst and the best beside the live policy, and what becomes of what that lost.
func TestVerdict(t *testing.T) {
	t.Parallel()
	run := func(name string, lost int, wasted int64, more ...string) Run {
		return Run{name, replay.Result{LostBatches: lost, WastedTokens: wasted, Decisions: more}}
	}
	failed := run("runs away", 99, 99)
	failed.Result.Error = "no end"
	for name, c := range map[string]struct {
		runs []Run
		want string
	}{
		"the live one is best": {
			[]Run{run("legacy", 54, 285_100), run("live", 51, 100), run("ignore", 51, 200)},
			"legacy would have lost 3 inputs more and wasted 285,000 tokens more than live. No policy would have lost or wasted less. " +
				"What is lost under live, 51 inputs, stays in the log, and can be asked again.",
		},
		"it is worst": {[]Run{run("ignore", 0, 9), run("live", 1, 4)}, "ignore would have lost 1 input fewer and wasted 5 tokens more than live. " +
			"What is lost under live, 1 input, stays in the log, and can be asked again."},
		"between": {[]Run{run("a", 0, 1), run("live", 0, 5), run("b", 0, 9), run("c", 0, 9)},
			"b, c would have wasted 4 tokens more than live. a would have wasted 4 tokens fewer than live."},
		"all the same": {[]Run{run("a", 0, 7), run("live", 0, 7)}, "All 2 policies come to the same here: 0 inputs lost, 7 tokens wasted."},
		"all the same, with a loss": {[]Run{run("a", 1, 7), run("live", 1, 7)}, "All 2 policies come to the same here: 1 input lost, 7 tokens wasted. " +
			"What is lost under live, 1 input, stays in the log, and can be asked again."},
		"other ways, the same loss": {[]Run{run("a", 0, 7, "drop"), run("live", 0, 7, "hold")}, "All policies lose and waste the same here as live: 0 inputs lost, 7 tokens wasted."},
		"without the live one":      {[]Run{run("a", 0, 7), run("b", 1, 7)}, ""},
		"alone":                     {[]Run{run("live", 1, 7)}, ""},
		"one runs away":             {[]Run{failed, run("live", 0, 7), run("a", 0, 8)}, "a would have wasted 1 token more than live. No policy would have lost or wasted less."},
	} {
		if diff := cmp.Diff(c.want, Verdict(c.runs, "live")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestFold: what differs in a figure or in one decision stays apart.
func TestFold(t *testing.T) {
	t.Parallel()
	same := replay.Result{Calls: 1, Decisions: []string{"keep"}}
	figure, decision := same, same
	figure.Calls, decision.Decisions = 2, []string{"drop"}
	var got [][]string
	for _, e := range GroupEqual([]Run{{"a", same}, {"b", figure}, {"c", same}, {"d", decision}}) {
		got = append(got, e.Policies)
	}
	if diff := cmp.Diff([][]string{{"a", "c"}, {"b"}, {"d"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
