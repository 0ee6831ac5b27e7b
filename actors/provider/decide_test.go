package provider

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// TestATurnThatBeganBeforeThePauseProlongsNothing: its failure is no probe's.
func TestATurnThatBeganBeforeThePauseProlongsNothing(t *testing.T) {
	t.Parallel()
	s := &State{Pause: policy.Pause{Class: events.FailRefused, Probe: 1, Until: time.Unix(100, 0), Blamed: 3}}
	p := NewPool(Config{Routes: Routes{Providers: []Candidate{{Provider: "p"}}}, Limits: Limits{Pauses: policy.DefaultPause()}}, map[string]*State{"p": s}, time.Unix(200, 0))
	p.leases["h"] = "p"
	r, ok := p.End(End{Holder: "h", Failure: &events.TurnFailed{Class: events.FailRefused}}, time.Unix(200, 0))
	if ok || s.Pause.Probe != 1 || s.Pause.Blamed != 4 {
		t.Errorf("got %+v and %+v, want it counted and no more", r, s.Pause)
	}
}

// TestDecide: which ruling follows, by how things stand and how a turn ended.
func TestDecide(t *testing.T) {
	t.Parallel()
	now, waits := time.Unix(1000, 0), policy.Backoff{First: time.Minute, Cap: time.Hour}
	paused := func(c events.FailureClass, until int64, blamed int) policy.Pause {
		return policy.Pause{Class: c, Probe: 1, Until: time.Unix(until, 0), Blamed: blamed}
	}
	fail := func(c events.FailureClass, probe bool) Fail { return Fail{Class: c, At: now, Probe: probe} }
	pause := func(c events.FailureClass, n int) events.Event {
		return events.ProviderPaused{Class: c, Until: now.Add(waits.Nth(n)), Probe: n}
	}
	for name, c := range map[string]struct {
		pause policy.Pause
		cmd   Command
		want  events.Event
	}{
		"a failure":                        {policy.Pause{}, fail(events.FailServer, false), pause(events.FailServer, 1)},
		"a failure beside the probe":       {paused(events.FailServer, 900, 0), fail(events.FailServer, false), nil},
		"a probe that failed":              {paused(events.FailServer, 900, 0), fail(events.FailLimit, true), pause(events.FailLimit, 2)},
		"the observer's failure":           {policy.Pause{}, fail(events.FailCrash, false), nil},
		"the first refusal":                {policy.Pause{}, fail(events.FailRefused, false), nil},
		"one refusal too many":             {policy.Pause{Blamed: 2}, fail(events.FailRefused, false), pause(events.FailRefused, 1)},
		"a refusal while it rests":         {paused(events.FailRefused, 1100, 3), fail(events.FailRefused, true), nil},
		"a refusal of the probe that rose": {paused(events.FailRefused, 900, 3), fail(events.FailRefused, true), pause(events.FailRefused, 2)},
		"a refusal beside the probe":       {paused(events.FailRefused, 900, 3), fail(events.FailRefused, false), nil},
		"an answer to a probe":             {paused(events.FailServer, 900, 0), Answer{Parsed: true, Probe: true}, events.ProviderResumed{By: "probe"}},
		"prose to a probe":                 {paused(events.FailServer, 900, 0), Answer{Probe: true}, nil},
		"an answer to an older question":   {paused(events.FailServer, 900, 0), Answer{Parsed: true}, nil},
	} {
		if d := cmp.Diff(c.want, Decide(&State{Pause: c.pause}, c.cmd, Limits{Pauses: waits})); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
