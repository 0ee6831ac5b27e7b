package replay

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// rewrite returns the script's log with records changed: change returns what stands in a record's place, or nothing.
// Positions after a record that is left out move; those that events name do not, so leave out what nothing names.
func rewrite(tb testing.TB, from eventlog.Log, change func(r events.Record, d *events.Draft) bool) *eventlog.Bolt {
	tb.Helper()
	var now time.Time
	to := logtest.Open(tb, eventlog.Config{Now: func() time.Time { return now }})
	for r, err := range from.All(tb.Context(), 1) {
		if err != nil {
			tb.Fatal(err)
		}
		e, err := r.Event()
		if err != nil {
			tb.Fatal(err)
		}
		d := events.Draft{
			ID: r.ID, Key: r.Key, OccurredAt: r.OccurredAt, Causation: r.Causation, Correlation: r.Correlation,
			Unobserved: r.Unobserved, Event: e,
		}
		if now = r.RecordedAt; !change(r, &d) { // something of no consequence, so that positions stay
			d = events.Draft{ID: events.ID{1}, OccurredAt: r.OccurredAt, Event: events.MemorySuperseded{}}
		}
		if _, err := eventlog.AppendEnd(tb.Context(), to, r.Stream, d); err != nil {
			tb.Fatal(err)
		}
	}
	return to
}

// nth returns the nth event of type E in a log, counted from 1, and its record.
func nth[E events.Event](tb testing.TB, log eventlog.Log, n int) (events.Record, E) {
	tb.Helper()
	return find(tb, log, func(E) bool { n--; return n == 0 })
}

func find[E events.Event](tb testing.TB, log eventlog.Log, match func(E) bool) (events.Record, E) {
	tb.Helper()
	for r, err := range log.All(tb.Context(), 1) {
		if err != nil {
			tb.Fatal(err)
		}
		e, err := r.Event()
		if err != nil {
			tb.Fatal(err)
		}
		if e, ok := e.(E); ok && match(e) {
			return r, e
		}
	}
	var none E
	tb.Fatalf("no such %T", none)
	return events.Record{}, none
}

func isSettled(e events.AgentStopped) bool { return isIdle(e) && e.Work == 7 }

func isIdle(e events.AgentStopped) bool { return e.Cause == events.StopIdle }

// mutation changes the nth event of type E, in a copy of the log.
func mutation[E events.Event](n int, change func(*E, *events.Draft)) func(tb testing.TB, log eventlog.Log) (*eventlog.Bolt, events.Position) {
	return where(func(E) bool { n--; return n == 0 }, change)
}

// where changes the first event that matches.
func where[E events.Event](match func(E) bool, change func(*E, *events.Draft)) func(tb testing.TB, log eventlog.Log) (*eventlog.Bolt, events.Position) {
	return func(tb testing.TB, log eventlog.Log) (*eventlog.Bolt, events.Position) {
		at, e := find(tb, log, match)
		return rewrite(tb, log, func(r events.Record, d *events.Draft) bool {
			if r.Position == at.Position {
				d.Event = nil
				change(&e, d)
				if d.Event == nil {
					d.Event = e
				}
			}
			return true
		}), at.Position
	}
}

// started changes the nth turn's beginning.
func started(n int, change func(*events.TurnStarted)) func(tb testing.TB, log eventlog.Log) (*eventlog.Bolt, events.Position) {
	return mutation(n, func(e *events.TurnStarted, _ *events.Draft) { change(e) })
}

// probe changes the beginning of the first probe of a quarantine.
func probe(change func(*events.TurnStarted)) func(tb testing.TB, log eventlog.Log) (*eventlog.Bolt, events.Position) {
	return where(func(e events.TurnStarted) bool { return e.Probe }, func(e *events.TurnStarted, _ *events.Draft) { change(e) })
}

// removal leaves the nth event of type E out.
func removal[E events.Event](n int) func(tb testing.TB, log eventlog.Log) (*eventlog.Bolt, events.Position) {
	return func(tb testing.TB, log eventlog.Log) (*eventlog.Bolt, events.Position) {
		at, _ := nth[E](tb, log, n)
		return rewrite(tb, log, func(r events.Record, _ *events.Draft) bool { return r.Position != at.Position }), at.Position
	}
}

// TestProveFindsEveryChange spoils a good log in one place at a time: the first difference is there.
func TestProveFindsEveryChange(t *testing.T) {
	t.Parallel()
	type change = func(tb testing.TB, log eventlog.Log) (*eventlog.Bolt, events.Position)
	for name, test := range map[string]struct {
		change   change
		back     int // how far before the change its decision begins
		decision string
		why      string // of the difference, or of the refusal of what is recorded
	}{
		"another delay": {mutation(1, func(e *events.SessionRespawned, _ *events.Draft) { e.Delay++ }), 0, ProvedFailure, "nothing on record"},
		"another limit": {mutation(2, func(e *events.SessionRespawned, _ *events.Draft) { e.Limits.MaxRestarts = 11 }), 0, ProvedFailure,
			"the limits recorded are not those of that life's settings"},
		"another count":       {mutation(2, func(e *events.SessionRespawned, _ *events.Draft) { e.Counted.InWindow++ }), 0, ProvedFailure, ""},
		"another generation":  {mutation(1, func(e *events.SessionRespawned, _ *events.Draft) { e.To = 7 }), 0, ProvedFailure, ""},
		"a longer quarantine": {mutation(1, func(e *events.SessionQuarantined, _ *events.Draft) { e.Until = e.Until.Add(1) }), 0, ProvedFailure, ""},
		"another trip":        {mutation(2, func(e *events.SessionQuarantined, _ *events.Draft) { e.Trip = 1 }), 0, ProvedFailure, ""},
		"another half":        {mutation(3, func(e *events.TurnFailed, _ *events.Draft) { e.Halved = 2 }), 0, ProvedFailure, ""},
		"another class":       {mutation(3, func(e *events.TurnFailed, _ *events.Draft) { e.Class = events.FailServer }), 0, ProvedFailure, ""},
		"a class made up":     {mutation(1, func(e *events.TurnFailed, _ *events.Draft) { e.Class = "odd" }), 0, ProvedFailure, ""},
		"a clean end":         {mutation(7, func(e *events.TurnFailed, _ *events.Draft) { e.Clean = true }), 0, ProvedInterruption, ""},
		"a restart left out":  {removal[events.SessionRespawned](1), 1, ProvedFailure, ""},
		"a drop left out":     {removal[events.InputsDropped](1), 1, ProvedFailure, ""},
		"a failure left out":  {removal[events.TurnFailed](1), -1, ProvedUnexplained, "no decision"},
		"a release left out":  {removal[events.SessionReleased](1), 2, ProvedAnswer, ""},
		"a release too early": {mutation(1, func(e *events.SessionReleased, _ *events.Draft) { e.By = "person" }), 0, ProvedAnswer, ""},
		"a turn too early": {mutation(2, func(_ *events.TurnStarted, d *events.Draft) {
			d.OccurredAt = d.OccurredAt.Add(-400 * time.Millisecond)
		}), 0, ProvedTurn, ""},
		"a turn for something else":    {started(1, func(e *events.TurnStarted) { e.Settles = e.Settles[1:] }), 0, ProvedTurn, "not due"},
		"a turn in another order":      {started(1, func(e *events.TurnStarted) { slices.Reverse(e.Settles) }), 0, ProvedTurn, "not due"},
		"a turn with a hole":           {started(1, func(e *events.TurnStarted) { e.Settles = slices.Delete(e.Settles, 1, 2) }), 0, ProvedTurn, "not due"},
		"a turn with the stop":         {started(1, func(e *events.TurnStarted) { e.Settles = append(e.Settles, e.Reads...) }), 0, ProvedTurn, "not due"},
		"more than the half":           {started(4, func(e *events.TurnStarted) { e.Settles = append(e.Settles, e.Settles[2]+1) }), 0, ProvedTurn, "not due"},
		"a turn of another kind":       {started(1, func(e *events.TurnStarted) { e.TurnKind = events.TurnSummary }), 0, ProvedTurn, "summary turn, not observation"},
		"a turn without its stop":      {started(1, func(e *events.TurnStarted) { e.Reads = nil }), 0, ProvedTurn, "reads []"},
		"a turn that reads more":       {started(1, func(e *events.TurnStarted) { e.Reads = append(e.Reads, 2) }), 0, ProvedTurn, "reads"},
		"another attempt":              {started(2, func(e *events.TurnStarted) { e.Attempt = 99 }), 0, ProvedTurn, "attempt 99, not 2"},
		"a turn about another prompt":  {started(1, func(e *events.TurnStarted) { e.Prompt = 77 }), 0, ProvedTurn, "prompt 77, not 1"},
		"a probe of nothing":           {started(1, func(e *events.TurnStarted) { e.Probe = true }), 0, ProvedTurn, "probe true, not false"},
		"a probe that says it is none": {probe(func(e *events.TurnStarted) { e.Probe = false }), 0, ProvedTurn, "probe false, not true"},
		"a probe of two":               {probe(func(e *events.TurnStarted) { e.Settles = append(e.Settles, e.Settles[0]+1) }), 0, ProvedTurn, "not due"},
		"a turn of another generation": {started(2, func(e *events.TurnStarted) { e.Generation = 7 }), 0, ProvedTurn, ""},
		"a turn for nothing": {mutation(1, func(e *events.TurnStarted, _ *events.Draft) {
			e.Settles = append(e.Settles[:1:1], 999)
		}), 0, ProvedTurn, ""},
		"another prompt":                   {mutation(1, func(e *events.PromptSubmitted, _ *events.Draft) { e.Number = 2 }), 0, ProvedCapture, ""},
		"more work":                        {mutation(1, func(e *events.AgentStopped, _ *events.Draft) { e.Work = 6 }), 0, ProvedCapture, ""},
		"an idle stop":                     {where(isIdle, func(_ *events.AgentStopped, d *events.Draft) { d.OccurredAt = d.OccurredAt.Add(-2 * time.Minute) }), 0, ProvedTick, ""},
		"another time of a settled stop":   {where(isSettled, func(_ *events.AgentStopped, d *events.Draft) { d.OccurredAt = d.OccurredAt.Add(time.Second) }), 0, ProvedTick, ""},
		"more settled work":                {where(isSettled, func(e *events.AgentStopped, _ *events.Draft) { e.Work = 8 }), 0, ProvedTick, ""},
		"another reason":                   {mutation(1, func(e *events.OutputDropped, _ *events.Draft) { e.Reason = events.ReasonMalformed }), 1, ProvedGrammar, "today's grammar"},
		"another title":                    {mutation(1, func(e *events.ObservationParsed, _ *events.Draft) { e.Title = "other" }), 1, ProvedGrammar, "today's grammar"},
		"another prompt of an observation": {mutation(1, func(e *events.ObservationParsed, _ *events.Draft) { e.Prompt++ }), 0, ProvedAnswer, ""},
		"observed again":                   {mutation(1, func(e *events.ReobserveRequested, _ *events.Draft) { e.Inputs = append(e.Inputs, 998) }), 0, ProvedReobserve, ""},
		"a longer pause":                   {mutation(1, func(e *events.ProviderPaused, _ *events.Draft) { e.Until = e.Until.Add(1) }), 0, ProvedPause, ""},
		"a shorter pause":                  {mutation(2, func(e *events.ProviderPaused, _ *events.Draft) { e.Until = e.Until.Add(-1) }), 0, ProvedPause, ""},
		"another pause":                    {mutation(1, func(e *events.ProviderPaused, _ *events.Draft) { e.Class = events.FailServer }), 0, ProvedPause, ""},
		"another probe":                    {mutation(2, func(e *events.ProviderPaused, _ *events.Draft) { e.Probe = 1 }), 0, ProvedPause, ""},
		"a pause of nothing":               {mutation(1, func(e *events.ProviderPaused, _ *events.Draft) { e.Turn = events.ID{9} }), 0, ProvedPause, "no failure of that turn"},
		"a pause left out":                 {removal[events.ProviderPaused](1), 1, ProvedPause, "no pause of the provider follows"},
		"a resumption twice":               {mutation(2, func(_ *events.ProviderPaused, d *events.Draft) { d.Event = events.ProviderResumed{By: "probe"} }), 0, ProvedResume, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, at := test.change(t, eventful(t).log)
			p := prove(t, log, Selection{})
			if p.Holds() {
				t.Fatal("no difference was found")
			}
			got := p.Differences[0]
			want := Difference{Position: events.Position(int(at) - test.back), Decision: test.decision}
			if got.Decision != want.Decision || got.Position != want.Position ||
				!strings.Contains(got.Why+got.Derived, test.why) {
				t.Errorf("got %s\nwant %s at %d, because %q", shown(p.Differences), want.Decision, want.Position, test.why)
			}
		})
	}
}
