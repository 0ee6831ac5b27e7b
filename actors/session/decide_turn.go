package session

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// decideStart begins a turn that is the one to come next: of the right kind, over the right inputs, read with the right
// ones, asked for the right time. All of that follows from what is on record. What does not is taken from the command:
// how many inputs the provider takes at once, and whether it is time.
func decideStart(s *State, rules Rules, c StartTurn) ([]events.Draft, error) {
	if s.turn != nil {
		return nil, ErrTurnInFlight
	}
	if len(s.owed) == 0 || s.heldBack(rules, c.At) {
		return nil, ErrNotDue
	}
	if what := s.Planned(rules, c.Work.Settles, c.At).difference(c.Work); what != "" {
		return nil, fmt.Errorf("%w: %s", ErrNotDue, what)
	}
	if c.Work.Known > 0 && s.forgot > c.Work.Known {
		return nil, fmt.Errorf("%w: something was forgotten since its prompt was made", ErrNotDue)
	}
	b := newDecision(c.Turn, c.At).add(events.TurnStarted{
		Turn: c.Turn, TurnKind: c.Work.Kind, Generation: s.generation, Provider: c.Provider, Model: c.Model,
		Settles: c.Work.Settles, Reads: c.Work.Reads, PromptBytes: c.PromptBytes, Attempt: c.Work.Attempt,
		Probe: c.Work.Probe, Prompt: c.Work.Prompt, Notable: c.Notable, Instead: c.Instead,
	})
	return b.correlate(c.Turn).drafts, nil
}

// heldBack reports whether a restart's delay or a quarantine keeps turns back at now. What is further ahead than the
// longest wait there is was recorded by a clock that has been set back since, and keeps nothing back.
func (s *State) heldBack(rules Rules, now time.Time) bool {
	return ahead(s.resume, now, rules.Restarts.Longest()) ||
		s.quarantine.trip > 0 && ahead(s.quarantine.until, now, rules.Quarantine.Cap)
}

func ahead(at, now time.Time, most time.Duration) bool {
	return now.Before(at) && at.Sub(now) <= most
}

func decideAnswer(s *State, rules Rules, c Answer) ([]events.Draft, error) {
	if !s.inFlight(c.Received.Turn) {
		return nil, ErrNoTurn
	}
	kept := len(c.Observations) > 0 || c.Summary != nil
	if btoi(kept)+btoi(c.Dropped != nil)+btoi(c.Skipped != nil) != 1 {
		return nil, ErrBadAnswer
	}
	b := newDecision(c.ID, c.At).add(c.Received)
	for _, o := range c.Observations {
		o.Prompt = s.turn.prompt
		b.add(o)
	}
	if c.Summary != nil {
		m := *c.Summary
		m.Prompt = s.turn.prompt
		b.add(m)
	}
	if c.Dropped != nil {
		b.add(*c.Dropped)
	}
	if c.Skipped != nil {
		b.add(*c.Skipped)
	}
	if c.Undone != nil {
		b.add(*c.Undone)
	}
	if s.quarantine.trip > 0 {
		b.add(events.SessionReleased{By: "probe"})
	}
	if c.Dropped != nil {
		decideFreshGeneration(s, rules, b, c.Dropped)
	}
	b.correlate(c.Received.Turn)
	for i := range b.drafts[1:] {
		d := &b.drafts[i+1]
		d.Causation = b.drafts[0].ID
		if k := events.KindOf(d.Event); (k == events.KindObservationParsed || k == events.KindSummaryParsed) && !c.Happened.IsZero() {
			d.OccurredAt = c.Happened
		}
	}
	b.drafts[0].Causation = s.turn.started
	return b.drafts, nil
}

func decideInterrupt(s *State, rules Rules, c Interrupt) ([]events.Draft, error) {
	if s.turn == nil {
		return nil, nil
	}
	return decideFail(s, rules, Fail{ID: c.ID, At: c.At, Failed: events.TurnFailed{
		Turn: s.turn.id, Class: events.FailInterrupted, Clean: c.Clean,
		Message: "the daemon ended while the turn was in flight",
	}.WithBill(c.Paid)})
}

// decideFail ends the turn in flight. What blames the batch may halve it, or give its single input up; what was a crash
// of the observer is followed by a restart or a quarantine, decided here and carried out after the append.
func decideFail(s *State, rules Rules, c Fail) ([]events.Draft, error) {
	if !s.inFlight(c.Failed.Turn) {
		return nil, ErrNoTurn
	}
	failed := c.Failed
	if !known(failed.Class) {
		failed.Class = events.FailUnknown
	}
	give := events.DropReason("")
	if blamesBatch(failed) {
		failed.Halved, give, failed.Spared = decideBatch(s, failed, rules.MaxAttempts)
	}
	b := newDecision(c.ID, c.At).add(failed)
	if give != "" {
		b.add(events.InputsDropped{Inputs: s.positions(s.turn.settles), Reason: give, Turn: s.turn.id})
	}
	if crashed(failed) {
		decideRestart(s, rules, b, failed.Class, give != "")
	}
	b.correlate(failed.Turn)
	b.drafts[0].Causation = s.turn.started
	return b.drafts, nil
}

// decideRestart decides, after a crash, between a restart and a quarantine. A probe whose crash gave its input up has
// removed what it crashed on: the quarantine is renewed, not lengthened.
func decideRestart(s *State, rules Rules, b *decision, class events.FailureClass, removed bool) {
	cause := CauseCrash
	if class == events.FailInterrupted {
		cause = CauseInterrupted
	}
	counted, trip := rules.Restarts.Decide(s.restarts, s.consecutive, b.at)
	if s.quarantine.trip > 0 {
		trip = policy.TripProbe
	}
	limits := rules.Restarts.Limits()
	if trip == "" {
		delay := rules.Restarts.Delay(counted.Consecutive, binary.BigEndian.Uint64(b.id[8:]))
		b.add(events.SessionRespawned{
			From: s.generation, To: s.generation + 1, Cause: cause, Limits: limits, Counted: counted, Delay: delay,
		})
		return
	}
	n := s.quarantine.trip + 1
	if removed && s.quarantine.trip > 0 {
		n = s.quarantine.trip
	}
	b.add(events.SessionQuarantined{
		Cause: trip, Until: b.at.Add(rules.Quarantine.Nth(n)), Trip: n, Limits: limits, Counted: counted,
	})
}

// decideFreshGeneration adds the fresh generation that an output which did not parse may earn. Where a new generation would say
// the same again, it earns nothing.
func decideFreshGeneration(s *State, rules Rules, b *decision, dropped *events.OutputDropped) {
	if rules.Outputs == nil || rules.Batch.Fixed || dropped.Blank() {
		return
	}
	counted, respawn := rules.Outputs.Decide(s.unparsed, s.refreshed, b.at)
	if !respawn {
		return
	}
	b.add(events.SessionRespawned{
		From: s.generation, To: s.generation + 1, Cause: CauseUnparseable, Limits: rules.Outputs.Limits(),
		Counted: events.Counted{Unparseable: counted},
	})
}

// decideBatch says what the failure e means for the inputs in flight: fewer at once, or giving the one up. An input is given
// up only where the observer answered something else since it first failed on it: one that fails on everything says
// nothing of the input.
func decideBatch(s *State, e events.TurnFailed, most int) (halved int, give events.DropReason, spared bool) {
	attempts := 0
	for _, i := range s.turn.settles {
		attempts = max(attempts, int(s.inputs[i].attempts)+1)
	}
	n := len(s.turn.settles)
	switch {
	case n > 1 && (isBatchTooLarge(e.Class) || attempts >= most):
		return (n + 1) / 2, "", false
	case n > 1 || attempts < most:
		return 0, "", false
	case !s.answeredSince(s.inputs[s.turn.settles[0]], e):
		return 0, "", e.Class.BlamesTurn()
	case isBatchTooLarge(e.Class):
		return 0, events.DropOverflow, false
	case e.Class == events.FailRefused:
		return 0, events.DropRefused, false
	}
	return 0, events.DropPoison, false
}
