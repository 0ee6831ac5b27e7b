package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/replay"
)

// Equal is policies that came to the same: the same decisions at the same events, and the same figures.
type Equal struct {
	Policies []string
	Result   replay.Result
}

// GroupEqual puts runs together that came to the same, in the order of the first of each. What came to no end stays apart.
func GroupEqual(runs []Run) (folded []Equal) {
	for _, r := range runs {
		i := slices.IndexFunc(folded, func(e Equal) bool { return isEqual(e.Result, r.Result) })
		if i < 0 {
			folded = append(folded, Equal{[]string{r.Policy}, r.Result})
			continue
		}
		folded[i].Policies = append(folded[i].Policies, r.Policy)
	}
	return folded
}

func isEqual(a, b replay.Result) bool {
	for _, f := range Figures() {
		if f.Of(a) != f.Of(b) {
			return false
		}
	}
	return a.Error == "" && b.Error == "" && slices.Equal(a.Decisions, b.Decisions)
}

// Verdict says in a sentence or three what other policies than the live one would have lost and wasted. It is empty where the live one
// is not among runs, or alone, or came to no end.
func Verdict(runs []Run, live string) string {
	folded := GroupEqual(Finished(runs))
	at := slices.IndexFunc(folded, func(e Equal) bool { return slices.Contains(e.Policies, live) })
	if at < 0 || len(runs) < 2 {
		return ""
	}
	own := folded[at]
	if len(folded) == 1 {
		return fmt.Sprintf("All %d policies come to the same here: %s.", len(own.Policies), lossSummary(own.Result)) + lossNote(own.Result, live)
	}
	worse := func(a, b Equal) int {
		return cmp.Or(cmp.Compare(a.Result.LostBatches, b.Result.LostBatches), cmp.Compare(a.Result.WastedTokens, b.Result.WastedTokens))
	}
	worst, best := slices.MaxFunc(folded, worse), slices.MinFunc(folded, worse)
	var said []string
	if worse(worst, own) > 0 {
		said = append(said, comparison(worst, own, live))
	}
	if worse(best, own) < 0 {
		said = append(said, comparison(best, own, live))
	} else if len(said) > 0 {
		said = append(said, "No policy would have lost or wasted less.")
	}
	if len(said) == 0 {
		said = append(said, fmt.Sprintf("All policies lose and waste the same here as %s: %s.", live, lossSummary(own.Result)))
	}
	return strings.Join(said, " ") + lossNote(own.Result, live)
}

// lossSummary is what a policy lost and wasted.
func lossSummary(r replay.Result) string {
	return fmt.Sprintf("%s lost, %s wasted", counted(int64(r.LostBatches), "input"), counted(r.WastedTokens, "token"))
}

// comparison says how a policy differs from the live one.
func comparison(other, own Equal, live string) string {
	var parts []string
	if d := int64(other.Result.LostBatches - own.Result.LostBatches); d != 0 {
		parts = append(parts, "lost "+counted(max(d, -d), "input")+moreOrFewer(d))
	}
	if d := other.Result.WastedTokens - own.Result.WastedTokens; d != 0 {
		parts = append(parts, "wasted "+counted(max(d, -d), "token")+moreOrFewer(d))
	}
	return fmt.Sprintf("%s would have %s than %s.", strings.Join(other.Policies, ", "), strings.Join(parts, " and "), live)
}

func moreOrFewer(d int64) string {
	if d > 0 {
		return " more"
	}
	return " fewer"
}

// lossNote says what becomes of what the live policy lost: in its log it is dropped by name, and stays.
func lossNote(result replay.Result, livePolicy string) string {
	if result.LostBatches == 0 {
		return ""
	}
	return fmt.Sprintf(" What is lost under %s, %s, stays in the log, and can be asked again.", livePolicy, counted(int64(result.LostBatches), "input"))
}
