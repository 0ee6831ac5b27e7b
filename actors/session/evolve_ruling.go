package session

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

func (s *State) evolveRuling(h events.Header, e events.Event) {
	switch e := e.(type) {
	case events.InputsDropped:
		is := s.indexes(e.Inputs)
		s.settleAll(is, Dropped)
		s.unowe(is)
	case events.ReobserveRequested:
		for _, i := range s.indexes(e.Inputs) {
			s.reowe(i, h.OccurredAt)
			s.recordRequested(i, e.Provider)
		}
	case events.MemoryForgotten:
		s.forgot = h.Version
		s.forget(e)
	case events.SessionRespawned:
		s.generation = e.To
		if EarnedByOutputs(e) {
			s.recordFreshGeneration(h)
			return
		}
		s.consecutive = e.Counted.Consecutive
		s.resume = h.OccurredAt.Add(e.Delay)
		s.restarts = slices.DeleteFunc(s.restarts, func(t time.Time) bool { return h.OccurredAt.Sub(t) > e.Limits.Window })
		s.restarts = append(s.restarts, h.OccurredAt)
	case events.SessionQuarantined:
		s.generation++
		s.quarantined(h, e)
		s.restarts, s.consecutive, s.resume = nil, 0, time.Time{}
	}
	if h.Kind == events.KindSessionReleased {
		s.quarantine = quarantine{}
		s.restarts, s.consecutive, s.resume = nil, 0, time.Time{}
	}
}

func (s *State) quarantined(h events.Header, e events.SessionQuarantined) {
	began := s.quarantine.began
	if s.quarantine.trip == 0 {
		began = h.OccurredAt
	}
	s.quarantine = quarantine{began: began, since: h.OccurredAt, until: e.Until, trip: e.Trip}
}

// forget carries out a MemoryForgotten of the session's own stream: what others say of an input changes no outcome. A prompt or
// an observation that is forgotten is read by no summary and named in no brief; of a text or a stop see Work.Gone.
func (s *State) forget(e events.MemoryForgotten) {
	is := s.indexes(e.Positions)
	s.settleAll(is, Forgotten)
	s.unowe(is)
	gone := make(map[events.Position]bool, len(e.Positions))
	for _, p := range e.Positions {
		gone[p] = true
	}
	for i, q := range s.prompts {
		s.prompts[i].forgotten = q.forgotten || gone[q.position]
	}
	for i, t := range s.said {
		s.said[i].forgotten = t.forgotten || gone[t.position]
	}
	s.seen = slices.DeleteFunc(s.seen, func(o observation) bool { return gone[o.position] })
	s.summaries = slices.DeleteFunc(s.summaries, func(m keptSummary) bool { return gone[m.position] })
}
