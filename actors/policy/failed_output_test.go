package policy

import (
	"testing"
	"time"

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
				if got := p.RuleOnTurn(&s, Turn{Output: output, Failure: class}, t0).Ruling; got != want {
					t.Errorf("%s: %s with %s/%s: got %q, want %q", name, class, output.Class, output.Disposition, got, want)
				}
			}
		}
		var s State
		if got := p.RuleOnTurn(&s, Turn{Output: blank}, t0).Ruling; got != RuleSkip {
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
			if got := p.RuleOnTurn(&s, blank, t0).Ruling; got != want {
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

// TestAProbeThatWasNotAnsweredReleasesNobody has the probe of a halted observer meet a limit, and the one behind it crash:
// that is the second halt in a row, and twice as long.
func TestAProbeThatWasNotAnsweredReleasesNobody(t *testing.T) {
	t.Parallel()
	for _, name := range Live() {
		for _, class := range []events.FailureClass{events.FailLimit, events.FailRefused} {
			p := mustPolicy(t, name)
			var s State
			for range 6 {
				p.RuleOnExit(&s, t0)
			}
			now := t0.Add(time.Minute)
			if v := p.RuleOnTurn(&s, Turn{Failure: class}, now); !v.Restarted || !p.Probes(&s) || p.halted(&s, now) {
				t.Fatalf("%s: a probe that failed with %s: %+v, the next is a probe: %t", name, class, v, p.Probes(&s))
			}
			if v := p.RuleOnExit(&s, now); v.Ruling != RuleHalt || p.Delivers(&s, Pause{}, now.Add(2*time.Minute-1)) || !p.Delivers(&s, Pause{}, now.Add(2*time.Minute)) {
				t.Errorf("%s: after %s: %+v, until %s", name, class, v, s.until)
			}
			if p.RuleOnTurn(&s, Turn{Output: Output{Class: ClassProse, Disposition: Dropped}}, now.Add(2*time.Minute)); p.Probes(&s) {
				t.Errorf("%s: an answer to the probe released nobody", name)
			}
		}
	}
}
