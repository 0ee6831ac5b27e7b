package actors

import (
	"context"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// dispatcher carries out what provider.Pool decides: it hands out the leases, records the rulings on providers, has what
// was spent read, and sees to it that the pool is asked again when something changes by time alone.
type dispatcher struct {
	sys             *System
	pool            *provider.Pool
	waiting         map[string]*waiting // by pid
	holdStatusStale bool                // those that wait may have to be answered otherwise than they were
	alarm           alarm
}

// waiting is a session that waits for a lease.
type waiting struct {
	holder *actor.PID
	sent   holdStatus // what the dispatcher said to it
}

// loadDispatcher folds the providers' streams. At the start of a life, where there was no dispatcher before, it also finds what the
// end of the last life left undone; later it takes over what no log tells. Who waits for a lease asks again.
func loadDispatcher(sys *System, was *dispatcher) (*dispatcher, error) {
	cfg := provider.Config{Routes: sys.cfg.candidates(), Slots: sys.cfg.Slots, Limits: sys.cfg.limits(), Budget: sys.cfg.Budget}
	states := map[string]*provider.State{}
	for _, name := range cfg.Routes.Names() {
		stream := events.ProviderStream(name)
		s, err := provider.Fold(sys.cfg.Log.Stream(context.Background(), stream, 0))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", stream, err)
		}
		states[name] = s
	}
	now := sys.cfg.Now()
	d := &dispatcher{sys: sys, pool: provider.NewPool(cfg, states, now), waiting: map[string]*waiting{}}
	d.pool.Degrade(sys.degraded.Load(), now)
	if was == nil {
		d.restore()
	}
	d.pool.Restart()
	if was != nil {
		d.pool.Inherit(was.pool)
	}
	return d, nil
}

// Receive serves requests and ends.
func (d *dispatcher) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case leaseRequest:
		d.request(c, m)
	case ended:
		d.ended(c, m)
	case providerSwitched:
		d.pool.Switch(m.holder.Id, m.provider)
	case *actor.Terminated:
		c.Send(c.Self(), left{m.Who.Id}) // it overtook what its session had sent before
		return
	case left:
		d.pool.Lose(m.holder)
		delete(d.waiting, m.holder)
	case degrade:
		d.pool.Degrade(m.on, d.sys.cfg.Now())
	case provider.Spending:
		d.pool.Ledger.Loaded(m, d.sys.cfg.Now())
		d.holdStatusStale = true
	case askStatus:
		m.reply <- d.status()
		return
	case resume:
		m.reply <- d.resume(m.provider)
	case *actor.Stopping, *actor.Restarting:
		d.alarm.stop()
		return
	case wakeQueue:
		d.holdStatusStale = true
	case *actor.Started:
	default:
		return
	}
	d.grant(c)
}

func (d *dispatcher) request(c actor.Context, m leaseRequest) {
	id := m.holder.Id
	if d.pool.Holds(id) {
		return // its grant is on the way: it asked again before it came
	}
	c.Watch(m.holder)
	if h := m.held; h != nil {
		if r, ok := d.pool.Rule(h.Provider, provider.Missed{Fail: provider.Fail{Class: h.Class, ResetsAt: h.ResetsAt, At: h.At}}); ok {
			d.record(r) // it says itself what is wrong
		}
	}
	d.pool.Enqueue(provider.Request{Session: m.session, Holder: id, Requirement: m.requirement, Alternative: m.alternative})
	if d.waiting[id] == nil {
		d.waiting[id] = &waiting{holder: m.holder}
	}
	d.sendHoldStatus(id, d.sys.cfg.Now())
}

func (d *dispatcher) ended(c actor.Context, m ended) {
	c.Unwatch(m.holder)
	delete(d.waiting, m.holder.Id) // nobody watches it any more: a grant could go to an actor that is gone
	m.Holder = m.holder.Id
	r, ok := d.pool.End(m.End, d.sys.cfg.Now())
	if ok {
		d.record(r)
	}
	if m.Received && d.pool.Degraded() {
		c.Send(d.sys.sessions, answeredTurn{})
	}
}

// resume lets a paused provider be asked again, because a person says so.
func (d *dispatcher) resume(name string) resumed {
	if d.pool.States[name] == nil {
		return resumed{err: fmt.Errorf("%w: %q", ErrNoProvider, name)}
	}
	r, ok := d.pool.Rule(name, provider.Resume{})
	if !ok {
		return resumed{err: ErrNotPaused}
	}
	at, err := d.record(r)
	return resumed{at, err}
}

// record appends a ruling, applies it and returns where it stands. An error leaves it in force for this life: the log has
// failed then, and the daemon ends.
func (d *dispatcher) record(r provider.Ruling) (events.Position, error) {
	logger := d.sys.cfg.Logger
	paused, isPause := r.Event.(events.ProviderPaused)
	draft := d.sys.draft(r.Event, paused.Turn)
	h := events.Header{OccurredAt: draft.OccurredAt}
	records, err := eventlog.AppendEnd(context.Background(), d.sys.cfg.Log, events.ProviderStream(r.Provider), draft)
	if err != nil {
		logger.Error("cannot record the provider's state", "provider", r.Provider, "err", err)
	} else {
		h = records[0].Header
	}
	d.pool.Evolve(r, h)
	d.holdStatusStale = true
	if isPause {
		logger.Warn("provider paused", "provider", r.Provider, "class", paused.Class, "until", paused.Until, "probe", paused.Probe)
	} else {
		logger.Info("provider resumed", "provider", r.Provider)
	}
	return h.Position, err
}

// recoveryScan is how many of the log's last records are read at the start of a life, for a failure that the last one did not
// rule on, and for turns in a row that failed by their own fault. A ruling is appended as soon as its failure is, so that a
// failure without one has behind it only what others appended in between: this is what a fast disk takes in about a tenth of
// a second, and it is read in a hundredth. Of a row, what stands further back is forgotten.
const recoveryScan = 4096

// restore rules on the failures of turns if a crash came between them and their rulings, before anybody is let in. What
// it does not find, because more was appended behind it, comes to light when the session that was held asks for a lease.
func (d *dispatcher) restore() {
	found, err := d.unruledFailures()
	if err != nil { // a damaged record is for whoever needs it to complain of
		d.sys.cfg.Logger.Warn("cannot tell whether a pause was lost; it is found when its session asks", "err", err)
		return
	}
	for _, f := range found {
		if r, ok := d.pool.Rule(f.Provider, f.Fail); ok {
			d.record(r)
		}
	}
}

// unruledFailures returns the failures that the last life did not rule on.
func (d *dispatcher) unruledFailures() ([]provider.UnruledFailure, error) {
	ctx := context.Background()
	last, err := d.sys.cfg.Log.Last(ctx)
	if err != nil {
		return nil, err
	}
	recovery := provider.NewRecovery(d.pool.States)
	for r, err := range eventlog.Readable(d.sys.cfg.Log, nil).All(ctx, last-min(last, recoveryScan)+1) {
		if err != nil {
			return nil, err
		}
		var e events.Event
		if recovery.Reads(r.Kind) {
			if e, err = r.Event(); err != nil {
				e = nil // whoever needs it complains of it
			}
		}
		recovery.Evolve(r.Header, e)
	}
	return recovery.UnruledFailures(), nil
}
