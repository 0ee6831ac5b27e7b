package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// drain is the queue of a session's requests on their way into the log. While an append is in flight they collect; then
// the whole queue goes out as one append. It belongs to its actor's goroutine.
type drain struct {
	queue        []*request // not decided yet
	taken        []*request // taken from queue, not handed to the log yet
	retry        []*request // the actor's own, after an append error: queued again at the next wake
	oneByOne     int        // how many of queue are decided each alone, because one of them is bad
	inFlight     int        // the number of the append in flight; 0: none
	begunAppends int        // so far
}

func (d *drain) add(r *request) { d.queue = append(d.queue, r) }

func (d *drain) appending() bool { return d.inFlight != 0 }

func (d *drain) empty() bool { return len(d.queue)+len(d.retry) == 0 }

func (d *drain) requeue() { d.queue, d.retry = append(d.retry, d.queue...), nil }

// take returns what the next append is made of.
func (d *drain) take() []*request {
	n := len(d.queue)
	if d.oneByOne > 0 {
		d.oneByOne--
		n = 1
	}
	d.taken, d.queue = d.queue[:n:n], d.queue[n:]
	return d.taken
}

func (d *drain) abandon() {
	for _, r := range d.taken {
		r.answer(ErrFaulted)
	}
	for _, r := range slices.Concat(d.queue, d.retry) {
		r.answer(fmt.Errorf("%w: its queue is given back", ErrStopped))
	}
	d.taken, d.queue, d.retry = nil, nil, nil
}

// flush decides the queue and hands it to the log as one append, unless one is in flight. Callers are answered by
// whoever waits for the append, so that a crash of this actor cannot swallow an answer.
func (a *sessionActor) flush() {
	d := &a.drain
	if d.appending() || len(d.queue) == 0 {
		return
	}
	batch, expected := d.take(), a.state.Version()
	drafts := a.decide(batch)
	d.begunAppends++
	d.inFlight, d.taken = d.begunAppends, nil
	self, stream, number := a.self, a.id.Stream(), d.inFlight
	a.ownAppends.Add(1)
	a.sys.appends.Go(func() {
		defer a.ownAppends.Done()
		var records []events.Record
		var err error
		if len(drafts) > 0 {
			records, err = a.sys.cfg.Log.Append(context.Background(), stream, expected, drafts...)
		}
		if !isToBlame(err) || len(batch) == 1 {
			answer(batch, records, err)
		}
		a.sys.root.Send(self, committed{by: a, append: number, batch: batch, records: records, err: err})
	})
}

// isToBlame reports whether err is the fault of one draft of an append, so that the others must be tried without it.
func isToBlame(err error) bool {
	return errors.Is(err, events.ErrTooLarge) || errors.Is(err, eventlog.ErrInvalid)
}

// decide turns the batch into drafts, each on the state that those before it left. A refusal is its caller's alone.
func (a *sessionActor) decide(batch []*request) []events.Draft {
	var drafts []events.Draft
	for _, r := range batch {
		r.err, r.draftCount, r.draftEnd = nil, 0, 0
		for _, cmd := range r.cmds {
			ds, err := session.Decide(a.state, a.rules(), cmd)
			if err != nil {
				r.err = err
				break
			}
			session.Apply(a.state, ds)
			drafts = append(drafts, ds...)
			r.draftEnd = len(drafts)
			r.draftCount += len(ds)
		}
	}
	return drafts
}

// rules are those of the system. Whether a fresh observer would answer otherwise is for whoever is asked to say.
func (a *sessionActor) rules() session.Rules {
	r := a.sys.cfg.Rules
	if a.turn != nil {
		r.Batch.Fixed = a.turn.route.BatchLimits().Fixed
	}
	return r
}

// answer tells every caller of a batch what became of its request.
func answer(batch []*request, records []events.Record, err error) {
	for _, r := range batch {
		if err == nil && r.draftCount > 0 {
			r.receipt.Position = records[r.draftEnd-1].Position
		}
		r.receipt.Duplicate = r.draftCount == 0
		r.answer(errors.Join(r.err, err))
	}
}

// committed goes on after an append. One of an incarnation that crashed is in the fold already.
func (a *sessionActor) committed(c actor.Context, m committed) {
	if m.by != a || m.append != a.drain.inFlight {
		return
	}
	a.drain.inFlight = 0
	if m.err != nil {
		a.appendFailed(c, m)
		return
	}
	a.drain.requeue()
	a.state.Place(m.records)
	a.announce(c, m.records)
	if !a.healthy {
		a.healthy = true
		c.Send(c.Parent(), sessionRecovered{a.id})
	}
	for _, r := range m.batch {
		if r.internal() {
			r.afterCommit(c, r.err)
		}
	}
	a.dropForgotten(c, m.records)
	a.advance(c)
}

// appendFailed goes on after an append error: the state is ahead of the log and is read again. What the actor itself wanted
// to record (a turn's start or end) is tried again a moment later; callers have been answered. A log that is closed ends
// the actor.
func (a *sessionActor) appendFailed(c actor.Context, m committed) {
	if errors.Is(m.err, eventlog.ErrClosed) || errors.Is(m.err, eventlog.ErrFailed) {
		c.Stop(c.Self())
		return
	}
	a.sys.cfg.Logger.Error("an append was refused", "session", a.id, "requests", len(m.batch), "err", m.err)
	a.fold()
	if isToBlame(m.err) && len(m.batch) > 1 {
		a.drain.queue, a.drain.oneByOne = append(m.batch, a.drain.queue...), len(m.batch)
		a.advance(c)
		return
	}
	for _, r := range m.batch {
		switch {
		case !r.internal():
		case isToBlame(m.err):
			a.giveUpUnrecordable(c, r, m.err)
		default:
			a.drain.retry = append(a.drain.retry, r)
		}
	}
	a.flush()
	now := a.sys.cfg.Now()
	a.wakeAt(now.Add(policy.RewakeDelay), now)
}

// giveUpUnrecordable gives up what can never be recorded: the turn that it ends counts as interrupted.
func (a *sessionActor) giveUpUnrecordable(c actor.Context, r *request, err error) {
	r.afterCommit(c, err)
	if _, ok := a.state.InFlight(); ok {
		a.enqueue(session.Interrupt{ID: a.sys.cfg.NewID(), At: a.sys.cfg.Now()}, nil)
	}
}

// announce tells the supervisor of rulings that concern more than this session.
func (a *sessionActor) announce(c actor.Context, records []events.Record) {
	for _, r := range records {
		switch r.Kind {
		case events.KindSessionOpened:
			a.sys.noteTree(a.state.Origin().Cwd, r.OccurredAt)
		case events.KindSessionQuarantined:
			a.sys.cfg.Logger.Warn("session quarantined", "session", a.id, "position", r.Position)
			c.Send(c.Parent(), quarantined{a.id, r.OccurredAt})
		case events.KindSessionReleased:
			a.sys.cfg.Logger.Info("session released", "session", a.id, "position", r.Position)
			c.Send(c.Parent(), released{a.id, releasedBy(r)})
		case events.KindSessionRespawned:
			a.sys.cfg.Logger.Warn("observer respawned", "session", a.id, "generation", a.state.Generation(),
				"cause", eventOf[events.SessionRespawned](r).Cause)
			a.stopObserver(c)
		case events.KindInputsDropped:
			e := eventOf[events.InputsDropped](r)
			a.sys.cfg.Logger.Warn("inputs given up", "session", a.id, "position", r.Position, "reason", e.Reason, "inputs", len(e.Inputs))
		}
	}
}

func releasedBy(r events.Record) string {
	return cmp.Or(eventOf[events.SessionReleased](r).By, "probe")
}

// eventOf is the event of a record that was just appended; its zero value if it cannot be read.
func eventOf[E events.Event](r events.Record) E {
	e, _ := r.Event()
	event, _ := e.(E)
	return event
}
