package session

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Reads reports whether Evolve looks into events of kind k. Of all others the header is enough, and a fold need not
// decode them.
func Reads(k events.Kind) bool {
	t, _ := k.Traits()
	return t.Evolves
}

// Evolve applies the event with header h to s. e may be nil where Reads says so, or where the payload was erased. A
// header that was not appended yet has no position; see Place. It never fails: what it cannot use it counts and
// passes over.
func Evolve(s *State, h events.Header, e events.Event) {
	s.version = h.Version
	if !h.Key.IsZero() {
		if s.keys == nil {
			s.keys = map[events.Key]struct{}{}
		}
		s.keys[h.Key] = struct{}{}
	}
	switch h.Kind {
	case events.KindSessionOpened, events.KindPromptSubmitted, events.KindToolUsed, events.KindAgentStopped,
		events.KindContextCompacted, events.KindSessionClosed, events.KindContextInjected:
		s.evolveCaptured(h, e)
	case events.KindTurnStarted, events.KindTurnReceived, events.KindTurnFailed, events.KindOutputDropped,
		events.KindOutputSkipped, events.KindObservationParsed, events.KindSummaryParsed:
		s.evolveTurn(h, e)
	default:
		s.evolveRuling(h, e)
	}
}

func (s *State) evolveCaptured(h events.Header, e events.Event) {
	s.opened = true
	s.closed = h.Kind == events.KindSessionClosed || s.closed && h.Kind == events.KindContextInjected
	s.hear(h)
	switch h.Kind {
	case events.KindSessionOpened:
		if o, ok := e.(events.SessionOpened); ok {
			s.origin = originOf(o)
		}
	case events.KindPromptSubmitted:
		s.prompts = append(s.prompts, ref{position: h.Position, version: h.Version, epoch: s.epoch})
		s.private = h.Unobserved
	case events.KindSessionClosed:
		s.flush = h.Version
	}
	if h.Input() {
		s.addInput(h)
	}
	if h.Kind == events.KindAgentStopped {
		s.epoch++
		s.work, s.flush, s.stopped = 0, h.Version, h.OccurredAt
	}
	if h.Kind == events.KindContextCompacted {
		s.flush = h.Version
	}
}

func (s *State) addInput(h events.Header) {
	epoch := s.epoch
	switch {
	case h.Kind == events.KindToolUsed && epoch > 0 && h.OccurredAt.Before(s.stopped):
		epoch-- // it comes late, from a spool, and belongs to the work that has stopped since
	case h.Kind == events.KindToolUsed:
		s.work++
	}
	s.inputs = append(s.inputs, input{
		position: h.Position, version: h.Version, since: h.RecordedAt, size: int(h.Size), epoch: epoch, kind: h.Kind,
	})
	s.counts[Pending]++
	s.owed = append(s.owed, len(s.inputs)-1)
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
		if known && dropped.Class != classIdle {
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
	}
	s.consecutive, s.fresh, s.unparsed = 0, false, nil
	s.settleAll(s.ended.settles, Observed)
}

// recordObservation remembers an observation. What an earlier turn had said of the same inputs is told to no summary and no
// brief any more; an observation is taken back with the first input of its turn, whichever turns the rest of them fall into.
func (s *State) recordObservation(h events.Header) {
	t, first := s.ended, -1
	if len(t.settles) > 0 {
		first = t.settles[0]
	}
	again := slices.ContainsFunc(t.settles, func(i int) bool { return s.inputs[i].outcome == Observed })
	if n := len(s.seen); again && n > 0 && s.seen[n-1].turn != t.id {
		s.seen = slices.DeleteFunc(s.seen, func(r ref) bool { return slices.Contains(t.settles, r.first) })
	}
	s.seen = append(s.seen, ref{position: h.Position, version: h.Version, epoch: t.epoch, turn: t.id, first: first})
	s.seen = s.seen[max(0, len(s.seen)-keepObservations):]
}

func (s *State) settleAll(is []int, o Outcome) {
	for _, i := range is {
		s.settle(i, o)
	}
}

func (s *State) startTurn(h events.Header, e events.TurnStarted) {
	t := &turn{
		id: e.Turn, started: h.ID, kind: e.TurnKind, settles: s.indexes(e.Settles), prompt: e.Prompt, probe: e.Probe,
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
		case tooLong(e.Class) && e.Spared:
			in.most, in.attempts, in.cuts = 1, 0, 0 // it was not its length
		case tooLong(e.Class) && len(t.settles) == 1:
			in.most = 1 // what is captured meanwhile would only make it longer
			in.cuts++
		case crashed(e) && len(t.settles) == 1:
			in.most = 1 // so that nothing else is suspected with it
		}
	}
}

// crashed reports whether e is the end of an observer.
func crashed(e events.TurnFailed) bool {
	return e.Class == events.FailCrash || e.Class == events.FailInterrupted && !e.Clean
}

// tooLong reports whether c means that less must be asked at once.
func tooLong(c events.FailureClass) bool {
	return c == events.FailOverflow || c == events.FailTruncated
}

// blamesBatch reports whether a failure counts against the inputs that were asked about.
func blamesBatch(e events.TurnFailed) bool {
	return crashed(e) || e.Class.BlamesTurn()
}

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

// reowe brings an input back because a person asked for it at the given time.
func (s *State) reowe(i int, at time.Time) {
	in := &s.inputs[i]
	if in.outcome == Forgotten {
		return
	}
	in.attempts, in.asks, in.cuts, in.most, in.blamed, in.refusals, in.refused = 0, 0, 0, 0, 0, 0, 0
	in.since = at
	s.flush = max(s.flush, in.version)
	s.owe(i)
}

// Place gives the events of records, which were evolved before they were appended, their positions, sizes and times.
func (s *State) Place(records []events.Record) {
	for _, r := range records {
		if r.Input() {
			i := sort.Search(len(s.inputs), func(i int) bool { return s.inputs[i].version >= r.Version })
			in := &s.inputs[i]
			in.position, in.size, in.since = r.Position, int(r.Size), r.RecordedAt
		}
		switch r.Kind {
		case events.KindPromptSubmitted:
			place(s.prompts, r)
		case events.KindObservationParsed:
			place(s.seen, r)
		case events.KindTurnFailed:
			s.placeBlame(r)
		}
		s.hear(r.Header)
	}
}

func place(refs []ref, r events.Record) {
	for i := len(refs) - 1; i >= 0; i-- {
		if refs[i].version == r.Version {
			refs[i].position = r.Position
			return
		}
	}
}

// hear notes a sign of life of the agent. Stops and closes are none: they may be inferred from silence.
func (s *State) hear(h events.Header) {
	switch h.Kind {
	case events.KindSessionOpened, events.KindPromptSubmitted, events.KindToolUsed, events.KindContextCompacted:
		if h.RecordedAt.After(s.heard) {
			s.heard = h.RecordedAt
		}
	}
}

func originOf(o events.SessionOpened) Origin {
	return Origin{
		Agent: o.Agent, AgentSession: o.AgentSession, Project: o.Project, ProjectRoot: o.ProjectRoot, Cwd: o.Cwd,
		GitRoot: o.GitRoot, GitBranch: o.GitBranch, GitHead: o.GitHead, Transcript: o.Transcript, ProjectKey: o.ProjectKey,
	}
}
