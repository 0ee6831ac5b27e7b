package model_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// told is what an asker returns beside an error that is no failure, or in an answer.
type told struct {
	reply observer.Reply
	err   error
	hangs bool // until the context is done
}

// telling is an asker that answers by a script of figures.
type telling struct {
	script []told
	asked  int
	sent   int64 // bytes of all questions
}

func (*telling) Model() string { return "m-1" }

func (s *telling) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	a := s.script[min(s.asked, len(s.script)-1)]
	s.asked++
	s.sent += int64(len(q.System) + len(q.User) + len(q.Schema))
	if a.hangs {
		<-ctx.Done()
		return a.reply, ctx.Err()
	}
	return a.reply, a.err
}

// paidOne is what one request cost.
func paidOne() observer.Reply {
	return observer.Reply{Bill: events.Bill{Usage: events.Usage{Input: 10, Cached: 4, Output: 1}, Cost: 0.5, Calls: 1, Model: "m-1-0101"}}
}

func failedPaying(class events.FailureClass, status int) *observer.Failure {
	r := paidOne()
	return &observer.Failure{Class: class, Status: status, Message: "m", Bill: events.Bill{Usage: r.Usage, Cost: r.Cost, Calls: r.Calls, Model: r.Model}}
}

func answer(text string) told {
	r := paidOne()
	r.Text = events.NewOutput(text)
	return told{reply: r}
}

// TestAllRequestsArePaid: whatever a turn comes to, it tells what all its requests cost together.
func TestAllRequestsArePaid(t *testing.T) {
	t.Parallel()
	server, refused := told{err: failedPaying(events.FailServer, 500)}, told{err: failedPaying(events.FailRefused, 400)}
	noForm := told{reply: paidOne(), err: model.ErrForm}
	hung := told{reply: paidOne(), hangs: true}
	uncounted := told{reply: observer.Reply{Text: events.NewOutput(observer.SkipForm)}}
	for name, tc := range map[string]struct {
		form   events.Form
		script []told
		times  int // paidOne
		calls  int
		class  events.FailureClass // empty: an answer
		of     events.Form
	}{
		"at once":                  {events.FormXML, []told{answer(observer.SkipForm)}, 1, 1, "", events.FormXML},
		"one that does not count":  {events.FormXML, []told{uncounted}, 0, 1, "", events.FormXML},
		"after two failures":       {events.FormXML, []told{server, server, answer(observer.SkipForm)}, 3, 3, "", events.FormXML},
		"never":                    {events.FormXML, []told{server}, 3, 3, events.FailServer, events.FormXML},
		"refused":                  {events.FormStructured, []told{refused}, 2, 2, events.FailRefused, events.FormStructured},
		"the form set is refused":  {events.FormStructured, []told{refused, answer(observer.SkipForm)}, 2, 2, events.FailSetup, events.FormStructured},
		"the other form":           {"", []told{noForm, server, answer(observer.SkipForm)}, 3, 3, "", events.FormXML},
		"refused, then answered":   {"", []told{refused, answer(observer.SkipForm)}, 2, 2, "", events.FormXML},
		"refused in both":          {"", []told{refused, refused}, 2, 2, events.FailRefused, events.FormStructured},
		"prose, then the form":     {"", []told{answer("Sure!"), answer(observer.SkipForm)}, 2, 2, "", events.FormXML},
		"prose, then nothing":      {"", []told{answer("Sure!"), refused}, 2, 2, events.FailRefused, events.FormXML},
		"no form that it takes":    {events.FormStructured, []told{noForm}, 1, 1, events.FailSetup, events.FormStructured},
		"time is up":               {events.FormXML, []told{server, hung}, 2, 2, events.FailTimeout, ""},
		"longer than may be taken": {events.FormXML, []told{server, answer(strings.Repeat("x", 1<<19))}, 2, 2, events.FailTruncated, events.FormXML},
	} {
		synctest.Test(t, func(t *testing.T) {
			asker := &telling{script: tc.script}
			p, err := model.New(model.Config{Name: "test", Asker: asker, Renderer: plain{}, Form: tc.form})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Complete(t.Context(), observer.Prompt{})
			failure, failed := errors.AsType[*observer.Failure](err)
			if failed {
				got = observer.Reply{Form: failure.Form, Bill: failure.Bill}
			}
			if failed != (tc.class != "") || failed && failure.Class != tc.class {
				t.Fatalf("%s: got %v, want class %q", name, err, tc.class)
			}
			n := int64(tc.times)
			want := observer.Reply{
				Bill: events.Bill{Usage: events.Usage{Input: 10 * n, Cached: 4 * n, Output: n}, Cost: 0.5 * float64(n), Calls: tc.calls, SentBytes: asker.sent}, Form: tc.of, Text: got.Text,
			}
			if n > 0 {
				want.Model = "m-1-0101"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

// TestAStopTellsWhatWasPaid beside the caller's error, and no text.
func TestAStopTellsWhatWasPaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := told{reply: answer("half").reply, hangs: true}
		p, err := model.New(model.Config{Name: "test", Asker: &telling{script: []told{hung}}, Renderer: plain{}, Form: events.FormXML})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got, err := p.Complete(ctx, observer.Prompt{})
		want := paidOne()
		want.SentBytes = int64(len("role for xml"))
		if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// TestFiguresAreSane: what no service can mean is not told on, and no sum leaves its range.
func TestFiguresAreSane(t *testing.T) {
	t.Parallel()
	const most = 1 << 40
	for name, tc := range map[string]struct{ told, want observer.Reply }{
		"below zero": {
			observer.Reply{Bill: events.Bill{Usage: events.Usage{Input: -1, Cached: math.MinInt64, Output: -2}, Cost: -1, Calls: -3}}, observer.Reply{Bill: events.Bill{Calls: 1}},
		},
		"beyond all": {
			observer.Reply{Bill: events.Bill{Usage: events.Usage{Input: math.MaxInt64, Cached: math.MaxInt64, Output: math.MaxInt64}, Cost: math.Inf(1)}},
			observer.Reply{Bill: events.Bill{Usage: events.Usage{Input: most, Cached: most, Output: most}, Calls: 1}},
		},
		"beyond all money": {
			observer.Reply{Bill: events.Bill{Cost: math.MaxFloat64}}, observer.Reply{Bill: events.Bill{Cost: 1e6, Calls: 1}},
		},
		"no number":           {observer.Reply{Bill: events.Bill{Cost: math.NaN()}}, observer.Reply{Bill: events.Bill{Calls: 1}}},
		"a model":             {observer.Reply{Bill: events.Bill{Model: "vendor/m-1:free"}}, observer.Reply{Bill: events.Bill{Calls: 1, Model: "vendor/m-1:free"}}},
		"a model of words":    {observer.Reply{Bill: events.Bill{Model: "the best\x1b[2J model"}}, observer.Reply{Bill: events.Bill{Calls: 1}}},
		"a model that is not": {observer.Reply{Bill: events.Bill{Model: strings.Repeat("m", 129)}}, observer.Reply{Bill: events.Bill{Calls: 1}}},
	} {
		p, err := model.New(model.Config{Name: "test", Asker: &telling{script: []told{{reply: tc.told}}}, Renderer: plain{}, Form: events.FormXML})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Complete(t.Context(), observer.Prompt{})
		got.Form, got.SentBytes = "", 0
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// TestACostSaysNothingOfOtherRequests: where some requests of a turn state what they cost and others do not, the tokens of these
// stay open; where none does, all do.
func TestACostSaysNothingOfOtherRequests(t *testing.T) {
	t.Parallel()
	stated, silent, free := *failedPaying(events.FailServer, 500), *failedPaying(events.FailServer, 500), *failedPaying(events.FailServer, 500)
	silent.Cost, free.Cost, free.CostStated = 0, 0, true
	half := stated
	half.Uncosted = events.Usage{Input: 3}
	last := answer(observer.SkipForm)
	quiet := last
	quiet.reply.Cost = 0
	all, one := events.Usage{Input: 20, Cached: 8, Output: 2}, events.Usage{Input: 10, Cached: 4, Output: 1}
	for name, tc := range map[string]struct {
		first  *observer.Failure
		then   told
		usd    float64
		stated bool
		open   events.Usage
	}{
		"both":              {&stated, last, 1, true, events.Usage{}},
		"the first":         {&stated, quiet, 0.5, true, one},
		"the second":        {&silent, last, 0.5, true, one},
		"neither":           {&silent, quiet, 0, false, all},
		"the first is free": {&free, quiet, 0, true, one},
		"a part of it":      {&half, last, 1, true, events.Usage{Input: 3}},
	} {
		synctest.Test(t, func(t *testing.T) {
			asker := &telling{script: []told{{err: tc.first}, tc.then}}
			p, err := model.New(model.Config{Name: "test", Asker: asker, Renderer: plain{}, Form: events.FormXML})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Complete(t.Context(), observer.Prompt{})
			if b := got.Bill; err != nil || b.Cost != tc.usd || b.Stated() != tc.stated || b.UncostedUsage() != tc.open || b.Usage != all {
				t.Errorf("%s: got %+v, %v, want $%v, stated %t, %+v open", name, b, err, tc.usd, tc.stated, tc.open)
			}
		})
	}
}
