package session

import (
	"slices"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// crash starts the turn that is due, waiting for it if it must, and lets the observer crash on it.
func (m *sim) crash() {
	m.tb.Helper()
	m.await()
	m.must(m.fail(m.start(), events.FailCrash))
}

// await lets time go on until a turn is due.
func (m *sim) await() {
	m.tb.Helper()
	for range 10 {
		p := m.plan()
		if p.Turn != nil {
			return
		}
		if p.Next.IsZero() {
			break
		}
		m.now = p.Next
	}
	m.tb.Fatalf("no turn becomes due: %+v", m.plan())
}

func TestCrashesInARowQuarantine(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 20)
	for n := 1; n <= 5; n++ {
		m.crash()
		r, ok := lastOf[events.SessionRespawned](m)
		if !ok || r.To != n || r.Counted.Consecutive != n {
			t.Fatalf("crash %d: got %+v, want generation %d", n, r, n)
		}
		nominal := 500 * time.Millisecond << (n - 1)
		if low, high := nominal*8/10, nominal*12/10; r.Delay < low || r.Delay > high {
			t.Errorf("crash %d: delay %v is not within 20%% of %v", n, r.Delay, nominal)
		}
	}
	m.crash()
	q, ok := lastOf[events.SessionQuarantined](m)
	if !ok || q.Cause != policy.TripConsecutive || q.Trip != 1 || q.Until != m.now.Add(time.Minute) {
		t.Fatalf("the sixth: got %+v, want a quarantine of a minute", q)
	}
	if m.state.Generation() != 6 {
		t.Errorf("generation %d, want 6", m.state.Generation())
	}
	if p := m.plan(); p.Turn != nil || p.Next != q.Until {
		t.Errorf("in quarantine: %+v, want to be asked at its end", p)
	}
}

func TestSlowCrashesTripTheConsecutiveCap(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 20)
	for range 6 {
		m.now = m.now.Add(8 * time.Second)
		m.crash()
	}
	if q, ok := lastOf[events.SessionQuarantined](m); !ok || q.Cause != policy.TripConsecutive {
		t.Errorf("a crash every 8 s: got %+v, want a quarantine", q)
	}
}

func TestFastCrashesBetweenGoodTurnsTripTheWindow(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.rules.Restarts = policy.Restarts{Base: time.Millisecond, Cap: time.Millisecond}
	for n := 1; ; n++ {
		repeat(m, 20)
		m.crash()
		if q, ok := lastOf[events.SessionQuarantined](m); ok {
			if q.Cause != policy.TripIntensity || n != 11 {
				t.Errorf("crash %d: %+v, want the eleventh to trip the window", n, q)
			}
			return
		}
		m.await()
		m.must(m.keep(m.start()))
		if n > 20 {
			t.Fatal("never tripped")
		}
	}
}

func TestProbeReleasesOrDoubles(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 20)
	for range 6 {
		m.crash()
	}
	for trip := 2; trip <= 13; trip++ {
		m.await()
		if w := m.plan().Turn; !w.Probe || len(w.Settles) != 1 {
			t.Fatalf("the turn after a quarantine is no probe of one input: %+v", w)
		}
		m.crash()
		q, _ := lastOf[events.SessionQuarantined](m)
		if want := min(time.Hour, time.Minute<<(trip-1)); q.Trip != trip || q.Cause != policy.TripProbe || q.Until.Sub(m.now) != want {
			t.Errorf("failed probe: got %+v (%v), want trip %d and %v", q, q.Until.Sub(m.now), trip, want)
		}
	}
	m.await()
	m.must(m.drop(m.start(), events.ReasonNoXML))
	if r, ok := lastOf[events.SessionReleased](m); !ok || r.By != "probe" {
		t.Errorf("an answered probe: got %+v, want a release", r)
	}
	if _, _, ok := m.state.Quarantined(); ok {
		t.Error("still quarantined")
	}
}

// TestABrokenObserverCostsNoInput crashes on everything for days, and is mended then.
func TestABrokenObserverCostsNoInput(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 7)
	m.stop()
	for range 100 {
		m.await()
		m.crash()
	}
	if got := m.state.Balance(); got.Dropped != 0 || got.Pending != 8 {
		t.Fatalf("after a hundred crashes on everything: got %+v, want all pending", got)
	}
	for m.state.Owes() {
		m.await()
		m.must(m.keep(m.start()))
	}
	if got := m.state.Balance(); got.Observed != 8 {
		t.Errorf("after the mend: got %+v, want all observed", got)
	}
}

// TestALoneBadInputIsGivenUpOnceTheObserverAnsweredAnother has only an input that every turn crashes on, until there is
// another.
func TestALoneBadInputIsGivenUpOnceTheObserverAnsweredAnother(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 1)
	m.stop()
	bad := m.state.inputs[0].position
	for range 10 {
		m.await()
		if w := m.plan().Turn; w.Kind != events.TurnObservation {
			t.Fatalf("a summary was asked for before its work was observed: %+v", w)
		}
		m.crash()
	}
	if got := m.state.Balance(); got.Dropped != 0 {
		t.Fatalf("nothing shows that the input is at fault: got %+v", got)
	}
	repeat(m, 1)
	m.stop()
	m.settleAllBut(bad, events.FailCrash)
	if got := m.state.Balance(); got.Observed != 3 || got.Dropped != 1 || m.state.inputs[0].outcome != Dropped {
		t.Errorf("got %+v, want the bad input dropped and the rest observed", got)
	}
}

func TestAPersonReleases(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 20)
	if err := m.do(Release{ID: m.id(), At: m.now}); err == nil {
		t.Error("a free session was released")
	}
	for range 6 {
		m.crash()
	}
	m.must(Release{ID: m.id(), At: m.now})
	if w := m.plan().Turn; w == nil || w.Probe {
		t.Errorf("after a release: got %+v, want an ordinary turn", w)
	}
}

func TestRestartOfTheDaemonGrantsNoNewAttempts(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 20)
	for range 5 {
		m.await()
		m.start()
		m.state = m.fold() // the daemon died and came back
		m.must(Interrupt{ID: m.id(), At: m.now})
	}
	m.await()
	m.start()
	m.state = m.fold()
	m.must(Interrupt{ID: m.id(), At: m.now})
	if q, ok := lastOf[events.SessionQuarantined](m); !ok {
		t.Errorf("six daemons died of one turn: got %+v, want a quarantine", q)
	}
}

func TestACleanStopBlamesNobody(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 20)
	for range 20 {
		m.start()
		m.must(Interrupt{ID: m.id(), At: m.now, Clean: true})
	}
	if m.state.Generation() != 0 || m.plan().Turn == nil {
		t.Errorf("twenty clean stops: generation %d, plan %+v", m.state.Generation(), m.plan())
	}
	n := len(m.log)
	m.must(m.keep(m.start()))
	m.must(Interrupt{ID: m.id(), At: m.now})
	if got := len(m.log) - n; got != 3 {
		t.Errorf("an interrupt without a turn appended something: %v", m.kinds()[n:])
	}
}

// TestPoisonedBatchIsHalvedDownToTheBadInput lets every turn that holds the bad input crash the observer.
func TestPoisonedBatchIsHalvedDownToTheBadInput(t *testing.T) {
	t.Parallel()
	for _, class := range []events.FailureClass{events.FailCrash, events.FailRefused, events.FailOverflow, events.FailInterrupted} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			m := newSim(t, policy.ModelLimits())
			repeat(m, 20)
			bad := m.state.inputs[13].position
			m.settleAllBut(bad, class)
			d, ok := lastOf[events.InputsDropped](m)
			if !ok || len(d.Inputs) != 1 || d.Inputs[0] != bad {
				t.Fatalf("got %+v, want the bad input %d dropped alone", d, bad)
			}
			want := map[events.FailureClass]events.DropReason{
				events.FailRefused: events.DropRefused, events.FailOverflow: events.DropOverflow,
			}[class]
			if want == "" {
				want = events.DropPoison
			}
			if d.Reason != want {
				t.Errorf("reason %s, want %s", d.Reason, want)
			}
			if got := m.state.Balance(); got.Observed != 19 || got.Dropped != 1 {
				t.Errorf("got %+v, want 19 observed and 1 dropped", got)
			}
		})
	}
}

// settleAllBut answers every observation turn, except those that hold bad: they fail with class.
func (m *sim) settleAllBut(bad events.Position, class events.FailureClass) {
	m.tb.Helper()
	for n := 0; m.state.Owes(); n++ {
		if n > 500 {
			m.tb.Fatalf("still owing after 500 turns: %+v", m.plan())
		}
		m.await()
		w := *m.plan().Turn
		turn := m.start()
		poisoned := false
		for _, p := range w.Settles {
			poisoned = poisoned || p == bad
		}
		if poisoned {
			m.must(m.fail(turn, class))
			continue
		}
		m.must(m.keep(turn))
	}
}

// TestOneInputThatIsTooLongIsAskedWithLess: halving has left one input. It is asked again alone with ever less, and then
// dropped by name; what is captured meanwhile is not put beside it.
func TestOneInputThatIsTooLongIsAskedWithLess(t *testing.T) {
	t.Parallel()
	for _, class := range []events.FailureClass{events.FailOverflow, events.FailTruncated} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			m := newSim(t, policy.ModelLimits())
			repeat(m, 2)
			m.stop()
			bad := m.state.inputs[0].position
			m.must(m.fail(m.start(), class))
			if f, _ := lastOf[events.TurnFailed](m); f.Halved != 1 {
				t.Fatalf("two inputs that were too long: halved to %d, want 1", f.Halved)
			}
			for n := range 3 {
				w := m.plan().Turn
				if w == nil || len(w.Settles) != 1 || w.Settles[0] != bad || w.Cuts != n || w.Attempt != n+1 {
					t.Fatalf("try %d alone: got %+v, want attempt %d with %d cuts", n+1, w, n+1, n)
				}
				m.must(m.fail(m.start(), class))
				m.answerOthers(bad)
				repeat(m, 1)
				m.stop()
				m.answerOthers(bad)
			}
			if d, _ := lastOf[events.InputsDropped](m); len(d.Inputs) != 1 || d.Inputs[0] != bad || d.Reason != events.DropOverflow {
				t.Errorf("got %+v, want input %d dropped as too long", d, bad)
			}
			repeat(m, 1)
			m.stop()
			if w := m.plan().Turn; w == nil || w.Cuts != 0 {
				t.Errorf("the next: %+v, want it asked whole", w)
			}
			m.answerOthers(bad)
			m.must(Reobserve{ID: m.id(), At: m.now, Inputs: []events.Position{bad}})
			if w := m.plan().Turn; w == nil || w.Settles[0] != bad || w.Cuts != 0 || w.Attempt != 1 {
				t.Errorf("asked again by a person: %+v, want a first attempt", w)
			}
		})
	}
}

// answerOthers answers what goes before the turn over the input at bad.
func (m *sim) answerOthers(bad events.Position) {
	m.tb.Helper()
	for w := m.plan().Turn; w != nil && !slices.Contains(w.Settles, bad); w = m.plan().Turn {
		m.must(m.keep(m.start()))
	}
}

// TestASingleInputThatWasTooLongStaysAlone: it was alone from the beginning, and more is captured before it is tried again.
func TestASingleInputThatWasTooLongStaysAlone(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.tool("a")
	m.now = m.now.Add(5 * time.Minute)
	m.must(m.fail(m.start(), events.FailOverflow))
	repeat(m, 5)
	m.stop()
	if w := m.plan().Turn; w == nil || len(w.Settles) != 5 || w.Cuts != 0 {
		t.Errorf("got %+v, want the five others first, whole", w)
	}
	m.must(m.keep(m.start()))
	if w := m.plan().Turn; w == nil || len(w.Settles) != 1 || w.Cuts != 1 {
		t.Errorf("got %+v, want the one input with less", w)
	}
}

func TestProviderFailuresHoldAndCountNothing(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 20)
	for range 30 {
		m.must(m.fail(m.start(), events.FailOverload))
	}
	m.must(m.fail(m.start(), "a class of the future"))
	if f, _ := lastOf[events.TurnFailed](m); f.Class != events.FailUnknown {
		t.Errorf("an unknown class became %q, want unknown: one that holds", f.Class)
	}
	if w := m.plan().Turn; w == nil || w.Attempt != 1 || len(w.Settles) != 20 || m.state.Generation() != 0 {
		t.Errorf("after 31 provider failures: %+v, generation %d; want the same 20 inputs, first attempt", w, m.state.Generation())
	}
}

// TestDecisionsComeFromWhatIsRecordedOfATime: times that the running clock was read for lose that reading.
func TestDecisionsComeFromWhatIsRecordedOfATime(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.plain = true
	m.now = time.Now()
	repeat(m, 20)
	for range 6 {
		m.now = m.now.Add(time.Minute)
		m.must(m.fail(m.start(), events.FailCrash))
	}
	q, ok := lastOf[events.SessionQuarantined](m)
	for name, at := range map[string]time.Time{"the end of a quarantine": q.Until, "a restart": m.state.resume, "its beginning": m.state.quarantine.since} {
		if !ok || at != at.Round(0) {
			t.Errorf("%s is %v, with the running clock in it", name, at)
		}
	}
}
