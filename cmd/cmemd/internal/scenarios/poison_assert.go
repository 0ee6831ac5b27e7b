package scenarios

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/replay"
)

// verdict says what holds of the scene, and fails where something does not.
func (p *poisonRun) verdict(context.Context) error {
	p.announce("what the log of %s says, read without the daemon", p.scene.name)
	var broken []string
	for _, j := range append(p.scene.assert(p.account, p.results), p.account.common()...) {
		word := "holds"
		if !j.holds {
			word = "BROKEN"
			broken = append(broken, j.says)
		}
		p.printDetail("%-6s  %s", word, j.says)
	}
	if p.a.JSON {
		if err := p.a.PrintJSONLine(poisonLine{Account: &p.account}); err != nil {
			return err
		}
	}
	if len(broken) > 0 {
		return errors.New("it does not hold that: " + strings.Join(append(broken, p.account.Unlike...), "; "))
	}
	return nil
}

// common is what must hold of every scene.
func (a account) common() []assertion {
	sum := func(b api.Balance) bool {
		return b.Captured == b.Observed+b.Skipped+b.Dropped+b.Pending+b.Forgotten && b.Captured == a.Sent
	}
	f := a.Final
	return []assertion{
		asserted(sum(a.Played) && sum(f), "every input is counted: %s sent, %d captured, and so many in the sum of what became of them",
			number.Plural(a.Sent, "input"), f.Captured),
		asserted(f.Dropped == 0 && f.Pending == 0 && a.Again == a.Played.Dropped,
			"nothing is lost: %d dropped and %d pending at the end; %d had been dropped, and were observed again", f.Dropped, f.Pending, a.Played.Dropped),
		asserted(!slices.Contains(a.Respawns, session.CauseUnparseable), "no observer was respawned for what it said"),
		asserted(a.Unexplained == 0 && a.Discrepancies == 0 && a.Decisions > 0,
			"%d records, every chain holds; of %d decisions on record each is explained by the rules in force, and the balance by the raw events",
			a.Records, a.Decisions),
	}
}

// countDecisions counts the decisions of one kind.
func countDecisions(r replay.Result, ruling policy.Ruling) int {
	return number.Count(r.Decisions, func(d string) bool { return d == string(ruling) })
}

// assertQuiet wants the daemon to have decided as replay does, output by output.
func assertQuiet(a account, results policyResults) []assertion {
	live := results.live()
	b := a.Played
	keep, skip, drop := countDecisions(live, policy.RuleKeep), countDecisions(live, policy.RuleSkip), countDecisions(live, policy.RuleDrop)
	return []assertion{
		asserted(b.Observed == keep && b.Skipped == skip && b.Dropped == drop,
			"it decided as replay did: %d observed, %d skipped, %d dropped", b.Observed, b.Skipped, b.Dropped),
		asserted(a.Calls == live.Calls, "%d calls, one an output: nothing opened, nothing asked twice", a.Calls),
		asserted(len(a.Respawns)+len(a.Quarantines)+len(a.Pauses) == 0, "%d respawns, %d quarantines, %d pauses",
			len(a.Respawns), len(a.Quarantines), len(a.Pauses)),
	}
}

// assertLimit wants one stretch of pauses, each with one probe, and one end of it. Replay's number of probes is not the
// daemon's to the last, as the pauses of both begin at other moments.
func assertLimit(a account, results policyResults) []assertion {
	live := results.live()
	row := len(a.Pauses) > 0
	for i, n := range a.Pauses {
		row = row && n == i+1
	}
	return []assertion{
		asserted(a.Played.Observed == a.Sent, "all of %d inputs are observed, those of the limit after it", a.Played.Observed),
		asserted(row && a.Resumes == 1, "the provider was paused once and resumed once, with %s in between", number.Plural(len(a.Pauses)-1, "failed probe")),
		asserted(a.Failures == len(a.Pauses) && a.Failures <= 2*live.WastedCalls,
			"%d calls came to nothing; in replay %d, and %d where the output is all that is looked at", a.Failures, live.WastedCalls,
			results[string(policy.Ignore)].WastedCalls),
		asserted(len(a.Respawns)+len(a.Quarantines)+a.GivenUp == 0, "%d respawns, %d quarantines, %d inputs given up",
			len(a.Respawns), len(a.Quarantines), a.GivenUp),
	}
}

// assertCrashes wants the cap of restarts in a row to have ended the loop, probes while it lasted, and a release by one.
func assertCrashes(a account, results policyResults) []assertion {
	live, window := results.live(), results[string(policy.WindowOnly)]
	most := policy.Restarts{}.Limits().MaxConsecutive
	probes := len(a.Quarantines) - 1
	first := probes >= 0 && a.Quarantines[0] == policy.TripConsecutive
	for _, cause := range a.Quarantines[min(1, len(a.Quarantines)):] {
		first = first && cause == policy.TripProbe
	}
	return []assertion{
		asserted(len(a.Respawns) == most && first, "the observer was restarted %d times, and then quarantined for %d crashes in a row, though they came too slowly for any window",
			len(a.Respawns), most+1),
		asserted(probes >= 0 && slices.Equal(a.Releases, []string{"probe"}), "%s of the quarantine crashed too; the next was answered and released the session",
			number.Plural(probes, "probe")),
		asserted(a.Crashes == most+1+probes && a.Crashes == live.Restarts+1, "%d crashes in all; in replay %d under a window alone", a.Crashes, window.Restarts),
		asserted(a.GivenUp == 0 && a.Played.Dropped == 0, "%s given up: an observer that crashes on everything says nothing of an input",
			number.Plural(a.GivenUp, "input")),
	}
}
