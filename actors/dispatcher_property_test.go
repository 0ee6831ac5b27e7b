package actors

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// move is one thing that happens to a dispatcher.
type move struct {
	what     string               // want, end, wait, crash, restart
	who      int                  // of its holders
	need     provider.Requirement // of want
	or       provider.Requirement // of want
	class    events.FailureClass  // of end; empty: it is answered
	parsed   bool                 // of end
	switches bool                 // of end: its inputs were trivial
	wait     time.Duration        // of wait
}

func drawMove(t *rapid.T) move {
	kinds := []events.TurnKind{events.TurnObservation, events.TurnObservation, events.TurnSummary}
	m := move{
		what: rapid.SampledFrom([]string{"want", "want", "want", "want", "end", "end", "end", "end", "wait", "wait", "crash", "restart"}).Draw(t, "what"),
		who:  rapid.IntRange(0, 4).Draw(t, "who"),
		need: provider.Requirement{
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Fresh: rapid.IntRange(0, 4).Draw(t, "fresh") == 0,
			Provider: rapid.SampledFrom([]string{"", "", "", "", "a", "c", "gone"}).Draw(t, "provider"),
			Blamed:   rapid.IntRange(0, 2).Draw(t, "blamed") == 0,
		},
		class:    rapid.SampledFrom([]events.FailureClass{"", events.FailLimit, events.FailServer, events.FailServer, events.FailRefused, events.FailRefused, events.FailRefused}).Draw(t, "class"),
		parsed:   rapid.Bool().Draw(t, "parsed"),
		switches: rapid.IntRange(0, 3).Draw(t, "switches") == 0,
		wait:     time.Duration(rapid.IntRange(1, 300).Draw(t, "wait")) * time.Second,
	}
	if or := rapid.SampledFrom([]string{"", "", "a", "c"}).Draw(t, "or"); or != "" && m.need.Provider == "" {
		m.or = provider.Requirement{Kind: events.TurnObservation, Provider: or}
	}
	return m
}

// asked is what a holder waits for: one of them.
type asked struct{ need, or provider.Requirement }

// bench is a dispatcher, sessions that only want and end, and what a lease has to keep to.
type bench struct {
	w       *world
	holders []*actor.PID
	leases  []atomic.Pointer[provider.Lease] // by holder; nil: none
	wants   []*asked
	probing map[string]int // the holder of the probe of a provider that is not open
	wrong   []string
	panics  atomic.Bool // the dispatcher does, at its next message

	switched bool // the move at hand gave a probe back before its turn ended
}

func newBench(w *world) *bench {
	b := &bench{w: w, leases: make([]atomic.Pointer[provider.Lease], 5), wants: make([]*asked, 5), probing: map[string]int{}}
	w.cfg.Now = func() time.Time {
		if called("(*dispatcher).grant") && b.panics.CompareAndSwap(true, false) {
			panic("boom")
		}
		return time.Now()
	}
	w.start()
	synctest.Wait()
	for i := range b.leases {
		b.holders = append(b.holders, w.sys.root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
			if m, ok := c.Message().(granted); ok && !b.leases[i].CompareAndSwap(nil, &m.lease) {
				panic("two leases at once")
			}
		})))
	}
	return b
}

func (b *bench) failf(format string, a ...any) { b.wrong = append(b.wrong, fmt.Sprintf(format, a...)) }

// play makes a move, if it can be made, and looks at what follows.
func (b *bench) play(m move) {
	b.switched = false
	before := make([]*provider.Lease, len(b.leases))
	for i := range b.leases {
		before[i] = b.leases[i].Load()
	}
	send := func(msg any) { b.w.sys.root.Send(b.w.sys.dispatch, msg) }
	l := before[m.who]
	switch {
	case m.what == "wait":
		time.Sleep(m.wait)
	case m.what == "want" && l == nil:
		b.wants[m.who] = &asked{m.need, m.or}
		send(leaseRequest{session: sid(fmt.Sprint(m.who)), holder: b.holders[m.who], requirement: m.need, alternative: m.or})
	case m.what == "end" && l != nil:
		b.end(m, l, send)
	case m.what == "crash" && l != nil:
		b.release(m.who)
		send(ended{holder: b.holders[m.who], End: provider.End{Crashed: true}})
	case m.what == "restart":
		b.panics.Store(true)
		send(wakeQueue{})
		for i, n := range b.wants { // as sessions do, when they are told to
			if n != nil {
				send(leaseRequest{session: sid(fmt.Sprint(i)), holder: b.holders[i], requirement: n.need, alternative: n.or})
			}
		}
	}
	synctest.Wait()
	b.look(before)
}

// end ends a turn as a session does: with a switch before, if it proves trivial and that is allowed.
func (b *bench) end(m move, l *provider.Lease, send func(any)) {
	o := l.Candidate
	if l.Trivial != nil && m.switches {
		o, b.switched = *l.Trivial, true
		send(providerSwitched{holder: b.holders[m.who], provider: o.Provider})
	}
	b.release(m.who)
	e := ended{holder: b.holders[m.who], End: provider.End{Spend: provider.Spend{Session: sid(fmt.Sprint(m.who)), At: time.Now(), Tokens: 10}}}
	if o.Free {
		e.Spend = provider.Spend{}
	}
	if m.class == "" {
		e.Received, e.Parsed = true, m.parsed
	} else {
		e.Failure = &events.TurnFailed{Class: m.class, Provider: o.Provider}
	}
	paid := b.w.draft(events.TurnReceived{Usage: events.Usage{Input: e.Spend.Tokens}})
	if _, err := eventlog.AppendEnd(context.Background(), b.w.log, e.Spend.Session.Stream(), paid); err != nil {
		b.failf("append: %v", err)
	}
	send(e)
}

func (b *bench) release(who int) {
	b.leases[who].Store(nil)
	b.wants[who] = nil
	for name, holder := range b.probing {
		if holder == who {
			delete(b.probing, name)
		}
	}
}

// look holds the leases that there are now against what the status says.
func (b *bench) look(before []*provider.Lease) {
	st, err := b.w.sys.Status(context.Background())
	if err != nil {
		b.failf("status: %v", err)
		return
	}
	out := 0
	for i := range b.leases {
		l := b.leases[i].Load()
		if l == nil {
			continue
		}
		if out++; before[i] != l {
			if n := b.wants[i]; n != nil && l.Requirement != n.need && l.Requirement != n.or {
				b.failf("%d asked for %+v and got a lease for %+v", i, *n, l.Requirement)
			}
			b.wants[i] = nil
			b.granted(i, l, st)
		}
	}
	if out > b.w.sys.cfg.Slots || st.Turns != out {
		b.failf("%d leases are out, %d by the status, of %d slots", out, st.Turns, b.w.sys.cfg.Slots)
	}
	if out < b.w.sys.cfg.Slots {
		b.nobodyWaitsInVain(st)
	}
}

// granted looks at a lease that was just given.
func (b *bench) granted(who int, l *provider.Lease, st Status) {
	name := l.Candidate.Provider
	p := st.Providers[name]
	if p.Paused && (l.Requirement.Blamed || !p.Class.BlamesTurn()) {
		b.failf("%d got a lease of %s, which is paused: %+v", who, name, p)
	}
	if other, ok := b.probing[name]; ok && p.Probe > 0 && other != who {
		b.failf("%d and %d probe %s at once", other, who, name)
	}
	if p.Probe > 0 {
		b.probing[name] = who
	}
	if !l.Candidate.Free && st.Budget.State == policy.BudgetSpent && !b.switched { // who switches lets another in before it pays
		b.failf("%d got a lease of %s, though the budget is spent: %+v", who, name, st.Budget)
	}
	if named := l.Requirement.Provider; named != "" && b.w.sys.cfg.route(named) != nil && name != named {
		b.failf("%d got a lease of %s, and asked for %s", who, name, named)
	}
	if slices.Contains(l.Instead, name) {
		b.failf("%s was passed over for itself", name)
	}
}

// nobodyWaitsInVain: where a slot is free, each of those that wait has no candidate that may be asked.
func (b *bench) nobodyWaitsInVain(st Status) {
	for i, n := range b.wants {
		if n == nil {
			continue
		}
		b.waitsInVain(i, n.need, st)
		if n.or != (provider.Requirement{}) {
			b.waitsInVain(i, n.or, st)
		}
	}
}

func (b *bench) waitsInVain(who int, n provider.Requirement, st Status) {
	for _, o := range b.w.sys.cfg.candidates().Candidates(n) {
		p := st.Providers[o.Provider]
		_, probed := b.probing[o.Provider]
		early := p.Class.BlamesTurn() && !n.Blamed
		if (!p.Paused || early) && (p.Probe == 0 || !probed) && (o.Free || st.Budget.State != policy.BudgetSpent && st.Budget.Known) {
			b.failf("%d waits for %+v, and %s could be asked: %+v", who, n, o.Provider, p)
		}
	}
}

// TestLeasesKeepToTheCircuitsWhateverHappens: never two probes of one provider, never a lease of one that is paused or not
// to be paid, never more than there are slots, and nobody waits while somebody may be asked.
func TestLeasesKeepToTheCircuitsWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		moves := rapid.SliceOfN(rapid.Custom(drawMove), 60, 150).Draw(rt, "moves")
		slots := rapid.IntRange(1, 4).Draw(rt, "slots")
		limit := rapid.SampledFrom([]int64{0, 100, 250}).Draw(rt, "limit")
		var wrong []string
		synctest.Test(t, func(t *testing.T) {
			w := &world{t: t, log: logtest.Open(t, eventlog.Config{})}
			w.cfg.Slots, w.cfg.Budget = slots, policy.Budget{TokensDay: max(limit, 1<<40*(1-min(limit, 1)))}
			w.cfg.Spent = func(ctx context.Context, from time.Time, id *events.SessionID) (int64, float64, error) {
				return spentOf(ctx, w.log, from, id)
			}
			w.cfg.Providers = []Route{
				{Provider: named("a", "small")}, {Provider: named("b", "")}, {Provider: named("c", ""), Free: true},
			}
			w.cfg.Summaries, w.cfg.Trivial = &Route{Provider: named("a", "large")}, &Route{Provider: named("d", "")}
			b := newBench(w)
			for _, m := range moves {
				b.play(m)
			}
			wrong = b.wrong
			for _, h := range b.holders {
				w.sys.root.Stop(h)
			}
			w.kill()
			time.Sleep(2 * time.Second)
			if err := w.log.Close(); err != nil {
				t.Error(err)
			}
		})
		for _, s := range wrong {
			rt.Error(s)
		}
	})
}

// moody answers, fails and crashes by a list that rapid drew, and answers well from then on.
func moody(tempers []int) []providertest.Step {
	faults := []providertest.Step{
		good, prose(), failing(events.FailLimit), failing(events.FailServer), failing(events.FailRefused), failing(events.FailAuth),
		providertest.Panic("boom"), providertest.Text(""), failing(events.FailTruncated), failing(events.FailTimeout),
	}
	var steps []providertest.Step
	for _, n := range tempers {
		steps = append(steps, providertest.After(time.Duration(n%7)*time.Second, faults[n%len(faults)]))
	}
	return append(steps, good)
}

// proved looks for turns and rulings that the provider core does not lead to, as replay takes it again.
func (w *world) proved() {
	w.t.Helper()
	proof, err := replay.Prove(w.log.All(w.t.Context(), 1), replay.Selection{}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range slices.Concat(proof.Differences, proof.Unproven) {
		if slices.Contains([]string{replay.ProvedTurn, replay.ProvedChoice, replay.ProvedPause, replay.ProvedResume}, d.Decision) {
			w.t.Errorf("%+v", d)
		}
	}
}

// TestWhateverProvidersDoAllInputsSettle: two of them, tiers, and a daemon that is killed now and then. Replay proves whom each
// turn was asked of.
func TestWhateverProvidersDoAllInputsSettle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		tempers := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 20), 4, 4).Draw(rt, "tempers")
		kills := rapid.SliceOfN(rapid.IntRange(1, 120), 0, 4).Draw(rt, "kills")
		supervised := rapid.Bool().Draw(rt, "supervised")
		synctest.Test(t, func(t *testing.T) {
			w := &world{t: t, log: logtest.Open(t, eventlog.Config{})}
			names := []string{"s", "t", "u", "v"}
			w.owing(names...)
			var ps []*providertest.Scripted
			for i, name := range []string{"a", "b", "a", "c"} {
				ps = append(ps, named(name, fmt.Sprint(i), moody(tempers[i])...))
				ps[i].Limits = policy.ModelLimits()
			}
			w.cfg.Providers = []Route{{Provider: ps[0]}, {Provider: ps[1]}}
			w.cfg.Summaries, w.cfg.Trivial = &Route{Provider: ps[2]}, &Route{Provider: ps[3]}
			w.cfg.IsTrivial = listings
			w.settings = map[string]string{"provider": "a", "fallbacks": "b", "summary_provider": "a", "trivial_provider": "c"}
			if supervised {
				w.settings["policy"], w.settings["max_unparseable"] = string(policy.Supervised), "2"
				w.cfg.Rules.Outputs = &policy.Unparseable{Max: 2}
			}
			w.start()
			for i, name := range names {
				w.work(name, 1+7*i)
				w.capture(name, events.ToolUsed{Tool: "LS"})
				w.stopAgent(name)
			}
			for _, k := range kills {
				time.Sleep(time.Duration(k) * time.Second)
				w.kill()
				w.start()
			}
			for _, name := range names {
				if got := w.settled(name); got.Pending != 0 || got.Observed+got.Skipped+got.Dropped != got.Captured {
					t.Errorf("session %s: %+v, want all settled", name, got)
				}
			}
			for _, p := range ps {
				if p.MostRunning() > 2 {
					t.Errorf("%d turns at once of %s/%s", p.MostRunning(), p.Called, p.Answering)
				}
			}
			w.kill()
			w.balanced()
			w.proved()
			time.Sleep(2 * time.Second)
			if err := w.log.Close(); err != nil {
				t.Error(err)
			}
		})
		if t.Failed() {
			rt.Error("see above")
		}
	})
}
