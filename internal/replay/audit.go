package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
)

// Accounts are the balance of a log's inputs, counted from its raw events by the definition of an outcome alone, and set
// beside what the fold of each session says.
type Accounts struct {
	Position      events.Position                      `json:"position"`       // of the last record that was read
	Balance       session.Balance                      `json:"balance"`        // over all sessions, by the definition
	Sessions      map[events.SessionID]session.Balance `json:"sessions"`       // those with inputs, by the definition
	Erased        int                                  `json:"erased"`         // payloads that say what a turn or a ruling was about, and are gone
	Discrepancies []Discrepancy                        `json:"discrepancies"`  // at most MaxListed
	More          int                                  `json:"more,omitempty"` // discrepancies beyond those listed
}

// MaxListed is how many discrepancies, or differences, are listed one by one: enough to see what they have in common.
// All are counted.
const MaxListed = 1000

// Discrepancy is a place where a log's balance does not add up.
type Discrepancy struct {
	Session  events.SessionID `json:"session"`
	Position events.Position  `json:"position,omitempty"` // of the event that cannot be right; 0: the session's balance as a whole
	Problem  string           `json:"problem"`
	Defined  session.Balance  `json:"defined,omitzero"` // what the definition says
	Folded   session.Balance  `json:"folded,omitzero"`  // what the session's fold says
}

// Audit reads records, which begin with a log's first one, and counts what became of every input: the latest turn that kept or
// skipped it decides; else it is dropped, if a turn dropped it or InputsDropped names it; else it is pending; forgotten, by an
// event of its own session, is final. It shares no code with session, whose fold it is compared with. An error is that of the
// sequence, of a payload that cannot be read, or ctx.Err(). Discrepancies come in the order of their sessions' first records.
//
// It decodes only what says which inputs an event is about, and keeps 5 bytes a record and about 100 an input.
func Audit(ctx context.Context, records iter.Seq2[events.Record, error]) (Accounts, error) {
	a := auditor{byStream: map[events.StreamID]*auditedSession{}, lost: map[events.Position]bool{}}
	for r, err := range records {
		if err == nil && r.Position%1024 == 0 {
			err = ctx.Err()
		}
		if err == nil {
			err = a.read(r)
		}
		if err != nil {
			return Accounts{}, err
		}
	}
	return a.result(), nil
}

// auditor is what Audit knows so far.
type auditor struct {
	byStream map[events.StreamID]*auditedSession
	sessions []*auditedSession
	latest   *auditedSession          // of the record before
	first    events.Position          // of all
	inputs   []inputFate              // by position less first
	owners   []uint32                 // the same: 1 + the index of the session; 0: no input
	lost     map[events.Position]bool // placeholders: what they stand for may have been an input
	gaps     bool                     // some of them are of no known stream
	out      Accounts
}

// inputFate is what became of one input, by the definition.
type inputFate uint8

const (
	fatePending inputFate = iota
	fateObserved
	fateSkipped
	fateDropped
	fateForgotten
	fateCount
)

// auditedSession is one session.
type auditedSession struct {
	id       events.SessionID
	stream   events.StreamID
	number   uint32 // 1 + its place among sessions
	turns    []auditedTurn
	state    session.State // what it is compared with
	captured int
	counts   [fateCount]int
	gaps     bool // something of it is lost: the fold and the definition may miss it in different ways
}

// auditedTurn is a turn that may still say something of its inputs.
type auditedTurn struct {
	id      events.ID
	settles []events.Position
	over    bool // answered or failed: nothing but the rest of its own append follows
}

func (a *auditor) read(r events.Record) error {
	a.first = cmp.Or(a.first, r.Position)
	a.out.Position = r.Position
	s := a.sessionOf(r.Stream)
	if r.Kind == events.KindRecordLost {
		a.lost[r.Position] = true
		a.gaps = a.gaps || s == nil
	}
	if s == nil {
		return nil
	}
	s.gaps = s.gaps || r.Kind == events.KindRecordLost
	var e events.Event
	if session.Reads(r.Kind) {
		var err error
		if e, err = r.Event(); err != nil && !errors.Is(err, events.ErrErased) {
			return fmt.Errorf("replay: audit: %w", err)
		}
		if err != nil && r.Kind != events.KindSessionOpened {
			a.out.Erased++
			s.gaps = true
		}
	}
	a.apply(s, r.Header, e)
	r.Key = events.Key{} // the fold would remember it
	session.Evolve(&s.state, r.Header, e)
	return nil
}

// sessionOf returns the session of a stream; nil for other streams.
func (a *auditor) sessionOf(stream events.StreamID) *auditedSession {
	if a.latest != nil && a.latest.stream == stream {
		return a.latest
	}
	s, known := a.byStream[stream]
	if !known {
		if id, ok := stream.Session(); ok {
			s = &auditedSession{id: id, stream: stream, number: uint32(len(a.sessions) + 1)}
			a.sessions = append(a.sessions, s)
		}
		a.byStream[stream] = s
	}
	if s != nil {
		a.latest = s
	}
	return s
}

// apply reads one event by the definition. e is nil where it is not needed, or gone.
func (a *auditor) apply(s *auditedSession, h events.Header, e events.Event) {
	if h.IsInput() {
		a.capture(s, h.Position)
		return
	}
	switch h.Kind {
	case events.KindTurnReceived:
		s.end(h.Correlation)
	case events.KindObservationParsed, events.KindSummaryParsed:
		a.settle(s, h, s.settledBy(h.Correlation), fateObserved)
	case events.KindOutputSkipped:
		a.settle(s, h, s.settledBy(h.Correlation), fateSkipped)
	case events.KindOutputDropped:
		a.settle(s, h, s.settledBy(h.Correlation), fateDropped)
	}
	switch e := e.(type) {
	case events.TurnStarted:
		s.turns = append(slices.DeleteFunc(s.turns, func(t auditedTurn) bool { return t.over }), auditedTurn{id: e.Turn, settles: e.Settles})
	case events.TurnFailed:
		s.end(e.Turn)
	case events.InputsDropped:
		a.settle(s, h, e.Inputs, fateDropped)
	case events.MemoryForgotten:
		a.forget(s, e.Positions)
	}
}

func (a *auditor) capture(s *auditedSession, at events.Position) {
	i := int(at - a.first)
	for len(a.inputs) <= i {
		a.inputs, a.owners = append(a.inputs, fatePending), append(a.owners, 0)
	}
	a.owners[i] = s.number
	s.captured++
	s.counts[fatePending]++
}

func (s *auditedSession) end(turn events.ID) {
	for i := range s.turns {
		s.turns[i].over = s.turns[i].over || s.turns[i].id == turn
	}
}

func (s *auditedSession) settledBy(turn events.ID) []events.Position {
	for _, t := range s.turns {
		if t.id == turn {
			return t.settles
		}
	}
	return nil
}

// settle gives inputs of s a new fate, where the definition lets it. What is no input of s is a discrepancy.
func (a *auditor) settle(s *auditedSession, h events.Header, at []events.Position, to inputFate) {
	for _, p := range at {
		i, ok := a.find(p)
		if a.lost[p] {
			continue
		}
		if !ok || a.owners[i] != s.number {
			a.out.note(Discrepancy{
				Session: s.id, Position: h.Position, Problem: fmt.Sprintf("%s settles %d, which is no input of the session", h.Kind, p),
			})
			continue
		}
		if was := a.inputs[i]; was != fateForgotten && (to != fateDropped || was == fatePending) {
			a.set(i, to)
		}
	}
}

// forget makes inputs of s forgotten: an input is so by an event of its own session alone. Other events can be forgotten
// too, here and in other streams: they have no outcome.
func (a *auditor) forget(s *auditedSession, at []events.Position) {
	for _, p := range at {
		if i, ok := a.find(p); ok && a.owners[i] == s.number {
			a.set(i, fateForgotten)
		}
	}
}

func (a *auditor) find(p events.Position) (int, bool) {
	i := int(p - a.first)
	return i, p >= a.first && i < len(a.inputs)
}

func (a *auditor) set(i int, to inputFate) {
	counts := &a.sessions[a.owners[i]-1].counts
	counts[a.inputs[i]]--
	a.inputs[i] = to
	counts[to]++
}

func (a *auditor) result() Accounts {
	out := a.out
	out.Sessions = map[events.SessionID]session.Balance{}
	for _, s := range a.sessions {
		defined, folded := s.balance(), s.state.Balance()
		if defined != folded && !s.gaps && !a.gaps {
			out.note(Discrepancy{
				Session: s.id, Problem: "the session's fold counts otherwise than the definition", Defined: defined, Folded: folded,
			})
		}
		if defined.Captured > 0 {
			out.Sessions[s.id] = defined
			out.Balance = sum(out.Balance, defined)
		}
	}
	order.By(out.Discrepancies, func(x, y Discrepancy) int { return cmp.Compare(a.numberOf(x), a.numberOf(y)) })
	return out
}

func (a *auditor) numberOf(d Discrepancy) uint32 { return a.byStream[d.Session.Stream()].number }

func (s *auditedSession) balance() session.Balance {
	c := s.counts
	return session.Balance{
		Captured: s.captured, Observed: c[fateObserved], Skipped: c[fateSkipped], Dropped: c[fateDropped],
		Pending: c[fatePending], Forgotten: c[fateForgotten],
	}
}

func (a *Accounts) note(d Discrepancy) { list(&a.Discrepancies, &a.More, d) }

// list adds one to those that are listed one by one, of which there are MaxListed at most, or else counts it.
func list[T any](listed *[]T, more *int, one T) {
	if len(*listed) == MaxListed {
		*more++
		return
	}
	*listed = append(*listed, one)
}

func sum(a, b session.Balance) session.Balance {
	return session.Balance{
		Captured: a.Captured + b.Captured, Observed: a.Observed + b.Observed, Skipped: a.Skipped + b.Skipped,
		Dropped: a.Dropped + b.Dropped, Pending: a.Pending + b.Pending, Forgotten: a.Forgotten + b.Forgotten,
	}
}
