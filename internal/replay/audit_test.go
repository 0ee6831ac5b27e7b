package replay

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 4) // positions 2 to 5 behind the opening
	s.stop("a")    // 6
	s.mustStart("a")
	s.answer("a", observed)
	s.mustStart("a")
	s.answer("a", `<skip_summary reason="nothing"/>`)
	s.work("b", 3)
	s.stop("b")
	s.mustStart("b")
	s.answer("b", prose)
	s.append("a", events.Draft{ID: s.id(), OccurredAt: s.now, Event: events.MemoryForgotten{Positions: []events.Position{3}}})
	got := s.mustAudit()
	want := map[events.SessionID]session.Balance{
		sessionOf("a"): {Captured: 5, Observed: 3, Skipped: 1, Forgotten: 1},
		sessionOf("b"): {Captured: 4, Dropped: 3, Pending: 1},
	}
	if d := cmp.Diff(want, got.Sessions); d != "" {
		t.Errorf("sessions (-want +got):\n%s", d)
	}
	if want := (session.Balance{Captured: 9, Observed: 3, Skipped: 1, Dropped: 3, Pending: 1, Forgotten: 1}); got.Balance != want {
		t.Errorf("balance: got %+v, want %+v", got.Balance, want)
	}
	if len(got.Discrepancies) != 0 {
		t.Errorf("discrepancies in a good log: %+v", got.Discrepancies)
	}
}

func (s *script) mustAudit() Accounts {
	s.tb.Helper()
	a, err := Audit(s.tb.Context(), s.log.All(s.tb.Context(), 1))
	if err != nil {
		s.tb.Fatal(err)
	}
	return a
}

// TestAuditTakesTheLatestTurn observes inputs again: a later keep or skip decides, a later drop changes nothing.
func TestAuditTakesTheLatestTurn(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 2)
	s.stop("a")
	answers := []struct {
		output string
		want   session.Balance
	}{
		{prose, session.Balance{Captured: 3, Dropped: 2, Pending: 1}},
		{observed, session.Balance{Captured: 3, Observed: 2, Pending: 1}},
		{prose, session.Balance{Captured: 3, Observed: 2, Pending: 1}},
		{"", session.Balance{Captured: 3, Skipped: 2, Pending: 1}},
	}
	for i, a := range answers {
		if i > 0 {
			s.must("a", session.Reobserve{ID: s.id(), At: s.now, Inputs: []events.Position{2, 3}})
		}
		s.mustStart("a")
		s.answer("a", a.output)
		got := s.mustAudit()
		if got.Balance != a.want || len(got.Discrepancies) != 0 {
			t.Errorf("after answer %d: got %+v %+v, want %+v", i, got.Balance, got.Discrepancies, a.want)
		}
	}
}

// TestAuditFindsWhatDoesNotAddUp plants events that no decision makes.
func TestAuditFindsWhatDoesNotAddUp(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 2)
	s.work("b", 1)
	for n, p := range []events.Position{2, 3} { // two turns at once: the fold knows the later one alone
		turn := events.ID{byte(n + 1)}
		s.append("a", events.Draft{ID: s.id(), OccurredAt: s.now, Correlation: turn, Event: events.TurnStarted{
			Turn: turn, TurnKind: events.TurnObservation, Settles: []events.Position{p},
		}})
	}
	s.append("a", events.Draft{ID: s.id(), OccurredAt: s.now, Correlation: events.ID{1}, Event: events.OutputSkipped{Turn: events.ID{1}}})
	s.append("b", events.Draft{ID: s.id(), OccurredAt: s.now, Event: events.InputsDropped{Inputs: []events.Position{3, 999}, Reason: events.DropPoison}})
	got := s.mustAudit()
	want := []Discrepancy{
		{
			Session: sessionOf("a"), Problem: "the session's fold counts otherwise than the definition",
			Defined: session.Balance{Captured: 2, Pending: 1, Skipped: 1}, Folded: session.Balance{Captured: 2, Pending: 2},
		},
		{Session: sessionOf("b"), Position: 9, Problem: "inputs_dropped settles 3, which is no input of the session"},
		{Session: sessionOf("b"), Position: 9, Problem: "inputs_dropped settles 999, which is no input of the session"},
	}
	if d := cmp.Diff(want, got.Discrepancies); d != "" {
		t.Errorf("discrepancies (-want +got):\n%s", d)
	}
}

// TestAnInputIsForgottenByItsOwnSessionAlone: what another stream says of it changes no outcome.
func TestAnInputIsForgottenByItsOwnSessionAlone(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 2) // positions 2 and 3
	s.work("b", 1)
	forget := events.MemoryForgotten{Positions: []events.Position{1, 2, 999}} // the opening is no input, and 999 is nothing
	s.append("b", events.Draft{ID: s.id(), OccurredAt: s.now, Event: forget})
	s.appendEnd(events.Daemon, forget)
	s.appendEnd(events.ProviderStream(s.provider), forget)
	got := s.mustAudit()
	if want := (session.Balance{Captured: 3, Pending: 3}); got.Balance != want || len(got.Discrepancies) != 0 {
		t.Errorf("in other streams: got %+v, %+v, want %+v", got.Balance, got.Discrepancies, want)
	}
	s.append("a", events.Draft{ID: s.id(), OccurredAt: s.now, Event: forget})
	got = s.mustAudit()
	if want := (session.Balance{Captured: 3, Pending: 2, Forgotten: 1}); got.Balance != want || len(got.Discrepancies) != 0 {
		t.Errorf("in its own: got %+v, %+v, want %+v", got.Balance, got.Discrepancies, want)
	}
}

func TestAuditListsSoMany(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 1)
	strays := make([]events.Position, MaxListed+5)
	for i := range strays {
		strays[i] = 1_000_000
	}
	s.append("a", events.Draft{ID: s.id(), OccurredAt: s.now, Event: events.InputsDropped{Inputs: strays, Reason: events.DropPoison}})
	if got := s.mustAudit(); len(got.Discrepancies) != MaxListed || got.More != 5 {
		t.Errorf("got %d listed and %d more, want %d and 5", len(got.Discrepancies), got.More, MaxListed)
	}
}

func TestAuditEnds(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.later(time.Hour)
	s.work("a", 1100)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Audit(ctx, s.log.All(t.Context(), 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("under a context that is done: got %v", err)
	}
	if _, err := Audit(t.Context(), s.log.All(ctx, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("an error of the sequence: got %v", err)
	}
}

// TestAuditOfErased counts what cannot be known any more, and the fold does not know it either.
func TestAuditOfErased(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 2)
	s.stop("a")
	s.mustStart("a") // position 5
	s.answer("a", observed)
	if err := s.log.Erase(t.Context(), 5, 2); err != nil {
		t.Fatal(err)
	}
	got := s.mustAudit()
	if want := (session.Balance{Captured: 3, Pending: 3}); got.Balance != want || got.Erased != 1 || len(got.Discrepancies) != 0 {
		t.Errorf("got %+v, %d erased, %+v; want %+v, 1 erased", got.Balance, got.Erased, got.Discrepancies, want)
	}
}

// TestAuditOfForgettingWhatIsNoInput has a session forget what has no outcome: a turn, what is before the first record,
// what is behind the last.
func TestAuditOfForgettingWhatIsNoInput(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 2) // behind the opening
	s.stop("a")
	s.mustStart("a") // 5
	s.append("a", events.Draft{ID: s.id(), OccurredAt: s.now, Event: events.MemoryForgotten{Positions: []events.Position{0, 1, 5, 6, 99}}})
	got := s.mustAudit()
	if want := (session.Balance{Captured: 3, Pending: 3}); got.Balance != want || len(got.Discrepancies) != 0 {
		t.Errorf("got %+v %+v, want %+v", got.Balance, got.Discrepancies, want)
	}
}

// TestAuditCountsWhatIsErased counts payloads that say what a turn or a ruling was about, and no others.
func TestAuditCountsWhatIsErased(t *testing.T) {
	t.Parallel()
	for kind, want := range map[events.Kind]int{
		events.KindSessionOpened: 0, events.KindToolUsed: 0, events.KindTurnStarted: 1, events.KindTurnFailed: 1,
	} {
		s := newScript(t)
		s.work("a", 1)
		s.stop("a")
		s.mustStart("a")
		s.fail("a", events.FailCrash, 0)
		if err := s.log.Erase(t.Context(), s.firstOf(kind)); err != nil {
			t.Fatal(err)
		}
		if got := s.mustAudit(); got.Erased != want {
			t.Errorf("%s: %d are erased, want %d", kind, got.Erased, want)
		}
	}
}

// TestAuditOfLost: whichever record of a log is lost, in a stream or in none, or has nothing but its header, what is left adds up.
func TestAuditOfLost(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.work("a", 3)
	s.stop("a")
	s.mustStart("a")
	s.answer("a", observed)
	s.mustStart("a")
	s.answer("a", prose)
	s.append("a", events.Draft{ID: s.id(), OccurredAt: s.now, Event: events.MemoryForgotten{Positions: []events.Position{3}}})
	last, err := s.log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	codec := events.NewCodec()
	for how, lose := range map[string]func(y *eventlog.Relay, r events.Record) (events.Record, error){
		"lost":           func(y *eventlog.Relay, r events.Record) (events.Record, error) { return y.Lost(r.Stream, r.Version) },
		"lost somewhere": func(y *eventlog.Relay, r events.Record) (events.Record, error) { return y.Lost(events.Lost, 0) },
		"unread": func(y *eventlog.Relay, r events.Record) (events.Record, error) {
			r, _ = y.Add(r.Erase())
			return r, nil
		},
	} {
		for at := events.Position(1); at <= last; at++ {
			relay := eventlog.NewRelay(codec)
			got, err := Audit(t.Context(), func(yield func(events.Record, error) bool) {
				for r, err := range s.log.All(t.Context(), 1) {
					if err == nil && r.Position == at {
						r, err = lose(relay, r)
					} else {
						r, _ = relay.Add(r)
					}
					if !yield(r, err) {
						return
					}
				}
			})
			if err != nil || len(got.Discrepancies) > 0 {
				t.Errorf("%s at %d: %v, %+v", how, at, err, got.Discrepancies)
			}
		}
	}
}
