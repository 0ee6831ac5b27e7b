package replay

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// unbalanced says in what r does not add up; "" if it does. Each input of s is exactly one of settled by its own turn,
// recovered, lost and held.
func unbalanced(s *Scenario, r Result) string {
	if len(r.Decisions) != len(s.Events) || len(r.Marks) != len(s.Events) {
		return fmt.Sprintf("%d decisions, %d marks of %d events", len(r.Decisions), len(r.Marks), len(s.Events))
	}
	total, settled, delivered, openings, wasted := 0, 0, 0, 0, 0
	for i, m := range r.Marks {
		total += s.Events[i].Batch
		openings += m.Openings
		switch m.Decision {
		case policy.RuleKeep, policy.RuleSkip:
			settled += s.Events[i].Batch
			delivered++
		case policy.RuleDrop, policy.RuleHold, policy.RuleRetry, policy.RuleRespawn:
			delivered++
			wasted++
		case policy.RuleRestart, policy.RuleHalt, policy.RuleNone:
		default:
			return fmt.Sprintf("event %d: the decision %q", i, m.Decision)
		}
	}
	if got := settled + r.Recovered + r.LostBatches + r.HeldBatches; got != total {
		return fmt.Sprintf("%d inputs, of which %d settled, %d recovered, %d lost, %d held", total, settled, r.Recovered, r.LostBatches, r.HeldBatches)
	}
	late := r.Calls - delivered - openings // openings behind the last event of their session
	if late < 0 || r.WastedCalls != wasted+openings+late {
		return fmt.Sprintf("%d calls, %d wasted, of %d delivered turns, %d of them wasted, and %d openings", r.Calls, r.WastedCalls, delivered, wasted, openings)
	}
	return ""
}

// scenarios draws scenarios of a few sessions and providers, dense enough for every limit.
func scenarios() *rapid.Generator[*Scenario] {
	output := rapid.SampledFrom([]string{
		"", "prose", "context window", "<observation></observation>", `<skip_summary reason="x"/>`,
		"<observation><title>t</title></observation>", "<summary><request>r</request></summary>",
	})
	return rapid.Custom(func(t *rapid.T) *Scenario {
		s := &Scenario{Respawn: Respawn{DelayMS: rapid.Int64Range(500, 5000).Draw(t, "delay"), Output: events.NewOutput(output.Draw(t, "opening")), Tokens: Tokens{In: 3}}}
		if rapid.Bool().Draw(t, "wedged") {
			at := rapid.Int64Range(0, 100_000).Draw(t, "wedged at")
			s.WedgedAtMS = &at
		}
		now := int64(0)
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			now += rapid.SampledFrom([]int64{0, 1, 999, 8000, 30_000, 59_999, 60_000, 300_000}).Draw(t, "later")
			s.Events = append(s.Events, randomEvent(t, now, output))
		}
		s.EndMS = now + rapid.Int64Range(0, 10_000).Draw(t, "rest")
		return s
	})
}

func randomEvent(t *rapid.T, at int64, output *rapid.Generator[string]) Event {
	e := Event{
		AtMS: at, Batch: rapid.IntRange(0, 3).Draw(t, "batch"), Output: events.NewOutput(output.Draw(t, "output")), Tokens: Tokens{In: 1, Out: 1},
		Kind:     rapid.SampledFrom([]string{KindObservation, KindObservation, KindSummary, KindExit}).Draw(t, "kind"),
		Session:  rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "session"),
		Observer: rapid.SampledFrom([]string{"", "p"}).Draw(t, "observer"),
		TookMS:   rapid.SampledFrom([]int64{0, 0, 1, 5000, 60_000, 100_000}).Draw(t, "took"),
	}
	if rapid.IntRange(0, 3).Draw(t, "well") == 0 {
		codes := []string{"rate_limit", "of tomorrow"}
		for _, c := range events.FailureClasses() {
			codes = append(codes, string(c))
		}
		e.Provider = &Failure{IsError: rapid.Bool().Draw(t, "is error"), Code: rapid.SampledFrom(codes).Draw(t, "code")}
		e.Provider.ResetsMS = rapid.SampledFrom([]int64{0, 1, at + 90_000}).Draw(t, "resets")
	}
	if rapid.Bool().Draw(t, "other") {
		e.Fresh = &Fresh{Output: events.NewOutput(output.Draw(t, "fresh"))}
	}
	return e
}

func TestEveryInputHasOneFate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := scenarios().Draw(t, "scenario")
		first, err := Compare(s, policy.Names(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range policy.Names() {
			if why := unbalanced(s, first[name]); why != "" {
				t.Errorf("%s: %s", name, why)
			}
			alone, err := Run(s, name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first[name], alone); diff != "" {
				t.Errorf("%s is another alone (-all +alone):\n%s", name, diff)
			}
		}
	})
}

// TestLivePoliciesLoseOnlyWhatWasAnswered holds that no failure of a provider, no death of an observer, no halt and no
// respawn costs an input: only an answer that did not parse does.
func TestLivePoliciesLoseOnlyWhatWasAnswered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := scenarios().Draw(t, "scenario")
		for _, name := range policy.Live() {
			r, err := Run(s, name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			lost := 0
			for i, m := range r.Marks {
				if m.Lost != lost && m.Decision != policy.RuleDrop {
					t.Errorf("%s: event %d, %s, cost %d inputs", name, i, m.Decision, m.Lost-lost)
				}
				lost = m.Lost
			}
			if r.LostBatches > 0 && r.DroppedTurns == 0 {
				t.Errorf("%s: %d lost and no turn dropped", name, r.LostBatches)
			}
		}
	})
}

// TestHeldInputsAreNeverLost lets every answer that arrives parse: then all that fails is held, and nothing is lost.
func TestHeldInputsAreNeverLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := scenarios().Draw(t, "scenario")
		for i := range s.Events {
			e := &s.Events[i]
			e.Output, e.Fresh = events.NewOutput(`<skip_summary/>`), nil
			if e.Provider != nil && e.Provider.IsError {
				e.Output = events.NewOutput("You've hit your limit")
			}
		}
		for _, name := range policy.Live() {
			r, err := Run(s, name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.LostBatches != 0 || r.DroppedTurns != 0 || r.Respawns != 0 {
				t.Errorf("%s: %d inputs lost, %d turns dropped, %d respawns; want none", name, r.LostBatches, r.DroppedTurns, r.Respawns)
			}
		}
	})
}
