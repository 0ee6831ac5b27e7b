package policy

import (
	"testing"

	"github.com/cmemd/cmemd/events"
)

// TestAFailedTurnIsNoSkip gives a failed turn, whose output is usually blank, to the policies that look at outputs alone:
// nobody sees its inputs again.
func TestAFailedTurnIsNoSkip(t *testing.T) {
	t.Parallel()
	blank := Output{Class: ClassIdle, Disposition: Skip}
	for _, name := range Names() {
		if name.holds() {
			continue
		}
		p := mustPolicy(t, name)
		for _, class := range events.FailureClasses() {
			if class.BlamesObserver() {
				continue
			}
			for output, want := range map[Output]Ruling{
				blank:                                    RuleDrop,
				{Class: ClassIdle, Disposition: Dropped}: RuleDrop,
				{Class: ClassProse, Disposition: Dropped}:    RuleDrop,
				{Class: ClassXML, Disposition: Skip}:         RuleSkip, // said in so many words
				{Class: ClassXML, Disposition: Observations}: RuleKeep,
			} {
				var s State
				if got := p.Turn(&s, Turn{Output: output, Failure: class}, t0).Ruling; got != want {
					t.Errorf("%s: %s with %s/%s: got %q, want %q", name, class, output.Class, output.Disposition, got, want)
				}
			}
		}
		var s State
		if got := p.Turn(&s, Turn{Output: blank}, t0).Ruling; got != RuleSkip {
			t.Errorf("%s: a blank output of a turn that did not fail: got %q, want %q", name, got, RuleSkip)
		}
	}
}

// TestAFailedTurnRespawnsByItsOutput has the rules that count outputs count those of failed turns as any other.
func TestAFailedTurnRespawnsByItsOutput(t *testing.T) {
	t.Parallel()
	blank := Turn{Output: Output{Class: ClassIdle, Disposition: Skip}, Failure: events.FailLimit}
	for name, third := range map[Name]Ruling{
		LegacyKeyword: RuleRespawn, Consecutive: RuleRespawn, // blank ones count
		Windowed: RuleDrop, WindowedNoKW: RuleDrop, Ignore: RuleDrop, WindowOnly: RuleDrop, OTP: RuleDrop,
	} {
		p := mustPolicy(t, name)
		var s State
		for n, want := range []Ruling{RuleDrop, RuleDrop, third} {
			if got := p.Turn(&s, blank, t0).Ruling; got != want {
				t.Errorf("%s: turn %d: got %q, want %q", name, n+1, got, want)
			}
		}
	}
}

func mustPolicy(t *testing.T, name Name) *Policy {
	t.Helper()
	p, err := New(name, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
