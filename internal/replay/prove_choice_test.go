package replay

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// asks begins the turn of a session that is due by a provider, whatever its state.
func (s *script) asks(provider, session string) {
	s.tb.Helper()
	was := s.provider
	s.provider = provider
	s.startBehind(session)
	s.provider = was
}

// requests has a person ask for the first input of a session again, of a provider or of whoever it may be.
func (s *script) requests(provider, name string) {
	s.tb.Helper()
	var inputs []events.Position
	for r, err := range s.log.Stream(s.tb.Context(), sessionOf(name).Stream(), 0) {
		if err != nil {
			s.tb.Fatal(err)
		}
		if r.IsInput() {
			inputs = append(inputs, r.Position)
		}
	}
	s.must(name, session.Reobserve{ID: s.id(), At: s.now, Inputs: inputs, Provider: provider})
}

// TestProveOfChoices plants turns of providers that might not be asked, and of some that might. Session a's first turn failed, so
// that the provider is paused for a minute; a fallback stands behind it.
func TestProveOfChoices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings map[string]string
		play     func(s *script)
		decision string // of the one difference; empty: none
		why      string
		unproven int
	}{
		"of a provider that was paused": {nil, func(s *script) { s.startBehind("b"); s.startBehind("c") }, ProvedTurn, "paused until", 0},
		"of none of the candidates":     {nil, func(s *script) { s.asks("another", "b") }, ProvedChoice, "none that might be asked", 0},
		"of the fallback while the first was free": {nil, func(s *script) {
			s.rule(events.ProviderResumed{By: "person"})
			s.later(2 * time.Minute)
			s.asks("second", "b")
		}, ProvedChoice, "scripted free, second free", 0},
		"past the budget of its session": {map[string]string{policy.LimitTokensSession: "1000"}, func(s *script) {
			s.asks("second", "b")
			s.answer("b", observed)
			s.asks("second", "b")
		}, ProvedChoice, "had used 1540 tokens", 0},
		"a probe beside another one": {nil, func(s *script) {
			s.later(time.Minute)
			for _, name := range []string{"b", "c", "d"} {
				s.asks("scripted", name)
			}
		}, ProvedTurn, "probed by another turn", 0},

		"of the fallback while the first rests":     {nil, func(s *script) { s.asks("second", "b"); s.asks("second", "c") }, "", "", 0},
		"of the fallback while the first is probed": {nil, func(s *script) { s.later(time.Hour); s.asks("scripted", "b"); s.asks("second", "c") }, "", "", 0},
		"of the fallback, granted before the first was well": {nil, func(s *script) {
			s.rule(events.ProviderResumed{By: "person"})
			s.later(time.Second)
			s.asks("second", "b")
		}, "", "", 0},
		"of the trivial tier":          {map[string]string{"trivial_provider": "small"}, func(s *script) { s.asks("small", "b") }, "", "", 0},
		"of the tier of other turns":   {map[string]string{"summary_provider": "small"}, func(s *script) { s.asks("small", "b") }, ProvedChoice, "none that might be asked", 0},
		"of the free one, past it all": {map[string]string{"fallbacks": "extractive", policy.LimitTokensSession: "1"}, func(s *script) { s.asks("extractive", "b") }, "", "", 0},
		"under the budget of a day":    {map[string]string{policy.LimitTokensDay: "1000"}, func(s *script) { s.later(time.Minute); s.asks("scripted", "b") }, "", "", 0},
		"perhaps past that of a day": {map[string]string{policy.LimitTokensDay: "1000"}, func(s *script) {
			s.later(time.Minute)
			s.asks("scripted", "b")
			s.answer("b", observed)
			s.later(2 * time.Minute)
			s.asks("scripted", "b")
		}, "", "", 1},
		"past that of a day beside another turn": {map[string]string{policy.LimitTokensDay: "1000"}, func(s *script) {
			s.later(time.Minute)
			s.asks("scripted", "b")
			s.answer("b", observed)
			s.asks("scripted", "b")
		}, "", "", 0},
		"of one that a person named till a moment ago": {nil, func(s *script) {
			s.rule(events.ProviderResumed{By: "person"})
			s.requests("second", "b")
			s.later(2 * time.Minute)
			s.requests("", "b")
			s.later(time.Second)
			s.asks("second", "b")
		}, "", "", 1},
		"of one that a person named till long ago": {nil, func(s *script) {
			s.rule(events.ProviderResumed{By: "person"})
			s.requests("second", "b")
			s.requests("", "b")
			s.later(2 * time.Minute)
			s.asks("second", "b")
		}, ProvedChoice, "scripted free, second free", 0},
		"of the fallback, after a summary was forgotten": {nil, func(s *script) {
			s.later(2 * time.Minute)
			for s.start("b") {
				if s.turns["b"].TurnKind == events.TurnSummary {
					s.answer("b", summarized)
					continue
				}
				s.answer("b", observed)
			}
			s.later(time.Hour)
			s.forgetSummary("b")
			s.asks("second", "b")
		}, ProvedChoice, "scripted free, second free", 0},
		"under a budget in money": {map[string]string{policy.LimitUSDDay: "1.00"}, func(s *script) { s.later(time.Minute); s.asks("scripted", "b") }, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t)
			with := settings()
			with["fallbacks"] = "second"
			maps.Copy(with, c.settings)
			s.begin(with)
			for _, session := range []string{"a", "b", "c", "d"} {
				s.work(session, 2)
				s.stop(session)
			}
			s.mustStart("a")
			s.later(time.Second)
			s.fail("a", events.FailServer, 0)
			c.play(s)
			p := prove(t, s.log, Selection{})
			if got := countOf(p, ProvedChoice); got.Unproven != c.unproven || len(p.Unproven) != c.unproven {
				t.Errorf("got %+v and %s, want %d unproven", got, shown(p.Unproven), c.unproven)
			}
			switch {
			case c.decision == "" && p.Holds():
			case len(p.Differences) != 1 || p.Differences[0].Decision != c.decision || !strings.Contains(p.Differences[0].Why, c.why):
				t.Errorf("got %s, want one of a %q, because %q", shown(p.Differences), c.decision, c.why)
			}
		})
	}
}
