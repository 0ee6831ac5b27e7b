package replay

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// TestLiveIsThePolicyOfItsName plays one random script twice: as a daemon decides it, by session.Decide and the rules of a
// provider's circuit, and as the policy of the same name rules. They let the same turns begin, say the same of each end,
// and keep the provider for the same time. That a provider is paused for turns that fail by their own fault is left out: it
// keeps back what has failed, and every turn that a policy rules on asks about something new.
func TestLiveIsThePolicyOfItsName(t *testing.T) {
	t.Parallel()
	for _, name := range policy.Live() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				l := newLive(newScript(tbOf{t, rt}), name, rt)
				for range rapid.IntRange(1, 60).Draw(rt, "turns") {
					l.turn(rt)
				}
			})
		})
	}
}

// live is a script and the policy beside it.
type live struct {
	*script
	policy   *policy.Policy
	sessions map[string]*policy.State
	provider policy.Pause
}

func newLive(s *script, name policy.Name, rt *rapid.T) *live {
	settings := map[string]string{"policy": string(name), "slots": "1", "restart_delay": "1ms", "restart_delay_max": "1ms"}
	maps.Copy(settings, map[string]string{
		"max_restarts": "2", "max_consecutive": "1", "quarantine_first": "1s", "quarantine_max": "4s", "pause_first": "1s",
		"pause_max": "2s", "max_unparseable": "2", "unparseable_every": "30s",
	})
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if !strings.HasPrefix(key, "restart_delay") && key != "policy" && rapid.Bool().Draw(rt, "default "+key) {
			delete(settings, key)
		}
	}
	s.life(settings)
	numbers := policy.Settings{Restarts: s.rules.Restarts, Quarantine: s.rules.Quarantine, Pause: s.wait}
	if s.rules.Outputs != nil {
		numbers.Unparseable = *s.rules.Outputs
	}
	p, err := policy.New(name, numbers)
	if err != nil {
		rt.Fatal(err)
	}
	return &live{script: s, policy: p, sessions: map[string]*policy.State{"a": {}, "b": {}}}
}

// turn has a session ask for a turn, and ends it where it may have one.
func (l *live) turn(rt *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "session")
	l.work(name, 1)
	l.stop(name)
	l.later(rapid.SampledFrom([]time.Duration{
		2 * time.Millisecond, time.Second, 8 * time.Second, 59 * time.Second, time.Minute, 10 * time.Minute, time.Hour,
	}).Draw(rt, "later"))
	state := l.sessions[name]
	delivers := l.policy.Delivers(state, l.provider, l.now)
	if begun := l.start(name); begun != delivers {
		rt.Fatalf("a turn of %s begins live: %t; by the policy: %t, with %+v", name, begun, delivers, l.provider)
	}
	if !delivers {
		return
	}
	probe, before := l.policy.Probes(state), l.last()
	l.later(rapid.SampledFrom([]time.Duration{time.Millisecond, 5 * time.Second}).Draw(rt, "takes"))
	turn := l.end(rt, name)
	want := l.policy.RuleOnTurn(state, turn, l.now)
	l.provider = l.policy.Pause(l.provider, turn, l.now)
	got, released := l.ruled(before)
	if got != want.Ruling || released != (probe && !l.policy.Probes(state)) {
		rt.Fatalf("%s, a probe: %t, ended with %+v: %s live, released: %t; by the policy %s", name, probe, turn, got, released, want.Ruling)
	}
	if got := l.pause; !got.Until.Equal(l.provider.Until) || got.Probe != l.provider.Probe || got.Class != l.provider.Class {
		rt.Fatalf("after %+v the provider is %+v live; by the policy %+v", turn, got, l.provider)
	}
}

// end ends the turn in flight somehow, and returns how.
func (l *live) end(rt *rapid.T, name string) policy.Turn {
	ends := []string{observed, summarized, prose, prose, "", `<skip_summary/>`, "<observation></observation>"}
	for _, c := range append(events.FailureClasses(), events.FailCrash, events.FailCrash, events.FailLimit) {
		if c != events.FailInterrupted {
			ends = append(ends, string(c))
		}
	}
	end := rapid.SampledFrom(ends).Draw(rt, "end")
	if class := events.FailureClass(end); slices.Contains(events.FailureClasses(), class) {
		resets := rapid.SampledFrom([]time.Duration{0, -time.Hour, 90 * time.Second, 1000 * time.Hour}).Draw(rt, "resets")
		turn := policy.Turn{Failure: class}
		if resets != 0 {
			turn.ResetsAt = l.now.Add(resets)
		}
		l.fail(name, class, resets)
		return turn
	}
	parsed := observer.Parse(end, l.turns[name].TurnKind, observer.CodeMode().TypeIDs())
	l.answer(name, end)
	return policy.Turn{Output: policy.Output{Class: policy.Class(parsed.Class), Disposition: policy.Disposition(parsed.Disposition)}}
}

// ruled is what the events behind a position make of a turn, and whether a session was released.
func (l *live) ruled(behind events.Position) (ruling policy.Ruling, released bool) {
	grave := []policy.Ruling{policy.RuleKeep, policy.RuleSkip, policy.RuleDrop, policy.RuleRetry, policy.RuleHold, policy.RuleRespawn, policy.RuleRestart, policy.RuleHalt}
	for r, err := range l.log.All(l.tb.Context(), behind+1) {
		if err != nil {
			l.tb.Fatal(err)
		}
		e, err := r.Event()
		if err != nil {
			l.tb.Fatal(err)
		}
		released = released || r.Kind == events.KindSessionReleased
		if next := rulingOf(e); slices.Index(grave, next) > slices.Index(grave, ruling) {
			ruling = next
		}
	}
	return ruling, released
}

// rulingOf is what one event says of how a turn was ruled; empty: nothing.
func rulingOf(e events.Event) policy.Ruling {
	switch e := e.(type) {
	case events.ObservationParsed, events.SummaryParsed:
		return policy.RuleKeep
	case events.OutputSkipped:
		return policy.RuleSkip
	case events.OutputDropped:
		return policy.RuleDrop
	case events.SessionQuarantined:
		return policy.RuleHalt
	case events.SessionRespawned:
		if e.Cause == "unparseable" {
			return policy.RuleRespawn
		}
		return policy.RuleRestart
	case events.TurnFailed:
		switch {
		case e.Class.BlamesProvider():
			return policy.RuleHold
		case e.Class.BlamesTurn():
			return policy.RuleRetry
		}
	}
	return ""
}
