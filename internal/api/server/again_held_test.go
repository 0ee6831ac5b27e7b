package server

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/providertest"
	"github.com/cmemd/cmemd/testkit/socket"
)

// limited is a provider that says that it answers again in an hour.
func limited() providertest.Step {
	return func(context.Context, int, observer.Prompt) (observer.Reply, error) {
		return observer.Reply{}, &observer.Failure{Class: events.FailLimit, Status: 429, ResetsAt: time.Now().Add(time.Hour)}
	}
}

// TestAskedForOnce asks for the same inputs while their answers are held up: they are not asked for twice, and whoever waits
// is told why nothing comes.
func TestAskedForOnce(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 3)
	w.settled(t)
	m.turn(limited())
	done := w.again(t, api.ReobserveRequest{Dropped: true})
	if done.Inputs != 4 || len(done.Stopped) != 1 || !strings.Contains(done.Stopped[0], "scripted is paused (limit) until") || done.Answers.Waiting != 4 {
		t.Errorf("got %+v, %+v, want the pause named", done, done.Answers)
	}
	again, err := api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Session: "s"}, nil)
	if err != nil || again.Inputs != 0 || again.Asked != 4 || again.Position != 0 {
		t.Errorf("asked again: got %+v, %v, want 4 that were asked for before", again, err)
	}
	if n := w.count(t, events.KindReobserveRequested); n != 1 {
		t.Errorf("%d requests are on record, want 1", n)
	}
	if b := w.balance(t); b.Dropped != 4 || b.Reobserve != 4 {
		t.Errorf("got %+v, want all dropped still, and to be observed again", b)
	}
	if late := w.again(t, api.ReobserveRequest{Session: "s"}); late.Asked != 4 || len(late.Stopped) != 1 {
		t.Errorf("who waits for what was asked before: got %+v", late)
	}
}

// TestTwoAskAtOnce has two ask for the same at the same time.
func TestTwoAskAtOnce(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 5)
	w.settled(t)
	m.turn(providertest.Hang())
	var both sync.WaitGroup
	var got [4]api.Reobserved
	for i := range got {
		both.Go(func() {
			var err error
			if got[i], err = api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Dropped: true}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	inputs, asked := 0, 0
	for _, g := range got {
		inputs, asked = inputs+g.Inputs, asked+g.Asked
	}
	if n := w.count(t, events.KindReobserveRequested); inputs != 6 || asked != 18 || n != 1 {
		t.Errorf("%d asked for, %d known, %d requests, want 6, 18 and 1", inputs, asked, n)
	}
}

// TestQuarantineEndsTheWaiting has the observer crash until the session is quarantined.
func TestQuarantineEndsTheWaiting(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, func(c *actors.Config) {
		c.Rules = session.Rules{Restarts: policy.Restarts{Max: 1, MaxConsecutive: 1, Base: time.Millisecond, Cap: time.Millisecond}}
	}, nil)
	w.use(t, "s", 2)
	w.settled(t)
	m.turn(providertest.Panic("gone"))
	done := w.again(t, api.ReobserveRequest{Dropped: true})
	if len(done.Stopped) != 1 || !strings.Contains(done.Stopped[0], "session "+claude("s").String()+" is quarantined") || done.Answers.Waiting == 0 {
		t.Errorf("got %+v, %+v, want the quarantine named", done, done.Answers)
	}
}

// stuckSystem says of itself what a test wants to be heard.
type stuckSystem struct {
	System
	status provider.Status
}

func (s *stuckSystem) Status(context.Context) (actors.Status, error) {
	return actors.Status{Status: s.status}, nil
}

// TestWhatHoldsUpTheRest asks what holds answers up. A pause whose time is over holds up nothing: a probe is due.
func TestWhatHoldsUpTheRest(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	stuck := &stuckSystem{}
	w := moodyWorld(t, m, nil, func(c *testConfig) { stuck.System, c.System = c.System, stuck })
	w.use(t, "s", 1)
	w.settled(t)
	ids := []events.SessionID{claude("s")}
	paused := func(until time.Duration) provider.Status {
		return provider.Status{Providers: map[string]provider.Paused{"scripted": {Paused: true, Class: events.FailLimit, Until: time.Now().Add(until)}}}
	}
	for _, c := range []struct {
		name   string
		status provider.Status
		ids    []events.SessionID
		want   string
	}{
		{"nothing", provider.Status{}, ids, ""},
		{"capturing only", provider.Status{Degraded: true}, ids, "only captures"},
		{"a pause", paused(time.Hour), ids, "is paused"},
		{"a pause that is over", paused(-time.Hour), ids, ""},
		{"another provider's pause", provider.Status{Providers: map[string]provider.Paused{"other": {Paused: true, Until: time.Now().Add(time.Hour)}}}, ids, ""},
		{"nothing to wait for", provider.Status{Degraded: true}, nil, ""},
	} {
		stuck.status = c.status
		why, err := w.server.memories.reobserver.HeldUp(t.Context(), "", c.ids)
		if got := strings.Join(why, "; "); err != nil || (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestSessionsThatTakeNoRequest has one of two sessions refuse.
func TestSessionsThatTakeNoRequest(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, func(c *testConfig) { c.System = failing(c.System, actors.ErrParked) })
	w.use(t, "bad-1", 2)
	w.use(t, "good", 1)
	w.settled(t)
	m.turn(say("seen"))
	done := w.again(t, api.ReobserveRequest{Dropped: true})
	if done.Inputs != 2 || done.Sessions != 1 || done.Answers.Observed != 2 || len(done.Refused) != 1 || done.Refused[0].Session != claude("bad-1") ||
		!strings.Contains(done.Refused[0].Detail, "parked") {
		t.Errorf("got %+v, %+v", done, done.Answers)
	}
}

// TestADaemonThatEndsTakesNoRequest is answered so that one can ask again.
func TestADaemonThatEndsTakesNoRequest(t *testing.T) {
	t.Parallel()
	w := moodyWorld(t, newMoody(prose()), nil, func(c *testConfig) { c.System = failing(c.System, actors.ErrStopped) })
	w.use(t, "bad-1", 1)
	w.settled(t)
	_, err := api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Dropped: true}, nil)
	if p := problem(t, err); p.Status != 503 || p.Type != api.ProblemStopping {
		t.Errorf("got %+v, want 503", p)
	}
}

// TestManyInputsAreSeveralRequests asks for more than one event names, and for more than one request takes.
func TestManyInputsAreSeveralRequests(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	m.Limits = policy.ExtractorLimits()
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 1020)
	w.use(t, "t", 2)
	w.settled(t)
	m.turn(say("seen"))
	const batch = 1000 // inputs of one event
	a, err := w.server.memories.reobserver.Request(t.Context(), api.ReobserveRequest{Dropped: true}, outcomes.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	a.Most = batch + 10
	if out, err := a.Run(t.Context(), nil); err != nil || out.Inputs != a.Most || !out.More || out.Position == 0 {
		t.Errorf("got %+v, %v, want %d inputs, and more", out, err, a.Most)
	}
	sizes := map[int]int{}
	for _, r := range w.records(t) {
		if e, err := r.Event(); err == nil && r.Kind == events.KindReobserveRequested {
			sizes[len(e.(events.ReobserveRequested).Inputs)]++
		}
	}
	if sizes[3] != 1 || sizes[batch] != 1 || sizes[7] != 1 || len(sizes) != 3 {
		t.Errorf("got requests of %v inputs, want 3 of one session, %d and 7 of the other", sizes, batch)
	}
	eventually(t, "the rest is asked for", func() bool { return w.again(t, api.ReobserveRequest{Dropped: true}).Inputs == 0 })
	if b := w.balance(t); b.Dropped != 0 || b.Observed != batch+24 {
		t.Errorf("got %+v, want all observed", b)
	}
}

// TestWhoWaitsMayGo breaks off a request that was begun: it is answered all the same.
func TestWhoWaitsMayGo(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 3)
	w.settled(t)
	release := make(chan struct{})
	m.turn(func(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
		select {
		case <-release:
			return say("seen")(ctx, call, p)
		case <-ctx.Done():
			return observer.Reply{}, ctx.Err()
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	_, err := api.ReobserveRoute.Call(ctx, w.client, api.ReobserveRequest{Dropped: true, Wait: true}, func(p api.Progress) {
		if p.Total != 4 {
			t.Errorf("progress %+v, want 4 in all", p)
		}
		stop()
	})
	if err == nil || ctx.Err() == nil {
		t.Fatalf("got %v, want the end of the waiting", err)
	}
	close(release)
	eventually(t, "all is observed", func() bool { b := w.balance(t); return b.Observed == 4 && b.Reobserve == 0 })
}

// missing answers the first of every two summaries that are asked for by nothing at all, and the second after a while.
func missing(title string) providertest.Step {
	var summaries atomic.Int64
	return func(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
		if p.Kind == events.TurnSummary {
			if summaries.Add(1)%2 == 1 {
				return providertest.Text("")(ctx, call, p)
			}
			time.Sleep(3 * 100 * time.Millisecond) // who waits looks that often
		}
		return say(title)(ctx, call, p)
	}
}

// TestAMissingSummaryIsWaitedFor asks again where the first answer holds no summary: who waits gets the one after it.
func TestAMissingSummaryIsWaitedFor(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 2)
	w.settled(t)
	m.turn(missing("seen"))
	done := w.again(t, api.ReobserveRequest{Dropped: true})
	if done.Answers == nil || *done.Answers != (api.Answers{Observed: 3}) {
		t.Errorf("got %+v, want all three observed", done.Answers)
	}
}

// TestABatchThatEarnedAGenerationIsWaitedFor has the first answer not parse, after which a supervised observer begins afresh
// and the same batch is asked about once more: who waits gets that.
func TestABatchThatEarnedAGenerationIsWaitedFor(t *testing.T) {
	t.Parallel()
	m := newMoody(say("first"))
	w := moodyWorld(t, m, func(c *actors.Config) { c.Rules = session.Rules{Outputs: &policy.Unparseable{Max: 1}} }, nil)
	w.use(t, "s", 2)
	w.settled(t)
	var batches atomic.Int64
	m.turn(func(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
		if p.Kind == events.TurnObservation {
			if batches.Add(1) == 1 {
				return prose()(ctx, call, p)
			}
			time.Sleep(3 * 100 * time.Millisecond)
		}
		return say("second")(ctx, call, p)
	})
	turns, err := w.views.LatestTurns(t.Context(), 1, 5, func(turn api.Turn) bool { return turn.Kind == events.TurnObservation })
	if err != nil || len(turns) != 1 {
		t.Fatalf("got %+v, %v", turns, err)
	}
	done := w.again(t, api.ReobserveRequest{Turn: turns[0].ID.String()}) // alone: its summary would be waited for anyway
	if done.Answers == nil || *done.Answers != (api.Answers{Observed: 2}) || w.count(t, events.KindSessionRespawned) != 1 {
		t.Errorf("got %+v, want both observed after one fresh generation", done.Answers)
	}
}

// TestAMissingSummaryIsAskedForAfterACrash has a daemon die between an answer without a summary and the question after it:
// the next one asks, though no hook wakes the session.
func TestAMissingSummaryIsAskedForAfterACrash(t *testing.T) {
	t.Parallel()
	first := moodyWorld(t, newMoody(missing("first")), nil, nil)
	first.use(t, "s", 2)
	first.settled(t)
	log := logtest.Open(t, eventlog.Config{})
	add := func(d events.Draft) {
		if _, err := eventlog.AppendEnd(t.Context(), log, claude("s").Stream(), d); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range first.records(t) {
		e, err := r.Event()
		if err != nil {
			t.Fatal(err)
		}
		add(events.Draft{
			ID: r.ID, Key: r.Key, OccurredAt: r.OccurredAt, Causation: r.Causation, Correlation: r.Correlation, Unobserved: r.Unobserved, Event: e,
		})
		if r.Kind == events.KindOutputDropped {
			break
		}
	}
	add(events.Draft{ID: newID(), OccurredAt: time.Now(), Event: events.SessionClosed{Cause: "exit"}}) // an open one is woken anyway
	w := &world{home: socket.Dir(t), log: log}
	w.open(t)
	if err := w.views.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.actors, err = actors.New(actors.Config{Log: log, Providers: []actors.Route{{Provider: newMoody(say("second"))}}, Owing: w.views.Owing}); err != nil {
		t.Fatal(err)
	}
	w.serve(t, nil)
	eventually(t, "the summary is there", func() bool { b := w.balance(t); return b.Observed == 3 && b.Reobserve == 0 })
}
