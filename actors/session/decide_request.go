package session

import (
	"slices"

	"github.com/cmemd/cmemd/events"
)

// decideForget records what is forgotten. Where that takes the session's newest summary, another is asked for of its last stop that
// is left, unless one is owed as it is.
func decideForget(s *State, rules Rules, c Forget) ([]events.Draft, error) {
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
	if stop, ok := s.unsummed(c.Forgotten); ok && rules.Version >= RulesWhole {
		cause := b.last().ID
		b.add(events.ReobserveRequested{Inputs: []events.Position{stop}}).last().Causation = cause
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
