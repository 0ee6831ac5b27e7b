package replay

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/setting"
)

// TestWhateverIsDecidedIsProved plays random commands, answers, failures, crashes and lives with random settings over
// three sessions and a provider. Whatever session.Decide and the provider's circuit make of them, Prove finds again; the
// balance adds up; a recording can be taken of it; and today's grammar reads it as it was read a moment ago.
func TestWhateverIsDecidedIsProved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newScript(tbOf{t, rt})
		s.blaming = true
		s.life(randomSettings(rt))
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			s.randomStep(rt)
		}
		explained(s.tb, prove(s.tb, s.log, Selection{}))
		if a := s.mustAudit(); len(a.Discrepancies) > 0 {
			rt.Fatalf("the balance does not add up: %s", shown(a))
		}
		if r := s.reparse(Selection{}); r.Same != r.Outputs {
			rt.Fatalf("outputs are read otherwise: %s", shown(r))
		}
		s.recordingHolds(rt)
	})
}

// tbOf sends failures to rapid, so that it shrinks them, and all else to the test.
type tbOf struct {
	*testing.T
	rt *rapid.T
}

func (t tbOf) Fatalf(format string, args ...any) { t.rt.Fatalf(format, args...) }
func (t tbOf) Fatal(args ...any)                 { t.rt.Fatal(args...) }
func (t tbOf) Helper()                           {}

// life begins a life under settings, and has the script go by them.
func (s *script) life(settings map[string]string) {
	s.begin(settings)
	s.goBy(settings)
}

func (s *script) goBy(settings map[string]string) {
	v, _ := setting.Read(settings)
	s.rules, s.wait, s.slots = v.Rules(), v.Pause, v.Slots
	s.rules.Batch = policy.BatchLimits{MaxInputs: 3}
}

func randomSettings(rt *rapid.T) map[string]string {
	out := map[string]string{"slots": "2"} // never none: the settings are on record
	choices := map[string][]string{
		"policy": {"otp-hold", "supervised"}, "max_attempts": {"1", "2", "3"}, "max_restarts": {"1", "3", "10"},
		"restart_window": {"1s", "1m", "1h"}, "max_consecutive": {"1", "5"}, "restart_delay": {"1ms", "500ms"},
		"restart_delay_max": {"1ms", "30s"}, "quarantine_first": {"1s", "1m"}, "quarantine_max": {"2s", "1h"},
		"pause_first": {"1s", "1m"}, "pause_max": {"1s", "30m"}, "idle_stop": {"1m", "30m"}, "session_silence": {"2m", "24h"},
		"held_max_age": {"1h", "336h"}, "held_max_inputs": {"2", "10000"},
	}
	for _, key := range slices.Sorted(maps.Keys(choices)) {
		if rapid.Bool().Draw(rt, key) {
			out[key] = rapid.SampledFrom(choices[key]).Draw(rt, key)
		}
	}
	return out
}

func (s *script) randomStep(rt *rapid.T) {
	s.later(rapid.SampledFrom([]time.Duration{
		0, time.Millisecond, time.Second, time.Minute, 31 * time.Minute, 25 * time.Hour,
	}).Draw(rt, "later"))
	name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "session")
	switch rapid.IntRange(0, 14).Draw(rt, "what") {
	case 0, 1, 2:
		s.work(name, rapid.IntRange(1, 4).Draw(rt, "work"))
	case 3:
		s.stop(name)
	case 4:
		s.declare(name, rapid.SampledFrom([]events.Event{
			events.PromptSubmitted{}, events.PromptSubmitted{Private: true}, events.ContextCompacted{Summary: "s"}, events.SessionClosed{Cause: "exit"},
			events.SessionOpened{Source: "resume"}, events.ContextInjected{}, events.ToolUsed{Tool: "Edit", Failed: true, Refused: true},
		}).Draw(rt, "captured"))
	case 5:
		if rapid.Bool().Draw(rt, "ingested") {
			s.must(name, session.Settle{ID: s.id(), At: s.now, Last: s.now.Add(-rapid.SampledFrom([]time.Duration{0, 2 * time.Minute, time.Hour}).Draw(rt, "last"))})
			return
		}
		s.must(name, session.Tick{ID: s.id(), At: s.now})
	case 6:
		s.randomLife(rt)
	case 7:
		_ = s.do(name, session.Release{ID: s.id(), At: s.now}) // refused where there is nothing to release
		s.reobserveSome(rt, name)
	case 8:
		s.expire(name)
	default:
		s.randomTurn(rt, name)
	}
}

// randomLife ends the daemon's life, in order or not, and begins another under other settings.
func (s *script) randomLife(rt *rapid.T) {
	for _, name := range slices.Sorted(maps.Keys(s.turns)) {
		if rapid.Bool().Draw(rt, "pause lost") {
			s.failUnruled(name, events.FailServer, 0)
		}
	}
	next := randomSettings(rt)
	clean := rapid.Bool().Draw(rt, "clean")
	if clean {
		s.appendEnd(events.Daemon, events.DaemonStopped{Clean: true})
	}
	s.life(next)
	for _, name := range []string{"a", "b", "c"} {
		if _, ok := s.turns[name]; ok {
			s.must(name, session.Interrupt{ID: s.id(), At: s.now, Clean: clean})
			s.over(name)
		}
	}
}

func (s *script) reobserveSome(rt *rapid.T, name string) {
	var at []events.Position
	for r, err := range s.log.Stream(s.tb.Context(), sessionOf(name).Stream(), 1) {
		if err != nil {
			rt.Fatal(err)
		}
		if r.IsInput() && rapid.Bool().Draw(rt, "again") {
			at = append(at, r.Position)
		}
	}
	_ = s.do(name, session.Reobserve{ID: s.id(), At: s.now, Inputs: at}) // refused where there are none
}

// expire gives up what is held, as an actor would that waits for the provider.
func (s *script) expire(name string) {
	var held time.Time
	if s.pause.Paused() && s.now.Before(s.pause.Until) {
		held = s.held
	}
	s.must(name, session.Expire{ID: s.id(), At: s.now, Held: held})
}

func (s *script) randomTurn(rt *rapid.T, name string) {
	if _, flying := s.turns[name]; !flying {
		if len(s.turns) < s.slots {
			s.start(name)
		}
		return
	}
	switch rapid.IntRange(0, 2).Draw(rt, "end") {
	case 0:
		s.answer(name, rapid.SampledFrom([]string{
			observed, observed + observed, summarized, prose, "", `<skip_summary/>`, "<observation></observation>",
		}).Draw(rt, "output"))
	default:
		s.fail(name, rapid.SampledFrom([]events.FailureClass{
			events.FailCrash, events.FailCrash, events.FailLimit, events.FailAuth, events.FailRefused, events.FailOverflow,
			events.FailTruncated, "odd",
		}).Draw(rt, "class"), rapid.SampledFrom([]time.Duration{0, -time.Hour, time.Second, time.Hour, 1000 * time.Hour}).Draw(rt, "resets"))
	}
}

// recordingHolds checks what every recording must be: ascending, each input at most once, exits without inputs.
func (s *script) recordingHolds(rt *rapid.T) {
	rec := s.record(Wanted{Inputs: true})
	last, batch := int64(0), 0
	for _, e := range rec.Scenario.Events {
		if e.AtMS < last || e.Kind == KindExit && (e.Batch != 0 || !e.Output.IsZero()) || len(e.Inputs) != e.Batch {
			rt.Fatalf("event %s after %d ms", shown(e), last)
		}
		last, batch = e.AtMS, batch+e.Batch
	}
	if captured := s.mustAudit().Balance.Captured; batch > captured || last > rec.Scenario.EndMS {
		rt.Fatalf("%d inputs in batches, %d captured; the last event at %d of %d ms", batch, captured, last, rec.Scenario.EndMS)
	}
}
