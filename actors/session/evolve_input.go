package session

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

func (s *State) addInput(h events.Header) {
	epoch := s.epoch
	switch {
	case h.Kind == events.KindToolUsed && epoch > 0 && h.OccurredAt.Before(s.stopped):
		epoch-- // it comes late, from a spool, and belongs to the work that has stopped since
	case h.Kind == events.KindToolUsed:
		s.work++
	}
	s.inputs = append(s.inputs, input{
		position: h.Position, version: h.Version, since: h.RecordedAt, at: h.OccurredAt.UnixNano(), size: int(h.Size), epoch: epoch,
		kind: h.Kind, talk: h.Kind == events.KindAgentStopped && s.work == 0,
	})
	s.counts[Pending]++
	s.owed = append(s.owed, len(s.inputs)-1)
}

// recordSaid remembers a text between tool calls. One that comes late belongs to the work that has stopped since.
func (s *State) recordSaid(h events.Header) {
	if h.Unobserved {
		return
	}
	epoch := s.epoch
	if epoch > 0 && h.OccurredAt.Before(s.stopped) {
		epoch--
	} else {
		s.words = true
	}
	s.said = append(s.said, keptText{reference{h.Position, h.Version}, epoch, h.OccurredAt.UnixNano(), false})
	s.said = s.said[max(0, len(s.said)-keepSaid):]
}

func (s *State) settleAll(is []int, o Outcome) {
	for _, i := range is {
		s.settle(i, o)
	}
}

// reowe brings an input back because a person asked for it at the given time.
func (s *State) reowe(i int, at time.Time) {
	in := &s.inputs[i]
	if in.outcome == Forgotten {
		return
	}
	in.attempts, in.asks, in.cuts, in.most, in.blamed, in.refusals, in.blamedAt = 0, 0, 0, 0, 0, 0, 0
	in.since = at
	s.flush = max(s.flush, in.version)
	s.owe(i)
}

func (s *State) settle(i int, o Outcome) {
	in := &s.inputs[i]
	s.counts[in.outcome]--
	in.outcome = in.outcome.SettledAs(o)
	s.counts[in.outcome]++
}

func (s *State) owe(i int) {
	if s.inputs[i].outcome == Forgotten {
		return
	}
	if at, found := slices.BinarySearch(s.owed, i); !found {
		s.owed = slices.Insert(s.owed, at, i)
	}
}

// recordRequested notes whom a person asked to answer for input i; empty: nobody in particular.
func (s *State) recordRequested(i int, provider string) {
	if provider == "" {
		delete(s.requested, i)
		return
	}
	if s.requested == nil {
		s.requested = map[int]string{}
	}
	s.requested[i] = provider
}

func (s *State) unowe(is []int) {
	gone := make(map[int]bool, len(is))
	for _, i := range is {
		gone[i] = true
	}
	s.owed = slices.DeleteFunc(s.owed, func(i int) bool { return gone[i] })
}
