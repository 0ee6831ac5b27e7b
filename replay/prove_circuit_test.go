package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/policy"
)

// TestProveOfCircuits plants turns and rulings behind a pause.
func TestProveOfCircuits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play     func(s *script)
		decision string // of the one difference; empty: none
		why      string
	}{
		"a turn whose lease was older": {func(s *script) { s.startBehind("b") }, "", ""},
		"more turns than leases":       {func(s *script) { s.startBehind("b"); s.startBehind("c") }, ProvedTurn, "paused until"},
		"a turn at its end":            {func(s *script) { s.later(time.Minute); s.startBehind("b"); s.startBehind("c") }, "", ""},
		"a pause that no probe caused": {func(s *script) {
			s.startBehind("b")
			s.probing = "b"
			s.fail("b", events.FailServer, 0)
		}, ProvedPause, "not the probe"},
		"a resumption that no answer caused": {func(s *script) { s.resume() }, ProvedResume, "no probe was answered"},
		"a resumption by an answer to an older question": {func(s *script) {
			s.startBehind("b")
			s.answer("b", observed)
			s.resume()
		}, ProvedResume, "no probe was answered"},
		"a resumption by a person": {func(s *script) { s.rule(events.ProviderResumed{By: "person"}) }, "", ""},
		"a resumption of nothing": {func(s *script) {
			s.rule(events.ProviderResumed{By: "person"})
			s.rule(events.ProviderResumed{By: "person"})
		}, ProvedResume, "was not paused"},
		"a pause of old": {func(s *script) {
			s.rule(events.ProviderPaused{Class: events.FailServer, Until: s.now.Add(time.Minute), Probe: 2})
		}, ProvedPause, "no failure that was not ruled on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t)
			s.begin(settings())
			for _, session := range []string{"a", "b", "c"} {
				s.work(session, 2)
				s.stop(session)
			}
			s.mustStart("a")
			s.later(time.Second)
			s.fail("a", events.FailServer, 0)
			c.play(s)
			p := prove(t, s.log, Selection{})
			if c.decision == "" {
				explained(t, p)
				return
			}
			if len(p.Differences) != 1 || p.Differences[0].Decision != c.decision || !strings.Contains(p.Differences[0].Why, c.why) {
				t.Errorf("got %s, want one of a %s, because %q", shown(p.Differences), c.decision, c.why)
			}
		})
	}
}

// startBehind begins a turn whatever the provider's pause says.
func (s *script) startBehind(name string) {
	s.tb.Helper()
	pause := s.pause
	s.pause = policy.Pause{}
	started := s.start(name)
	if s.pause = pause; !started {
		s.tb.Fatal("no turn is due")
	}
}
