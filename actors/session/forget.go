package session

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Forget records that payloads of the session are to be erased, or that they have been kept for long enough. Which ones is
// chosen by who asks: every position is of the session's own stream. A turn in flight that was told any of it is
// interrupted, and blames nobody: what it would say is made of what goes.
type Forget struct {
	ID        events.ID
	At        time.Time
	Forgotten []events.MemoryForgotten // at least one
}

// Name is the command's kind.
func (Forget) Name() string { return "forget" }

func decideForget(s *State, c Forget) ([]events.Draft, error) {
	if len(c.Forgotten) == 0 || !s.opened {
		return nil, ErrNothingToForget
	}
	b := newBatch(c.ID, c.At)
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

// promptHolds reports whether the prompt of the turn holds anything that e names.
func (t *turn) promptHolds(e events.MemoryForgotten) bool {
	return slices.ContainsFunc(e.Positions, func(p events.Position) bool { return p != 0 && slices.Contains(t.inPrompt, p) })
}

// recordPrompt notes what the prompt of the turn holds: what it settles and reads, the user's prompt that it serves, and what its
// brief names.
func (s *State) recordPrompt(t *turn, e events.TurnStarted) {
	t.inPrompt = slices.Concat(e.Settles, e.Reads)
	if n := e.Prompt; n > 0 && n <= len(s.prompts) {
		t.inPrompt = append(t.inPrompt, s.prompts[n-1].position)
	}
	for _, o := range s.seen[max(0, len(s.seen)-briefSize):] {
		t.inPrompt = append(t.inPrompt, o.position)
	}
}

// forget carries out a MemoryForgotten of the session's own stream: what others say of an input changes no outcome. An
// observation that is forgotten is read by no summary and named in no brief.
func (s *State) forget(e events.MemoryForgotten) {
	is := s.indexes(e.Positions)
	s.settleAll(is, Forgotten)
	s.unowe(is)
	gone := make(map[events.Position]bool, len(e.Positions))
	for _, p := range e.Positions {
		gone[p] = true
	}
	s.seen = slices.DeleteFunc(s.seen, func(r ref) bool { return gone[r.position] })
}
