package session

import (
	"math"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// recordFailure has the inputs of a turn bear its failure, where the provider says that it is the turn's own. Of
// another provider's failures they bear no more.
func (s *State) recordFailure(h events.Header, e events.TurnFailed, settles []int) {
	first := false
	for _, i := range settles {
		in := &s.inputs[i]
		in.refusals += uint8(btoi(in.refusals < math.MaxUint8))
		if b, ok := s.blameOf(*in); !ok || b.provider != e.Provider {
			in.blamedAt, first = h.Version, true
		}
	}
	if first {
		s.blames = append(s.blames, failedTurn{reference{h.Position, h.Version}, e.Provider})
	}
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

func (s *State) countUnparsed(at time.Time) {
	s.unparsed = append(s.unparsed, at)
	s.unparsed = s.unparsed[max(0, len(s.unparsed)-maxUnparsed):]
}

// recordFreshGeneration begins a generation that outputs earned: no crash, so that restarts and delays are not touched. What
// the last of them was asked about is asked once more.
func (s *State) recordFreshGeneration(h events.Header) {
	s.fresh, s.refreshed, s.unparsed = true, h.OccurredAt, nil
	if s.ended == nil || s.ended.id != h.Correlation {
		return
	}
	for _, i := range s.ended.settles {
		if s.inputs[i].asks.First() {
			s.owe(i)
		}
	}
}

func (s *State) evolveTurn(h events.Header, e events.Event) {
	switch h.Kind {
	case events.KindTurnStarted:
		if e, ok := e.(events.TurnStarted); ok {
			s.startTurn(h, e)
		}
		return
	case events.KindTurnFailed:
		if e, ok := e.(events.TurnFailed); ok {
			s.failTurn(h, e)
		} else if s.inFlight(h.Correlation) {
			s.turn, s.ended = nil, nil // how it failed was erased: that it did was not
		}
		return
	case events.KindTurnReceived:
		s.endTurn(h)
		return
	}
	if s.ended == nil || s.ended.id != h.Correlation {
		return
	}
	switch h.Kind {
	case events.KindOutputDropped:
		dropped, known := e.(events.OutputDropped)
		s.dropTurn(dropped)
		if known && !dropped.Blank() {
			s.countUnparsed(h.OccurredAt)
		}
		return
	case events.KindOutputSkipped:
		s.settleAll(s.ended.settles, Skipped)
		if skipped, ok := e.(events.OutputSkipped); ok && skipped.Reason != events.ReasonEmpty {
			s.consecutive, s.unparsed = 0, nil
		}
		return
	case events.KindObservationParsed:
		s.recordObservation(h)
	case events.KindSummaryParsed:
		s.recordSummary(h)
	}
	s.consecutive, s.fresh, s.unparsed = 0, false, nil
	s.settleAll(s.ended.settles, Observed)
}

// recordObservation remembers an observation. What an earlier turn had said of the same inputs is given to no summary and no
// brief any more; an observation is taken back with the first input of its turn, whichever turns the rest of them fall into.
func (s *State) recordObservation(h events.Header) {
	t, first, last := s.ended, -1, -1
	if n := len(t.settles); n > 0 {
		first, last = t.settles[0], t.settles[n-1]
	}
	again := slices.ContainsFunc(t.settles, func(i int) bool { return s.inputs[i].outcome == Observed })
	if n := len(s.seen); again && n > 0 && s.seen[n-1].turn != t.id {
		s.seen = slices.DeleteFunc(s.seen, func(o observation) bool { return slices.Contains(t.settles, o.first) })
	}
	s.seen = append(s.seen, observation{reference{h.Position, h.Version}, t.epoch, t.id, first, last})
	s.seen = s.seen[max(0, len(s.seen)-keepObservations):]
}

// recordUndone forgets observations whose work was undone: no summary and no brief names them any more.
func (s *State) recordUndone(e events.WorkUndone) {
	gone := map[events.Position]bool{}
	for _, u := range e.Rows {
		gone[u.At] = u.At != 0
	}
	s.seen = slices.DeleteFunc(s.seen, func(o observation) bool { return gone[o.position] })
}

// recordSummary remembers a summary in place of an earlier one of the same stop.
func (s *State) recordSummary(h events.Header) {
	if s.ended.kind != events.TurnSummary || len(s.ended.settles) == 0 {
		return // it came beside observations
	}
	stop := s.ended.settles[0]
	s.summaries = slices.DeleteFunc(s.summaries, func(m keptSummary) bool { return m.stop == stop })
	s.summaries = append(s.summaries, keptSummary{reference{h.Position, h.Version}, h.OccurredAt.UnixNano(), stop})
}

func (s *State) startTurn(h events.Header, e events.TurnStarted) {
	t := &turn{
		id: e.Turn, started: h.ID, kind: e.TurnKind, settles: s.indexes(e.Settles), prompt: e.Prompt,
	}
	for _, i := range t.settles {
		t.epoch = s.inputs[i].epoch
	}
	s.recordPrompt(t, e)
	s.turn, s.ended = t, nil
}

// endTurn moves the turn in flight aside: its output has arrived, and the events behind TurnReceived say what it was.
func (s *State) endTurn(h events.Header) {
	if s.turn == nil || s.turn.id != h.Correlation {
		return
	}
	t := s.turn
	for _, i := range t.settles {
		s.inputs[i].asks = s.inputs[i].asks.Next()
		t.reasks = t.reasks || s.inputs[i].asks.First()
	}
	s.unowe(t.settles)
	s.held, s.answered = nil, h.Version
	s.turn, s.ended = nil, t
}

func (s *State) dropTurn(e events.OutputDropped) {
	for _, i := range s.ended.settles {
		s.settle(i, Dropped)
		if s.ended.reasks && LacksSummary(e) {
			s.owe(i)
		}
	}
}

func (s *State) failTurn(h events.Header, e events.TurnFailed) {
	if s.turn == nil || s.turn.id != e.Turn {
		return
	}
	t := s.turn
	s.turn, s.ended = nil, nil
	if e.Class.BlamesProvider() {
		s.held = &Held{Provider: e.Provider, Class: e.Class, ResetsAt: e.ResetsAt, At: h.OccurredAt}
	}
	if !blamesBatch(e) {
		return
	}
	if e.Class.BlamesTurn() {
		s.recordFailure(h, e, t.settles)
	}
	for _, i := range t.settles {
		in := &s.inputs[i]
		in.attempts += uint8(btoi(in.attempts < math.MaxUint8))
		if crashed(e) && in.blamed == 0 {
			in.blamed = h.Version
		}
		switch {
		case e.Halved > 0:
			in.most, in.attempts, in.refusals = uint16(min(e.Halved, 1<<16-1)), 0, 0
		case isBatchTooLarge(e.Class) && e.Spared:
			in.most, in.attempts, in.cuts = 1, 0, 0 // it was not its length
		case isBatchTooLarge(e.Class) && len(t.settles) == 1:
			in.most = 1 // what is captured meanwhile would only make it longer
			in.cuts++
		case crashed(e) && len(t.settles) == 1:
			in.most = 1 // so that nothing else is suspected with it
		}
	}
}
