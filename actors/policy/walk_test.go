package policy

import (
	"fmt"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// everything is each class, disposition and failure class there is, in all combinations.
func everything() (turns []Turn) {
	for _, c := range []Class{ClassIdle, ClassXML, ClassProse} {
		for _, d := range []Disposition{Observations, Summary, Skip, Dropped} {
			for _, f := range append(events.FailureClasses(), "") {
				turns = append(turns, Turn{Output: Output{Class: c, Disposition: d}, Failure: f})
			}
		}
	}
	return turns
}

// unruled returns what name has no rule for among turns, or rules in a way that its kind of policy cannot.
func unruled(t *testing.T, name Name, turns []Turn) (missing []string) {
	t.Helper()
	p, err := New(name, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range turns {
		var s State
		v := p.RuleOnTurn(&s, turn, t0)
		if !allowed(name, turn, v.Ruling) {
			missing = append(missing, fmt.Sprintf("%s: %s/%s/%q: %q", name, turn.Class, turn.Disposition, turn.Failure, v.Ruling))
		}
		if turn.Failure == "" && p.RuleOnOpening(&State{}, turn.Output, t0) == "" {
			missing = append(missing, fmt.Sprintf("%s: an opening %s/%s", name, turn.Class, turn.Disposition))
		}
	}
	return missing
}

// allowed says which ruling there must be on the first turn of a session.
func allowed(name Name, turn Turn, got Ruling) bool {
	live := name == OTPHold || name == Supervised
	switch {
	case turn.Failure.BlamesObserver():
		return got == RuleRestart
	case turn.Failure.BlamesTurn() && live:
		return got == RuleRetry
	case turn.Failure.BlamesProvider() && live:
		return got == RuleHold
	case turn.Failure != "" && turn.Class == ClassIdle && turn.Disposition == Skip:
		return got == RuleDrop
	}
	return got == map[Disposition]Ruling{Observations: RuleKeep, Summary: RuleKeep, Skip: RuleSkip, Dropped: RuleDrop}[turn.Disposition] && got != ""
}

func TestEveryPolicyHasARuleForEverything(t *testing.T) {
	t.Parallel()
	turns := everything()
	if len(turns) != 3*4*15 {
		t.Fatalf("turns to rule on: %d", len(turns))
	}
	for _, name := range Names() {
		for _, m := range unruled(t, name, turns) {
			t.Error(m)
		}
	}
}

// TestAMissingRuleIsFound plants a class, a disposition and a class of failure that nobody knows.
func TestAMissingRuleIsFound(t *testing.T) {
	t.Parallel()
	for _, planted := range []Turn{
		{Output: Output{Class: "verse", Disposition: Dropped}},
		{Output: Output{Class: ClassXML, Disposition: "sung"}},
	} {
		for _, name := range Names() {
			if len(unruled(t, name, []Turn{planted})) == 0 {
				t.Errorf("%s has a rule for %+v, it says", name, planted)
			}
		}
	}
	for _, name := range Live() {
		planted := Turn{Output: Output{Class: ClassProse, Disposition: Dropped}, Failure: "meltdown"}
		p, err := New(name, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if v := p.RuleOnTurn(&State{}, planted, t0); v.Ruling != "" {
			t.Errorf("%s rules %q on a failure that is of no class", name, v.Ruling)
		}
	}
}
