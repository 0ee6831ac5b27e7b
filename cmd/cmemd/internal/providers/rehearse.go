package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/turn"
)

// A rehearsal is an observer at work on what was captured of a session, as it would be in a daemon, over a log of its own. What
// it records goes with that log.
type rehearsal struct {
	log         *eventlog.Bolt
	provider    observer.Provider
	types       observer.Types
	turnTimeout time.Duration // of one turn
	rules       session.Rules
	pipeline    *turn.Pipeline
	onBill      func(events.Bill) // is called with what each turn cost
	onTurn      func(inputs int)  // is called after each turn that did not fail, with how many inputs it was about

	last     events.Position // of the log
	answered events.Position // of the last answer; 0: none
	blamed   int             // turns in a row that failed by their own fault
}

// maxBlamed is how many turns in a row may fail by their own fault: what halving a whole batch down to one input takes, each part
// refused three times. A daemon would have the provider rest long before, and go on later.
const maxBlamed = 20

// playResult is what came of one session.
type playResult struct {
	failed, dropped, skipped int // turns
	rows                     []comparedRow
}

// newRehearsal returns a rehearsal of an observer over a log of its own at path, which end removes.
func newRehearsal(path string, by observer.Provider, types observer.Types, turnTimeout time.Duration) (r *rehearsal, end func(), err error) {
	log, err := eventlog.Open(path, eventlog.Config{})
	if err != nil {
		return nil, nil, err
	}
	r = &rehearsal{
		log: log, provider: by, types: types, turnTimeout: turnTimeout, pipeline: turn.New(turn.Config{Log: log}),
		onBill: func(events.Bill) {}, onTurn: func(int) {},
	}
	r.rules.Batch = by.BatchLimits()
	return r, func() { _, _ = log.Close(), os.Remove(path) }, nil // the folder goes as a whole
}

// isCaptured reports whether events of a kind come from an agent, and not from what was made of it.
func isCaptured(k events.Kind) bool {
	t, _ := k.Traits()
	return t.Reported || k == events.KindSessionClosed
}

// play has the observer work through a session. Captured is the records of the kinds of isCaptured, in their order; what was
// erased of them is left out. An error says that the observer cannot go on; what it had made until then is returned too.
func (r *rehearsal) play(ctx context.Context, captured []events.Record) (p playResult, err error) {
	stream := captured[0].Stream
	state, err := r.copy(ctx, stream, captured)
	if err != nil {
		return p, err
	}
	for {
		now := time.Now()
		plan := session.Next(state, r.rules, now)
		switch {
		case plan.Turn != nil:
			err = r.turn(ctx, stream, state, *plan.Turn, &p)
		case plan.Tick:
			err = r.decide(ctx, stream, state, session.Tick{ID: newID(), At: now})
		default:
			return p, nil
		}
		if err != nil {
			return p, err
		}
	}
}

// playAll plays sessions, and looks at nothing that comes of them.
func (r *rehearsal) playAll(ctx context.Context, captured [][]events.Record) error {
	for _, one := range captured {
		if _, err := r.play(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

func newID() events.ID { return uuid.Must(uuid.NewV7()) }

// copy puts captured records into the rehearsal's log, and returns the state of the session then.
func (r *rehearsal) copy(ctx context.Context, stream events.StreamID, captured []events.Record) (*session.State, error) {
	var drafts []events.Draft
	for _, c := range captured {
		e, err := c.Event()
		if errors.Is(err, events.ErrErased) {
			continue
		}
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, events.Draft{ID: c.ID, Key: c.Key, OccurredAt: c.OccurredAt, Unobserved: c.Unobserved, Event: e})
	}
	if len(drafts) > 0 {
		if _, err := eventlog.AppendEnd(ctx, r.log, stream, drafts...); err != nil {
			return nil, err
		}
	}
	return session.Fold(r.log.Stream(ctx, stream, 1))
}

// decide records what comes of a command.
func (r *rehearsal) decide(ctx context.Context, stream events.StreamID, state *session.State, cmd session.Command) error {
	drafts, err := session.Decide(state, r.rules, cmd)
	if err != nil {
		return err
	}
	records, err := eventlog.AppendEnd(ctx, r.log, stream, drafts...)
	for _, rec := range records {
		err, r.last = cmp.Or(err, state.EvolveRecord(rec)), rec.Position
	}
	return err
}

// turn asks the observer about what is due, and records what came of it.
func (r *rehearsal) turn(ctx context.Context, stream events.StreamID, state *session.State, w session.Work, p *playResult) error {
	id := newID()
	prompt, err := r.pipeline.Load(ctx, turn.RequestOf(id, w, state))
	if err != nil {
		return err
	}
	prompt.Budget = turn.Budget(prompt.Size(), r.rules.Batch.MaxBytes, w.Cuts)
	w.Reads = prompt.Reads
	start := session.StartTurn{Turn: id, At: time.Now(), Work: w, Provider: r.provider.Name(), Model: r.provider.Model(), PromptBytes: prompt.Size()}
	if err := r.decide(ctx, stream, state, start); err != nil {
		return err
	}
	reply, err := turn.Ask(ctx, r.provider, prompt, r.turnTimeout)
	got, err := r.pipeline.Result(ctx, r.provider, r.types, prompt, reply, err)
	switch {
	case got.Answer != nil:
		got.Answer.At = time.Now()
		r.onBill(got.Answer.Received.Bill())
		p.take(*got.Answer, w)
		err = r.decide(ctx, stream, state, *got.Answer)
		r.answered, r.blamed = r.last, 0
		r.onTurn(len(w.Settles))
	case got.Failed != nil:
		p.failed++
		r.onBill(got.Failed.Bill())
		err = cmp.Or(err, r.fail(ctx, stream, state, *got.Failed))
	}
	return err
}

// fail records a turn that failed. What does not blame the turn would have it wait in a daemon: here it is the end.
func (r *rehearsal) fail(ctx context.Context, stream events.StreamID, state *session.State, f events.TurnFailed) error {
	if r.blamed++; !f.Class.BlamesTurn() || r.blamed == maxBlamed {
		return fmt.Errorf("%s failed: %s: %s", r.provider.Name(), f.Class, f.Message)
	}
	f.Answered = r.answered
	return r.decide(ctx, stream, state, session.Fail{ID: newID(), At: time.Now(), Failed: f})
}

// take adds an answer.
func (p *playResult) take(a session.Answer, w session.Work) {
	switch {
	case a.Dropped != nil:
		p.dropped++
	case a.Skipped != nil:
		p.skipped++
	}
	for _, o := range a.Observations {
		p.rows = append(p.rows, comparedRow{Prompt: w.Prompt, Observation: &o})
	}
	if a.Summary != nil {
		p.rows = append(p.rows, comparedRow{Prompt: w.Prompt, Summary: a.Summary})
	}
}

// standIn counts what its observer would be asked, and finds nothing worth recording. It asks nobody.
type standIn struct {
	observer.Provider
	turns int
	bytes int64 // of captured text
}

// Complete implements observer.Provider.
func (s *standIn) Complete(_ context.Context, p observer.Prompt) (observer.Reply, error) {
	s.turns++
	s.bytes += int64(p.Size())
	return observer.Reply{Text: events.NewOutput(observer.SkipForm), Form: events.FormXML}, nil
}
