package session

import (
	"slices"

	"github.com/cmemd/cmemd/events"
)

func decideForget(s *State, c Forget) ([]events.Draft, error) {
	if len(c.Forgotten) == 0 || !s.opened {
		return nil, ErrNothingToForget
	}
	b := newDecision(c.ID, c.At)
	if t := s.turn; t != nil && slices.ContainsFunc(c.Forgotten, t.promptHolds) {
		b.add(events.TurnFailed{
			Turn: t.id, Class: events.FailInterrupted, Clean: true, Message: "what it was asked about is being forgotten",
		})
		b.correlate(t.id)
		b.last().Causation = t.started
	}
	for _, e := range c.Forgotten {
		b.add(e)
	}
	return b.drafts, nil
}

func decideReobserve(s *State, c Reobserve) ([]events.Draft, error) {
	var known []events.Position
	for _, i := range s.indexes(c.Inputs) {
		if s.inputs[i].outcome != Forgotten {
			known = append(known, s.inputs[i].position)
		}
	}
	if len(known) == 0 {
		return nil, ErrNoInputs
	}
	return newDecision(c.ID, c.At).add(events.ReobserveRequested{Turns: c.Turns, Provider: c.Provider, Inputs: known}).drafts, nil
}

func decideRecheck(s *State, c Recheck) ([]events.Draft, error) {
	if len(c.Checked) == 0 || !s.opened {
		return nil, ErrNoClaims
	}
	b := newDecision(c.ID, c.At)
	for _, checked := range c.Checked {
		b.add(checked)
	}
	return b.drafts, nil
}
