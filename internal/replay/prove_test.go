package replay

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

func prove(tb testing.TB, log eventlog.Log, sel Selection) Proof {
	tb.Helper()
	p, err := Prove(log.All(tb.Context(), 1), sel, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// explained fails the test unless every decision of a log is proved.
func explained(tb testing.TB, p Proof) {
	tb.Helper()
	if checked, equal := p.Checked(); checked != equal || !p.Holds() || len(p.Unproven) > 0 {
		tb.Fatalf("%d decisions, %d of them explained; differences %s; unproven %s", checked, equal, shown(p.Differences), shown(p.Unproven))
	}
}

// settings are those of the script's lives in these tests.
func settings() map[string]string {
	return map[string]string{"max_attempts": "3", "max_restarts": "10", "restart_window": "1m", "slots": "2", "pause_first": "1m"}
}

// eventful is a log with every kind of decision in it but a fresh generation.
func eventful(tb testing.TB) *script {
	s := newScript(tb)
	s.begin(settings())
	s.capture("a", events.PromptSubmitted{Text: "make it so"})
	s.work("a", 5)
	s.stop("a")
	for range 3 { // restarts, and half the batch
		s.mustStart("a")
		s.fail("a", events.FailCrash, 0)
	}
	s.mustStart("a")
	s.answer("a", observed)
	s.mustStart("a")
	s.fail("a", events.FailLimit, 0)
	s.later(time.Minute)
	s.mustStart("a")
	s.fail("a", events.FailLimit, time.Hour)
	s.later(time.Hour)
	s.mustStart("a")
	s.answer("a", prose)
	s.mustStart("a")
	s.answer("a", summarized) // and the provider is resumed
	s.must("a", session.Reobserve{ID: s.id(), At: s.now, Inputs: []events.Position{4, 5}})
	s.mustStart("a")
	s.end(true, settings())
	s.mustStart("a")
	s.end(false, settings())
	for s.start("a") {
		s.answer("a", "")
	}
	s.quarantineB()
	s.declare("a", events.PromptSubmitted{Text: "and this. Always run the tests. Never push."})
	s.work("a", 1)
	s.later(31 * time.Minute)
	s.must("a", session.Tick{ID: s.id(), At: s.now})
	s.later(25 * time.Hour)
	s.must("a", session.Tick{ID: s.id(), At: s.now})
	s.capture("a", events.SessionOpened{Source: "resume"})
	s.work("a", 1)
	s.capture("a", events.ContextCompacted{Summary: "all that"})
	s.capture("a", events.SessionClosed{Cause: "exit"})
	s.work("c", 7)
	s.later(31 * time.Minute)
	s.must("c", session.Settle{ID: s.id(), At: s.now})
	return s
}

// quarantineB has the observer of session b crash until it is quarantined, probed, and released; and once more, until a
// person releases it.
func (s *script) quarantineB() {
	s.tb.Helper()
	s.work("b", 2)
	s.stop("b")
	crash := func() {
		for range 20 {
			if _, _, ok := s.state("b").Quarantined(); ok {
				return
			}
			if s.state("b").Balance().Pending == 0 {
				s.work("b", 1)
				s.stop("b")
			}
			s.mustStart("b")
			s.fail("b", events.FailCrash, 0)
		}
		s.tb.Fatal("no quarantine")
	}
	crash()
	s.mustStart("b")
	s.fail("b", events.FailCrash, 0)
	s.work("b", 1)
	s.stop("b")
	s.mustStart("b")
	s.answer("b", observed)
	crash()
	s.must("b", session.Expire{ID: s.id(), At: s.now.Add(100 * 24 * time.Hour)}) // not held: nothing
	s.must("b", session.Release{ID: s.id(), At: s.now})
}

func TestProve(t *testing.T) {
	t.Parallel()
	s := eventful(t)
	p := prove(t, s.log, Selection{})
	explained(t, p)
	seen := map[string]bool{}
	for _, c := range p.Decisions {
		seen[c.Decision] = c.Checked > 0
	}
	for _, want := range []string{
		ProvedTurn, ProvedAnswer, ProvedGrammar, ProvedFailure, ProvedInterruption, ProvedCapture, ProvedTick, ProvedReobserve,
		ProvedRelease, ProvedPause, ProvedResume,
	} {
		if !seen[want] {
			t.Errorf("no decision of kind %q was looked at: the log does not have one, or Prove does not see it", want)
		}
	}
}

// TestProveGoesByTheSettingsOfEachLife changes every limit from life to life.
func TestProveGoesByTheSettingsOfEachLife(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	life := func(settings map[string]string, rules session.Rules, pause policy.Backoff) {
		s.end(true, settings)
		s.rules, s.wait = rules, pause
		s.work("a", 3)
		s.stop("a")
		s.mustStart("a")
		s.fail("a", events.FailCrash, 0)
		s.mustStart("a")
		s.fail("a", events.FailServer, 0)
		s.later(time.Hour)
		for s.start("a") {
			s.answer("a", observed)
		}
	}
	standard := policy.Restarts{Max: 7, Window: 2 * time.Minute, MaxConsecutive: 3, Base: time.Millisecond, Cap: time.Second}
	s.begin(settings())
	life(map[string]string{
		"max_restarts": "7", "restart_window": "2m", "max_consecutive": "3", "restart_delay": "1ms", "restart_delay_max": "1s",
		"quarantine_first": "2s", "pause_first": "3s", "pause_max": "1m", "max_attempts": "1",
	}, session.Rules{Restarts: standard, Quarantine: policy.Backoff{First: 2 * time.Second, Cap: time.Hour}, MaxAttempts: 1},
		policy.Backoff{First: 3 * time.Second, Cap: time.Minute})
	life(map[string]string{"max_attempts": "2", "pause_max": "30s"}, session.Rules{MaxAttempts: 2}, policy.Backoff{First: time.Minute, Cap: 30 * time.Second})
	explained(t, prove(t, s.log, Selection{}))

	wrong := rewrite(t, s.log, func(_ events.Record, d *events.Draft) bool {
		if e, ok := d.Event.(events.DaemonStarted); ok && e.Settings["max_attempts"] == "1" {
			e.Settings["max_attempts"] = "none"
			d.Event = e
		}
		return true
	})
	p := prove(t, wrong, Selection{})
	if p.Holds() || !strings.Contains(p.Differences[0].Why, "could not be read") || !strings.Contains(p.Differences[0].Why, "max_attempts") {
		t.Errorf("a setting that cannot be read: got %s", shown(p.Differences))
	}
}

// TestProveWithoutSettings goes by the limits that decisions recorded themselves.
func TestProveWithoutSettings(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.rules.Restarts = policy.Restarts{Max: 2, Window: time.Hour, MaxConsecutive: 4}
	s.begin(nil)
	s.work("a", 3)
	s.stop("a")
	for range 3 {
		s.mustStart("a")
		s.fail("a", events.FailCrash, 0)
	}
	p := prove(t, s.log, Selection{})
	if checked, equal := p.Checked(); !p.Holds() || checked-equal != 3 || countOf(p, ProvedChoice).Unproven != 3 {
		t.Errorf("got %+v and %s, want all explained but whom the turns might be asked of", p.Decisions, shown(p.Differences))
	}
	s.rules.Quarantine = policy.Backoff{First: time.Second, Cap: time.Second}
	s.mustStart("a")
	s.fail("a", events.FailCrash, 0)
	p = prove(t, s.log, Selection{})
	if p.Holds() || !strings.Contains(p.Differences[0].Why, "not on record") {
		t.Errorf("got %s", shown(p.Differences))
	}
}

// TestProveSupervised has outputs earn fresh generations.
func TestProveSupervised(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.rules.Outputs = &policy.Unparseable{}
	s.begin(map[string]string{"policy": "supervised"})
	for range 60 {
		s.work("a", 1)
		s.stop("a")
		for s.start("a") {
			s.answer("a", prose)
		}
		s.later(20 * time.Second)
	}
	explained(t, prove(t, s.log, Selection{}))
	r, _ := nth[events.SessionRespawned](t, s.log, 2)
	without, _ := removal[events.SessionRespawned](2)(t, s.log)
	p := prove(t, without, Selection{})
	if p.Holds() || p.Differences[0].Kind != events.KindSessionRespawned || p.Differences[0].Position != r.Position-2 {
		t.Errorf("a fresh generation left out: got %s", shown(p.Differences))
	}
}

// TestProveOfAFixedProvider has outputs earn nothing, because another observer would say the same. The log does not say
// which provider is one, unless it is the one that comes with this program.
func TestProveOfAFixedProvider(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider string
		unproven bool
	}{{fixedProvider, false}, {"other", true}} {
		s := newScript(t)
		s.provider = c.provider
		s.rules.Outputs, s.rules.Batch.Fixed = &policy.Unparseable{}, true
		s.begin(map[string]string{"policy": "supervised"})
		for range 6 {
			s.work("a", 1)
			s.stop("a")
			for s.start("a") {
				s.answer("a", prose)
			}
		}
		p := prove(t, s.log, Selection{})
		if !p.Holds() || len(p.Unproven) > 0 != c.unproven {
			t.Errorf("%s: got %s, unproven %s", c.provider, shown(p.Differences), shown(p.Unproven))
		}
	}
}

// TestProveExpiry gives up what a pause and a quarantine held for too long.
func TestProveExpiry(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.rules.HeldMaxAge = 2 * time.Hour
	s.begin(map[string]string{"held_max_age": "2h"})
	s.work("a", 2)
	s.stop("a")
	s.mustStart("a")
	s.fail("a", events.FailLimit, 5*time.Hour)
	held := s.now
	s.later(3 * time.Hour)
	s.must("a", session.Expire{ID: s.id(), At: s.now, Held: held})
	if s.state("a").Balance().Dropped != 3 {
		t.Fatalf("nothing expired: %+v", s.state("a").Balance())
	}
	explained(t, prove(t, s.log, Selection{}))
	early, at := mutation(1, func(_ *events.InputsDropped, d *events.Draft) { d.OccurredAt = d.OccurredAt.Add(-90 * time.Minute) })(t, s.log)
	if p := prove(t, early, Selection{}); p.Holds() || p.Differences[0].Position != at || p.Differences[0].Decision != ProvedExpiry {
		t.Errorf("given up too early: got %s", shown(p.Differences))
	}
}

// TestProveOfErased tells what cannot be proved any more from what differs.
func TestProveOfErased(t *testing.T) {
	t.Parallel()
	told := []events.Kind{ // whose payload a decision cannot do without
		events.KindTurnStarted, events.KindTurnReceived, events.KindTurnFailed, events.KindPromptSubmitted, events.KindAgentStopped,
		events.KindReobserveRequested, events.KindProviderPaused, events.KindProviderResumed,
	}
	for _, kind := range []events.Kind{
		events.KindTurnStarted, events.KindTurnReceived, events.KindTurnFailed, events.KindObservationParsed, events.KindOutputDropped,
		events.KindInputsDropped, events.KindSessionRespawned, events.KindSessionQuarantined, events.KindProviderPaused,
		events.KindPromptSubmitted, events.KindAgentStopped, events.KindToolUsed, events.KindReobserveRequested, events.KindProviderResumed,
		events.KindPreferenceStated,
	} {
		s := eventful(t)
		for r := range s.log.All(t.Context(), 1) {
			if r.Kind == kind {
				if err := s.log.Erase(t.Context(), r.Position); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		p := prove(t, s.log, Selection{})
		if !p.Holds() {
			t.Errorf("%s erased: got differences %s", kind, shown(p.Differences))
		}
		if len(p.Unproven) == 0 && slices.Contains(told, kind) {
			t.Errorf("%s erased: nothing is unproven", kind)
		}
	}
}

// TestProveSelects reports what is selected, and folds what comes before.
func TestProveSelects(t *testing.T) {
	t.Parallel()
	s := eventful(t)
	all, _ := prove(t, s.log, Selection{}).Checked()
	quarantine, _ := nth[events.SessionQuarantined](t, s.log, 1)
	for name, sel := range map[string]Selection{
		"a session": {Sessions: []events.SessionID{sessionOf("b")}},
		"since":     {Since: quarantine.RecordedAt},
		"until":     {Until: quarantine.RecordedAt},
	} {
		p := prove(t, s.log, sel)
		explained(t, p)
		if some, _ := p.Checked(); some == 0 || some >= all {
			t.Errorf("%s: %d of %d decisions were looked at, want some", name, some, all)
		}
	}
	spoiled, at := mutation(1, func(e *events.SessionRespawned, _ *events.Draft) { e.Delay-- })(t, s.log)
	for name, c := range map[string]struct {
		sel  Selection
		want int
	}{
		"all":             {Selection{}, 1},
		"another session": {Selection{Sessions: []events.SessionID{sessionOf("b")}}, 0},
		"later":           {Selection{Since: quarantine.RecordedAt}, 0},
	} {
		if p := prove(t, spoiled, c.sel); len(p.Differences) != c.want || c.want > 0 && p.Differences[0].Position != at {
			t.Errorf("%s: got %s, want %d differences", name, shown(p.Differences), c.want)
		}
	}
}

// TestProveOfATail begins in the middle of a log: nothing is proved, and nothing differs.
func TestProveOfATail(t *testing.T) {
	t.Parallel()
	s := eventful(t)
	p, err := Prove(s.log.All(t.Context(), 12), Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Difference(nil), p.Differences); d != "" || len(p.Unproven) == 0 || p.First != 12 {
		t.Errorf("a tail from %d: %d unproven, differences %s", p.First, len(p.Unproven), d)
	}
}

// TestProveOfForgetting: what a person wants forgotten is a decision like others, the turn that it cuts too.
func TestProveOfForgetting(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.begin(settings())
	s.work("a", 3)
	s.stop("a")
	s.mustStart("a")
	state := s.state("a")
	if _, flying := state.InFlight(); !flying {
		t.Fatal("no turn is in flight")
	}
	first := s.firstOf(events.KindToolUsed)
	s.must("a", session.Forget{ID: s.id(), At: s.now, Forgotten: []events.MemoryForgotten{
		{Positions: []events.Position{first}, Cause: "person"}, {Positions: []events.Position{first + 1}, Cause: "person"},
	}})
	s.mustStart("a")
	s.answer("a", observed)
	p := prove(t, s.log, Selection{})
	explained(t, p)
	n := 0
	for _, d := range p.Decisions {
		if d.Decision == ProvedForget {
			n += d.Equal
		}
	}
	if n != 1 {
		t.Errorf("%d decisions to forget were found as recorded, want 1: %+v", n, p.Decisions)
	}
	if a := s.mustAudit(); a.Balance.Forgotten != 2 || len(a.Discrepancies) != 0 {
		t.Errorf("audit %+v", a)
	}
}
