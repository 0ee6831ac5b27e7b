package actors

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/turn"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// bill is what a turn's end tells of its cost.
type bill struct {
	Kind events.Kind
	events.Bill
}

// bills lists the ends of all turns, failures first.
func (w *world) bills() (list []bill) {
	for _, e := range all[events.TurnFailed](w) {
		list = append(list, bill{events.KindTurnFailed, e.Bill()})
	}
	for _, e := range all[events.TurnReceived](w) {
		list = append(list, bill{events.KindTurnReceived, e.Bill()})
	}
	return list
}

// TestWhatATurnCostIsRecorded of answers and of failures, also of answers that nobody can use.
func TestWhatATurnCostIsRecorded(t *testing.T) {
	paid := events.Bill{
		Usage: events.Usage{Input: 1200, Cached: 1000, Output: 34}, Cost: 0.25, CostStated: true, Calls: 3, Model: "script-2",
		Uncosted: events.Usage{Input: 200, Output: 4}, SentBytes: 5000,
	}
	asPaid := paid
	asPaid.Calls, asPaid.Model = 1, ""
	whole, failure := bill{events.KindTurnReceived, paid}, bill{events.KindTurnFailed, paid}
	reply := observer.Reply{Text: events.NewOutput(goodObservation), Form: events.FormXML, Bill: paid}
	asAsked, prose, long, late := reply, reply, reply, reply
	asAsked.Model, asAsked.Calls, prose.Text, late.Text = "script", 0, events.NewOutput("Sure!"), events.Output{}
	long.Text = events.NewOutput(string(make([]byte, turn.MaxOutput+1)))
	failed := observer.Failure{Class: events.FailRefused, Bill: paid}
	cut, cutWithNothing := failed, failed
	cut.Class, cut.Output, cut.Form = events.FailTruncated, events.NewOutput(`{"observations":[{"title":"Kept"},{"title":"lo`), events.FormStructured
	cutWithNothing.Class, cutWithNothing.Output, cutWithNothing.Form = events.FailTruncated, events.NewOutput(`{"observations":[{"title":"lo`), events.FormStructured
	unpaid := bill{Kind: events.KindTurnFailed}
	for name, c := range map[string]struct {
		step providertest.Step
		want bill // of the first turn
		kept string
	}{
		"an answer":          {providertest.Answer(reply), whole, "Retry budget is a setting"},
		"as it was asked":    {providertest.Answer(asAsked), bill{events.KindTurnReceived, asPaid}, "Retry budget is a setting"},
		"prose":              {providertest.Answer(prose), whole, ""},
		"too long":           {providertest.Answer(long), failure, ""},
		"refused":            {providertest.Fail(failed), failure, ""},
		"cut, structured":    {providertest.Fail(cut), whole, "Kept"},
		"cut before its end": {providertest.Fail(cutWithNothing), failure, ""},
		"no answer in time":  {providertest.Hang(), unpaid, ""},
		"stopped by its end": {lateWith(late), failure, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.capture("s", events.ToolUsed{Tool: "Read"})
				w.stopAgent("s")
				w.settled("s")
				if got := w.bills(); len(got) == 0 || got[0] != c.want {
					t.Errorf("got %+v, want %+v first", got, c.want)
				}
				var kept string
				for _, o := range all[events.ObservationParsed](w) {
					kept = o.Title
				}
				if diff := cmp.Diff(c.kept, kept); diff != "" && c.kept != "" {
					t.Errorf("kept (-want +got):\n%s", diff)
				}
				if f := all[events.TurnFailed](w); name == "cut before its end" && (f[0].Form != events.FormStructured || f[0].Output.IsZero()) {
					t.Errorf("the form of what was cut is recorded as %q", f[0].Form)
				} else if name == "refused" && f[0].Form != "" {
					t.Errorf("no output is recorded as %q", f[0].Form)
				}
				if r := all[events.TurnReceived](w)[0]; name == "cut, structured" && (r.Form != events.FormStructured || r.StopReason != "truncated") {
					t.Errorf("the cut answer is recorded as %+v", r)
				}
			}, c.step, good)
		})
	}
}

// TestWhatATurnCostThatTheEndCutsIsRecorded: the turn ends with the life, in order, and is asked again in the next one.
func TestWhatATurnCostThatTheEndCutsIsRecorded(t *testing.T) {
	paid := events.Usage{Input: 40_000, Output: 3}
	told := observer.Reply{Bill: events.Bill{Usage: paid, Cost: 0.25, Calls: 1, Model: "script-2"}}
	failed := observer.Failure{Class: events.FailTransport, Bill: events.Bill{Usage: paid, Cost: 0.25, Calls: 1, Model: "script-2"}}
	answer := told
	answer.Text, answer.Form = events.NewOutput(goodObservation), events.FormXML
	for name, step := range map[string]providertest.Step{
		"beside its context's end": lateWith(told),
		"as a failure": func(ctx context.Context, _ int, _ observer.Prompt) (observer.Reply, error) {
			<-ctx.Done()
			return observer.Reply{}, &failed
		},
		"with an answer that comes too late": func(ctx context.Context, _ int, _ observer.Prompt) (observer.Reply, error) {
			<-ctx.Done()
			return answer, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.owing("s")
				w.work("s", 1)
				w.stopAgent("s")
				w.calls()
				began := time.Now()
				w.stopCleanly()
				if took := time.Since(began); took > 0 {
					t.Errorf("the end took %v", took)
				}
				want := []bill{{events.KindTurnFailed, events.Bill{Usage: paid, Cost: 0.25, Calls: 1, Model: "script-2"}}}
				if d := cmp.Diff(want, w.bills()); d != "" {
					t.Errorf("bills (-want +got):\n%s", d)
				}
				if f := all[events.TurnFailed](w)[0]; f.Class != events.FailInterrupted || !f.Clean {
					t.Errorf("got %+v, want it cut in order", f)
				}
				w.start()
				if got := w.settled("s"); got.Observed != 2 || len(all[events.SessionRespawned](w)) != 0 {
					t.Errorf("got %+v, want all observed, and nobody blamed", got)
				}
			}, step, good)
		})
	}
}

// TestTheEndWaitsForNoOneWhoDoesNotHeedIt longer than it may: what such a turn cost is not known.
func TestTheEndWaitsForNoOneWhoDoesNotHeedIt(t *testing.T) {
	bubble(t, func(w *world) {
		w.work("s", 1)
		w.stopAgent("s")
		w.calls()
		began := time.Now()
		w.stopCleanly()
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("the end took %v, want the grace and no more", took)
		}
		if n := len(all[events.TurnFailed](w)); n != 0 {
			t.Errorf("%d ends of turns are on record", n)
		}
		time.Sleep(time.Minute)
	}, func(context.Context, int, observer.Prompt) (observer.Reply, error) {
		time.Sleep(time.Minute)
		return observer.Reply{Bill: events.Bill{Usage: events.Usage{Input: 1}}}, nil
	})
}

// TestATallyIsDrainedWhenNothingIsUnderWay, whoever enters while somebody waits.
func TestATallyIsDrainedWhenNothingIsUnderWay(t *testing.T) {
	t.Parallel()
	var c tally
	<-c.drained()
	c.enter()
	zero := c.drained()
	c.enter()
	c.leave()
	select {
	case <-zero:
		t.Fatal("drained, though one is under way")
	default:
	}
	c.leave()
	<-zero
	c.enter()
	c.leave()
}

// lateWith tells what was paid beside the end of its context.
func lateWith(r observer.Reply) providertest.Step {
	return func(ctx context.Context, _ int, _ observer.Prompt) (observer.Reply, error) {
		<-ctx.Done()
		return r, ctx.Err()
	}
}
