package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// circuitCase is what is planted behind a pause, and what Prove must say to it.
type circuitCase struct {
	play     func(s *script)
	decision string // of the one difference; empty: none
	why      string
}

// TestProveOfCircuits plants turns and rulings behind a pause.
func TestProveOfCircuits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]circuitCase{
		"a turn whose lease was older":  {func(s *script) { s.startBehind("b") }, "", ""},
		"more turns than leases":        {func(s *script) { s.startBehind("b"); s.startBehind("c") }, ProvedTurn, "paused until"},
		"a probe beside an older lease": {func(s *script) { s.startBehind("b"); s.later(time.Minute); s.startBehind("c") }, "", ""},
		"a turn at its end":             {func(s *script) { s.later(time.Minute); s.startBehind("b"); s.startBehind("c") }, "", ""},
		"a pause that no probe caused": {func(s *script) {
			s.startBehind("b")
			s.probing = "b"
			s.fail("b", events.FailServer, 0)
		}, ProvedPause, "not the probe"},
		"a pause by a turn that was out before": {func(s *script) {
			s.rule(events.ProviderResumed{By: "person"})
			s.pause = policy.Pause{}
			s.mustStart("b")
			s.mustStart("c")
			s.later(time.Second)
			s.fail("b", events.FailServer, 0)
			s.probing = "c"
			s.fail("c", events.FailServer, 0)
		}, ProvedPause, "not the probe"},
		"a resumption that no answer caused": {func(s *script) { s.resume() }, ProvedResume, "no probe was parsed"},
		"a resumption by an answer to an older question": {func(s *script) {
			s.startBehind("b")
			s.answer("b", observed)
			s.resume()
		}, ProvedResume, "no probe was parsed"},
		"a resumption by prose":          {func(s *script) { s.later(time.Minute); s.resumedBy(prose) }, ProvedResume, "no probe was parsed"},
		"a resumption by nothing at all": {func(s *script) { s.later(time.Minute); s.resumedBy("") }, ProvedResume, "no probe was parsed"},
		"a resumption by what was kept":  {func(s *script) { s.later(time.Minute); s.resumedBy(observed) }, "", ""},
		"a resumption by a skip":         {func(s *script) { s.later(time.Minute); s.resumedBy("<skip_summary/>") }, "", ""},
		"a resumption by a refusal": {func(s *script) {
			s.later(time.Minute)
			s.startBehind("b")
			s.fail("b", events.FailRefused, 0)
			s.resume()
		}, ProvedResume, "no probe was parsed"},
		"prose, and a failure that counts on": {func(s *script) {
			s.later(time.Minute)
			s.mustStart("b")
			s.answer("b", prose)
			s.mustStart("c")
			s.fail("c", events.FailServer, 0)
			if s.pause.Probe != 2 {
				s.tb.Fatalf("got %+v, want a second pause", s.pause)
			}
		}, "", ""},
		"too few turns that failed by their own fault": {func(s *script) {
			s.rule(events.ProviderResumed{By: "person"})
			s.pause, s.blaming = policy.Pause{Blamed: 1}, true
			s.startBehind("b")
			s.fail("b", events.FailRefused, 0)
			s.startBehind("c")
			s.fail("c", events.FailRefused, 0)
		}, ProvedPause, "by their own fault"},
		"an answer that nobody gave": {func(s *script) {
			s.later(time.Minute)
			s.mustStart("b")
			s.knew["b"] = s.last()
			s.fail("b", events.FailRefused, 0)
		}, ProvedFailure, "had answered nothing there"},
		"a resumption by a person": {func(s *script) { s.rule(events.ProviderResumed{By: "person"}) }, "", ""},
		"a resumption of nothing": {func(s *script) {
			s.rule(events.ProviderResumed{By: "person"})
			s.rule(events.ProviderResumed{By: "person"})
		}, ProvedResume, "was not paused"},
		"a pause of old": {func(s *script) {
			s.rule(events.ProviderPaused{Class: events.FailServer, Until: s.now.Add(time.Minute), Probe: 2})
		}, ProvedPause, "no failure that was not ruled on"},
	} {
		t.Run(name, func(t *testing.T) { c.prove(t) })
	}
}

// TestProveOfRowsOfRefusals plants pauses by the last of three turns that were refused, of which others may be in no row with it.
func TestProveOfRowsOfRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]circuitCase{
		"two that nobody need have heard of before the answers": {func(s *script) {
			s.refuse("b", "c")
			s.answers(s.slots + 1)
			s.refusedToo("d")
		}, "", ""},
		"two long before more answers than slots": {func(s *script) {
			s.refuse("b", "c")
			s.later(2 * heardWithin)
			s.answers(s.slots + 1)
			s.refusedToo("d")
		}, ProvedPause, "by their own fault"},
		"two long before as many answers as slots": {func(s *script) {
			s.refuse("b", "c")
			s.later(2 * heardWithin)
			s.answers(s.slots)
			s.refusedToo("d")
		}, "", ""},
		"one behind a resumption": {func(s *script) {
			s.refuse("b", "c", "d")
			s.probedAndResumed("e")
			s.refusedToo("f")
		}, ProvedPause, "by their own fault"},
		"one behind a resumption by a person": {func(s *script) {
			s.refuse("b", "c", "d")
			s.rule(events.ProviderResumed{By: "person"})
			s.pause = policy.Pause{}
			s.refusedToo("e")
		}, ProvedPause, "by their own fault"},
		"three behind a resumption": {func(s *script) {
			s.refuse("b", "c", "d")
			s.probedAndResumed("e")
			s.refuse("f", "g", "h")
		}, "", ""},
		"one in the next life": {func(s *script) {
			s.refuse("b", "c", "d")
			s.end(true, settings())
			s.refuse("e")
			if s.pause.Probe != 2 {
				s.tb.Fatalf("got %+v, want a second pause", s.pause)
			}
		}, "", ""},
		"one in a life that may not have seen an answer": {func(s *script) {
			s.refuse("b", "c", "d")
			s.mustStart("e")
			s.answer("e", prose)
			s.end(true, settings())
			s.refusedToo("f")
		}, "", ""},
		"one behind an answer of that life": {func(s *script) {
			s.refuse("b", "c", "d")
			s.end(true, settings())
			s.mustStart("e")
			s.answer("e", prose)
			s.mustStart("e")
			s.answer("e", prose)
			s.refusedToo("f")
		}, ProvedPause, "by their own fault"},
	} {
		t.Run(name, func(t *testing.T) {
			play := c.play
			c.play = func(s *script) {
				s.rule(events.ProviderResumed{By: "person"})
				s.pause, s.blaming = policy.Pause{}, true
				for _, session := range []string{"d", "e", "f", "g", "h"} {
					s.work(session, 2)
					s.stop(session)
				}
				play(s)
			}
			c.prove(t)
		})
	}
}

// refuse has a turn of each of some sessions refused, which begin no other one.
func (s *script) refuse(names ...string) {
	s.tb.Helper()
	for _, name := range names {
		s.mustStart(name)
		s.fail(name, events.FailRefused, 0)
	}
}

// refusedToo has a turn refused, and the provider paused as if two in a row had been before.
func (s *script) refusedToo(name string) {
	s.tb.Helper()
	s.pause.Blamed = policy.BlamesToPause - 1
	s.refuse(name)
	if !s.pause.Blames() {
		s.tb.Fatalf("got %+v, want a pause", s.pause)
	}
}

// probedAndResumed has a probe of a session parsed, which is then asked for no other turn.
func (s *script) probedAndResumed(name string) {
	s.tb.Helper()
	s.mustStart(name)
	s.answer(name, observed)
	if s.pause.Paused() {
		s.tb.Fatalf("got %+v, want it resumed", s.pause)
	}
}

// answers has a turn of each of n further sessions answered, at once.
func (s *script) answers(n int) {
	s.tb.Helper()
	for _, name := range []string{"e", "f", "g", "h"}[:n] {
		now := s.now
		s.mustStart(name)
		if s.now.Sub(now) > heardWithin/4 {
			s.tb.Fatalf("session %s waited for %s", name, s.now.Sub(now))
		}
		s.answer(name, observed)
	}
}

// TestProveOfRestoredPauses plants pauses of which a crash had kept the log from knowing.
func TestProveOfRestoredPauses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]circuitCase{
		"a pause that the next life derives": {func(s *script) {
			turn := s.loseFailure()
			s.pauseAfter(events.FailLimit, time.Time{}, s.now.Add(-time.Hour), turn)
		}, "", ""},
		"another pause than the next life derives": {func(s *script) {
			turn := s.loseFailure()
			s.pauseAfter(events.FailLimit, time.Time{}, s.now.Add(-time.Hour-1), turn)
		}, ProvedPause, ""},
		"a pause that a session brings back": {func(s *script) {
			s.loseFailure()
			s.pauseAfter(events.FailLimit, time.Time{}, s.now.Add(-time.Hour), events.ID{})
		}, "", ""},
		"a pause brought back beside another": {func(s *script) {
			s.later(time.Minute)
			s.startBehind("b")
			s.failUnruled("b", events.FailLimit, 0)
			s.pauseAfter(events.FailLimit, time.Time{}, s.now, events.ID{})
		}, ProvedPause, "no failure that was not ruled on"},
		"a pause brought back that was over": {func(s *script) {
			s.rule(events.ProviderResumed{By: "person"})
			s.pause = policy.Pause{}
			s.pauseAfter(events.FailServer, time.Time{}, s.now, events.ID{})
		}, ProvedPause, "no failure that was not ruled on"},
	} {
		t.Run(name, func(t *testing.T) { c.prove(t) })
	}
}

// prove plays c behind the pause that a failure of session a led to.
func (c circuitCase) prove(t *testing.T) {
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
}

// resumedBy has the provider resumed after an answer of session b to a probe, whatever it says.
func (s *script) resumedBy(text string) {
	s.tb.Helper()
	s.startBehind("b")
	s.answer("b", text)
	s.resume()
}

// loseFailure has the provider well, and then fail by a turn of session b whose ruling is lost with the life; the next one
// begins an hour later.
func (s *script) loseFailure() events.ID {
	s.tb.Helper()
	s.rule(events.ProviderResumed{By: "person"})
	s.pause = policy.Pause{}
	s.mustStart("b")
	s.later(time.Second)
	failed := s.failUnruled("b", events.FailLimit, 0)
	s.later(time.Hour)
	s.end(false, settings())
	return failed.Turn
}

// TestProveOfRulingsThatAreGone: what is erased counts as what it was, and what begins out of view as nothing for sure.
func TestProveOfRulingsThatAreGone(t *testing.T) {
	t.Parallel()
	for kind, decision := range map[events.Kind]string{
		events.KindProviderPaused: ProvedPause, events.KindProviderResumed: ProvedResume,
	} {
		s := eventful(t)
		whole := prove(t, s.log, Selection{})
		at := s.firstOf(kind)
		if err := s.log.Erase(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		p := prove(t, s.log, Selection{})
		was, is := countOf(whole, decision), countOf(p, decision)
		if is.Checked != was.Checked || is.Unproven == 0 || !p.Holds() {
			t.Errorf("a %s erased: got %+v, before %+v; differences %s", kind, is, was, shown(p.Differences))
		}
		if f := p.Unproven[0]; f.Position != at || f.Decision != decision || !strings.Contains(f.Why, "erased") {
			t.Errorf("a %s erased: got %s", kind, shown(f))
		}
	}
	s := eventful(t)
	p, err := Prove(s.log.All(t.Context(), s.firstOf(events.KindProviderPaused)+1), Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rulings := 0
	for _, f := range p.Unproven {
		if _, ok := f.Stream.Provider(); !ok {
			continue
		}
		if rulings++; f.Why != "the stream's beginning is not in view" {
			t.Errorf("of a tail: got %s", shown(f))
		}
	}
	if rulings == 0 || !p.Holds() {
		t.Errorf("of a tail: %d rulings are unproven; differences %s", rulings, shown(p.Differences))
	}
}

func (s *script) firstOf(kind events.Kind) events.Position {
	s.tb.Helper()
	for r, err := range s.log.All(s.tb.Context(), 1) {
		if err != nil {
			s.tb.Fatal(err)
		}
		if r.Kind == kind {
			return r.Position
		}
	}
	s.tb.Fatalf("no %s", kind)
	return 0
}

func countOf(p Proof, decision string) (c DecisionCount) {
	for _, c := range p.Decisions {
		if c.Decision == decision {
			return c
		}
	}
	return c
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
