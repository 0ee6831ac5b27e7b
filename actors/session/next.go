package session

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// briefSize is how many of the session's last observations a prompt's brief names.
const briefSize = 10

// Plan is what is owed at one moment.
type Plan struct {
	Turn        *Work     // a turn that is due now; nil: none
	Alternative *Work     // what a person asked one provider for, due too: to be done first where nobody may be asked for Turn
	Tick        bool      // Decide(Tick) has something to record now
	Next        time.Time // when to ask again, if nothing happens before; zero: nothing is waited for
}

// Next says what s owes at now under rules. It depends on its arguments alone, so that a cold start and a restart find
// again what a crash interrupted. While a turn is in flight it owes no other.
func Next(s *State, rules Rules, now time.Time) Plan {
	rules = rules.withDefaults()
	var p Plan
	p.timers(s, rules, now)
	if s.turn != nil || len(s.owed) == 0 {
		return p
	}
	if s.heldBack(rules, now) {
		p.wake(s.resume, now)
		p.wake(s.quarantine.until, now)
		return p
	}
	var at time.Time
	p.Turn, p.Alternative, at = s.due(rules, now)
	if p.Turn == nil {
		p.wake(at, now)
	}
	return p
}

// timers sets Tick, or when it will be true.
func (p *Plan) timers(s *State, rules Rules, now time.Time) {
	if s.work > 0 {
		p.due(s.active.Add(rules.IdleStop), now)
	}
	if s.opened && !s.closed {
		p.due(s.active.Add(rules.Silence), now)
	}
}

func (p *Plan) due(at, now time.Time) {
	if !now.Before(at) {
		p.Tick = true
		return
	}
	p.wake(at, now)
}

func (p *Plan) wake(at, now time.Time) {
	if at.After(now) && (p.Next.IsZero() || at.Before(p.Next)) {
		p.Next = at
	}
}

// due returns the turn that is due, or when the next one will be. Inputs that failed by their own fault come last: others must
// not wait for them. Inputs for which a person named one provider come after all others, for any provider may be asked for those.
// While both are due, besides is the turn over the named provider's inputs: it can go on while the provider of turn is paused.
func (s *State) due(rules Rules, now time.Time) (turn, besides *Work, at time.Time) {
	if s.quarantine.trip > 0 {
		turn, at = s.probe(rules, now)
		return turn, nil, at
	}
	turn, at = s.dueOf(false, rules, now)
	if len(s.requested) > 0 {
		besides, _ = s.dueOf(true, rules, now)
	}
	if turn == nil && besides != nil {
		return besides, nil, time.Time{}
	}
	return turn, besides, at
}

// dueOf is due of the inputs that a person asked one provider for, or of the others.
func (s *State) dueOf(requested bool, rules Rules, now time.Time) (*Work, time.Time) {
	w, at := s.dueBlameless(requested, rules, now)
	if w != nil {
		return w, time.Time{}
	}
	if w = s.dueBlamed(requested, rules, now); w != nil {
		return w, time.Time{}
	}
	return nil, at
}

// isRequested reports whether a person asked one provider for any of the inputs is.
func (s *State) isRequested(is ...int) bool {
	return len(s.requested) > 0 && slices.ContainsFunc(is, func(i int) bool { return s.requested[i] != "" })
}

// Planned returns the turn that would come next with a batch of len(ps) inputs, due or not. It takes inputs of the sort that
// those at ps are: failed by their own fault or not, asked of one provider by a person or not. It returns nil if fewer of that sort
// may be asked about together.
func (s *State) Planned(rules Rules, ps []events.Position, now time.Time) (w *Work) {
	rules.Batch = policy.BatchLimits{MaxInputs: len(ps)}
	requested := s.isRequested(s.indexes(ps)...)
	switch {
	case s.quarantine.trip > 0:
		w, _ = s.probe(rules, now)
	case s.Blamed(ps):
		w = s.dueBlamed(requested, rules, now)
	default:
		w, _ = s.dueBlameless(requested, rules, now)
	}
	return w
}

// dueBlameless is dueOf of the inputs that have not failed by their own fault: those of the oldest stretch of work first, and
// its stop behind them.
func (s *State) dueBlameless(requested bool, rules Rules, now time.Time) (*Work, time.Time) {
	first := s.firstOwed(
		func(i int) bool { return s.inputs[i].refusals == 0 && s.isRequested(i) == requested },
		func(in *input) int { return 2*in.epoch + btoi(in.kind == events.KindAgentStopped) },
	)
	return s.dueFrom(first, rules, now)
}

// dueBlamed is dueOf of the inputs that have failed by their own fault: those first that did so least often, so that the
// bad one of a batch that was halved keeps the other half waiting for one turn alone.
func (s *State) dueBlamed(requested bool, rules Rules, now time.Time) *Work {
	first := s.firstOwed(
		func(i int) bool { return s.inputs[i].refusals > 0 && s.isRequested(i) == requested },
		func(in *input) int { return int(in.refusals) },
	)
	w, _ := s.dueFrom(first, rules, now)
	return w
}

// probe returns the turn of a quarantine that is over: about the one input that was tried least, so that a bad one is
// found at once and keeps nobody waiting.
func (s *State) probe(rules Rules, now time.Time) (*Work, time.Time) {
	first := s.firstOwed(func(int) bool { return true }, func(in *input) int { return int(in.attempts) })
	return s.dueFrom(first, rules, now)
}

// firstOwed returns the owed input of the lowest rank among those that want holds for, of equal ones the first; -1: there is
// none. A stop waits until the work before it was observed.
func (s *State) firstOwed(want func(i int) bool, rank func(in *input) int) int {
	var working map[int]bool // by epoch: it has inputs to observe
	found := -1
	for _, i := range s.owed {
		in := &s.inputs[i]
		if found >= 0 && rank(in) >= rank(&s.inputs[found]) || !want(i) {
			continue
		}
		if in.kind == events.KindAgentStopped {
			if working == nil {
				working = s.working()
			}
			if working[in.epoch] {
				continue
			}
		}
		found = i
	}
	return found
}

// working tells the epochs that have inputs to observe.
func (s *State) working() map[int]bool {
	epochs := map[int]bool{}
	for _, i := range s.owed {
		if in := &s.inputs[i]; in.kind != events.KindAgentStopped {
			epochs[in.epoch] = true
		}
	}
	return epochs
}

// dueFrom returns the turn over an owed input and those that go with it, or when it will be due; there is none for -1.
func (s *State) dueFrom(first int, rules Rules, now time.Time) (*Work, time.Time) {
	switch {
	case first < 0:
		return nil, time.Time{}
	case s.inputs[first].talk:
		return s.talkOf(first), time.Time{}
	case s.inputs[first].kind == events.KindAgentStopped:
		return s.summaryOf(rules, first), time.Time{}
	}
	return s.dueObservation(rules, first, now)
}

func (s *State) dueObservation(rules Rules, first int, now time.Time) (*Work, time.Time) {
	count, full := s.batch(rules, first, nil)
	in := s.inputs[first]
	aged := rules.Batch.MaxAge > 0 && !now.Before(in.since.Add(rules.Batch.MaxAge))
	if in.version > s.flush && in.epoch == s.epoch && !full && !aged {
		if rules.Batch.MaxAge > 0 {
			return nil, in.since.Add(rules.Batch.MaxAge)
		}
		return nil, time.Time{}
	}
	batch := make([]int, 0, count)
	s.batch(rules, first, func(i int) { batch = append(batch, i) })
	w := s.workOn(events.TurnObservation, batch)
	w.Reads = s.saidAround(batch)
	if stop, ok := s.stopOf(in.epoch); ok {
		w.Reads = append(w.Reads, stop)
	}
	w.Gone = s.forgottenOf(w.Reads)
	return w, time.Time{}
}

// batch takes owed inputs from first on that belong to the same stretch of work, the same half of an earlier batch and the
// same row of failures, up to the batch limits and to what a failure left as the most, and to one that another provider was asked
// for; what one was asked for goes with nothing that none was. It counts them and hands each to take, unless that is nil:
// most often the answer is that nothing is due. full means that the batch limits alone make the batch due.
func (s *State) batch(rules Rules, first int, take func(i int)) (n int, full bool) {
	if take == nil {
		take = func(int) {}
	}
	if s.quarantine.trip > 0 {
		take(first)
		return 1, true // a probe risks one input, so that a bad one is found at once
	}
	head, requested := &s.inputs[first], s.isRequested(first)
	limits, bytes, most, asked := rules.Batch, 0, int(head.most), ""
	for _, i := range s.owed {
		in := &s.inputs[i]
		if i < first || in.epoch != head.epoch || in.kind == events.KindAgentStopped || in.refusals != head.refusals || s.isRequested(i) != requested {
			continue
		}
		if reachesLimit(n, most) || reachesLimit(n, limits.MaxInputs) || n > 0 && (head.most != in.most || reachesLimit(bytes+in.size-1, limits.MaxBytes)) {
			return n, true
		}
		if by := s.requested[i]; by != "" {
			if asked != "" && asked != by {
				return n, true
			}
			asked = by
		}
		take(i)
		n, bytes = n+1, bytes+in.size
	}
	return n, reachesLimit(n, limits.MaxInputs) || reachesLimit(bytes, limits.MaxBytes) || most > 0
}

// reachesLimit reports whether n has reached a limit; 0 is no limit.
func reachesLimit(n, limit int) bool { return limit > 0 && n >= limit }

// stopOf returns the stop that ended the stretch of work with the given epoch.
func (s *State) stopOf(epoch int) (events.Position, bool) {
	for i := len(s.inputs) - 1; i >= 0; i-- {
		switch in := s.inputs[i]; {
		case in.kind != events.KindAgentStopped:
		case in.epoch == epoch:
			return in.position, true
		case in.epoch < epoch:
			return 0, false
		}
	}
	return 0, false
}

// talkOf is the turn over the stop of an answer without tool uses: what was said is all that there is to observe.
func (s *State) talkOf(stop int) *Work {
	w := s.workOn(events.TurnObservation, []int{stop})
	w.Reads = s.saidAround([]int{stop})
	w.Gone = s.forgottenOf(w.Reads)
	return w
}

// forgottenOf returns those of ps, texts and stops, that are forgotten.
func (s *State) forgottenOf(ps []events.Position) (gone []events.Position) {
	for _, t := range s.said {
		if t.forgotten && slices.Contains(ps, t.position) {
			gone = append(gone, t.position)
		}
	}
	for _, i := range s.indexes(ps) {
		if s.inputs[i].outcome == Forgotten {
			gone = append(gone, s.inputs[i].position)
		}
	}
	return gone
}

// maxSaid is how many texts between tool calls one turn reads, the last ones.
const maxSaid = 200

// saidAround returns what was said in the same stretch of work behind the input before a batch and no later than the last of the
// batch, or up to the stretch's end where no input of it follows.
func (s *State) saidAround(batch []int) []events.Position {
	first, last := batch[0], batch[len(batch)-1]
	epoch, from, to := s.inputs[first].epoch, int64(math.MinInt64), int64(math.MaxInt64)
	of := func(i int) bool { return s.inputs[i].epoch == epoch && s.inputs[i].kind != events.KindAgentStopped }
	for i := first - 1; i >= 0 && s.inputs[i].epoch >= epoch-1 && from == math.MinInt64; i-- {
		if of(i) {
			from = s.inputs[i].at
		}
	}
	for i := last + 1; i < len(s.inputs) && s.inputs[i].epoch <= epoch+1 && to == math.MaxInt64; i++ {
		if of(i) {
			to = s.inputs[last].at
		}
	}
	var said []events.Position
	for _, t := range s.said {
		if t.epoch == epoch && from < t.at && t.at <= to {
			said = append(said, t.position)
		}
	}
	return said[max(0, len(said)-maxSaid):]
}

// maxRequests is how many prompts a summary turn is offered: the first, which says most often what a session is about, and the
// last ones.
const maxRequests = 50

// summaryOf is the turn over a stop with work: it sums up the session.
func (s *State) summaryOf(rules Rules, stop int) *Work {
	w := s.workOn(events.TurnSummary, []int{stop})
	if rules.Version < RulesWhole {
		for _, o := range s.seen {
			if o.epoch == s.inputs[stop].epoch {
				w.Reads = append(w.Reads, o.position)
			}
		}
		return w
	}
	asked := s.prompts[:w.Prompt]
	for i, q := range asked {
		if !q.private && !q.forgotten && (i == 0 || i > len(asked)-maxRequests) {
			w.Offers = append(w.Offers, q.position)
		}
	}
	for _, o := range s.seen {
		if o.epoch <= s.inputs[stop].epoch { // what came later is in the summary of a later stop
			w.Offers = append(w.Offers, o.position)
		}
	}
	slices.Sort(w.Offers)
	return w
}

func (s *State) workOn(kind events.TurnKind, is []int) *Work {
	w := &Work{Kind: kind, Settles: s.positions(is), Probe: s.quarantine.trip > 0, Trip: s.quarantine.trip, Attempt: 1, Known: s.version}
	for _, i := range is {
		w.Attempt = max(w.Attempt, int(s.inputs[i].attempts)+1, int(s.inputs[i].asks)+1)
		w.Cuts = max(w.Cuts, int(s.inputs[i].cuts))
		w.Provider = cmp.Or(w.Provider, s.requested[i])
		w.Blamed = w.Blamed || s.inputs[i].refusals > 0
	}
	w.Prompt, w.PromptAt = s.promptBefore(s.inputs[is[0]].version)
	if w.Prompt > 0 && s.prompts[w.Prompt-1].forgotten {
		w.PromptAt = 0
	}
	w.Fresh = s.fresh
	for _, o := range s.seen[max(0, len(s.seen)-briefSize):] {
		w.Brief = append(w.Brief, o.position)
	}
	return w
}
