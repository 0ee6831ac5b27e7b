package replay

import (
	"testing"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// TestProveByTheRulesOfThen proves lives that decided by older rules, and did not record which.
func TestProveByTheRulesOfThen(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]int{"first": session.RulesFirst, "talk": session.RulesTalk} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t)
			s.rules.Version, s.silent = version, true
			s.begin(settings())
			s.talk("a")
			explained(t, prove(t, s.log, Selection{}))

			s.silent, s.rules.Version = false, 0
			s.end(true, settings())
			s.talk("a")
			explained(t, prove(t, s.log, Selection{}))
		})
	}
}

// TestProveHoldsALifeToItsRules finds what the version on record does not lead to.
func TestProveHoldsALifeToItsRules(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.begin(settings())
	s.rules.Version = session.RulesFirst
	s.talk("a")
	if p := prove(t, s.log, Selection{}); p.Holds() || p.Differences[0].Kind != events.KindAgentStopped {
		t.Errorf("got %s, want the stop told as a difference", shown(p.Differences))
	}
}

// TestProveFindsAMissingSummary: where the newest one was forgotten, a life by these rules asks for another.
func TestProveFindsAMissingSummary(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.begin(settings())
	s.rules.Version = session.RulesTalk // which reads less for a summary, and asks for none
	s.talk("a")
	p := prove(t, s.log, Selection{})
	if p.DifferenceCount() != 1 || p.Differences[0].Kind != events.KindReobserveRequested || p.Differences[0].Decision != ProvedForget {
		t.Errorf("got %s, want a request that is missing", shown(p.Differences))
	}
}

// talk is an answer with work, and one without, both observed; what sums the session up is forgotten.
func (s *script) talk(name string) {
	s.tb.Helper()
	s.capture(name, events.PromptSubmitted{Text: "Why does it fail?"})
	s.work(name, 2)
	s.stop(name)
	s.capture(name, events.PromptSubmitted{Text: "And why now?"})
	s.stop(name)
	for s.start(name) {
		if s.turns[name].TurnKind == events.TurnSummary {
			s.answer(name, summarized)
			continue
		}
		s.answer(name, observed)
	}
	s.forgetSummary(name)
	for s.start(name) {
		s.answer(name, summarized)
	}
}

// forgetSummary has a person forget the newest summary of a session.
func (s *script) forgetSummary(name string) {
	s.tb.Helper()
	var gone []events.Position
	for r, err := range s.log.Stream(s.tb.Context(), sessionOf(name).Stream(), 1) {
		if err != nil {
			s.tb.Fatal(err)
		}
		if r.Kind == events.KindSummaryParsed {
			gone = append(gone, r.Position)
		}
	}
	s.must(name, session.Forget{ID: s.id(), At: s.now, Forgotten: []events.MemoryForgotten{{Positions: gone[len(gone)-1:]}}})
}
