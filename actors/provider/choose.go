package provider

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Lease says whom a turn is asked of.
type Lease struct {
	Requirement Requirement // that it was given for
	Candidate   Candidate
	Instead     []string   // providers that come before it and were passed over
	Trivial     *Candidate // to be asked instead if all inputs prove trivial; nil: there is none, or it may not be asked

	LastAnswer        events.Position // what Candidate's provider answered last; 0: nothing is known
	LastTrivialAnswer events.Position // the same of Trivial
}

// Request is a session's request for a lease.
type Request struct {
	Session     events.SessionID
	Holder      string // by which the caller knows who asks, and later gives the lease back
	Requirement Requirement
	Alternative Requirement // is served where nobody may be asked for Requirement; the zero value: nothing is
}

// Providers are what there is to choose from.
type Providers struct {
	Routes Routes
	States map[string]*State // by name, one for each of Routes
	Ledger *Ledger           // nil: there is no budget
}

// Choose returns the lease that r would get at now: for its requirement or, where nobody may be asked for that, for its
// alternative. If the barrier is closed there is no lease, and the barrier is what stands before both.
func (p Providers) Choose(r Request, now time.Time) (Lease, Barrier) {
	l, b := p.chooseFor(r.Requirement, r.Session, now)
	if !b.Closed || b.ReadingSpending || r.Alternative == (Requirement{}) {
		return l, b
	}
	other, closed := p.chooseFor(r.Alternative, r.Session, now)
	if closed.Closed && !closed.ReadingSpending {
		closed = b.or(closed)
	}
	return other, closed
}

// chooseFor returns the lease for q, or what stands between it and all its candidates. Where all rest, what has not failed
// yet may probe at once who rests because of what has.
func (p Providers) chooseFor(q Requirement, session events.SessionID, now time.Time) (Lease, Barrier) {
	l, b := p.firstOpen(q, session, now, false)
	if b.Closed && !b.ReadingSpending && !q.Blamed {
		return p.firstOpen(q, session, now, true)
	}
	return l, b
}

// firstOpen returns the lease of the first candidate that nothing stands before; alone says that there is no candidate that
// does not rest. Where what was spent is being read, it is known in a moment whether a candidate may be asked: whoever
// stands in for it is not asked till then.
func (p Providers) firstOpen(q Requirement, session events.SessionID, now time.Time, allResting bool) (Lease, Barrier) {
	l := Lease{Requirement: q}
	var all Barrier
	for i, c := range p.Routes.Candidates(q) {
		b := p.barrier(c, q, session, now, allResting)
		if !b.Closed {
			l.Candidate, l.LastAnswer = c, p.States[c.Provider].LastAnswer
			p.addTrivial(&l, session, now)
			return l, Barrier{}
		}
		if b.ReadingSpending {
			return Lease{}, b
		}
		if i == 0 {
			all = b
		} else {
			all = all.or(b)
		}
		if !slices.Contains(l.Instead, c.Provider) {
			l.Instead = append(l.Instead, c.Provider)
		}
	}
	return Lease{}, all
}

// addTrivial puts the tier of trivial inputs into l, if it may be asked and is not paused.
func (p Providers) addTrivial(l *Lease, session events.SessionID, now time.Time) {
	c := p.Routes.trivialFor(l.Requirement)
	if c == nil || p.States[c.Provider].Pause.Paused() || p.barrier(*c, l.Requirement, session, now, false).Closed {
		return
	}
	l.Trivial, l.LastTrivialAnswer = c, p.States[c.Provider].LastAnswer
}

// barrier is what keeps a turn from one candidate. A pause for which turns were blamed may be the fault of one bad input. So a turn
// that has not failed yet passes it if all candidates are paused, and otherwise until one more turn has failed.
func (p Providers) barrier(c Candidate, q Requirement, session events.SessionID, now time.Time, allResting bool) Barrier {
	s := p.States[c.Provider]
	b := s.barrier(now, !q.Blamed && (allResting || s.doubtful()))
	if !c.Free {
		rests := b.Closed
		b = b.and(p.Ledger.barrier(session, now))
		b.ReadingSpending = b.ReadingSpending && !rests
	}
	return b
}

// Preferred names whom an ordinary turn would be asked of now; empty: nobody may be.
func (p Providers) Preferred(now time.Time) string {
	for _, alone := range []bool{false, true} {
		for _, c := range p.Routes.Providers {
			s := p.States[c.Provider]
			if !s.barrier(now, alone || s.doubtful()).Closed && (c.Free || !p.Ledger.dayBarrier(now).Closed) {
				return c.Provider
			}
		}
	}
	return ""
}

// ownBudget reports whether l is for who stands in where another session would be asked of somebody before: only what the
// session has used itself is in the way.
func (p Providers) ownBudget(l Lease, now time.Time) bool {
	for _, c := range p.Routes.Candidates(l.Requirement) {
		if c == l.Candidate {
			break
		}
		s := p.States[c.Provider]
		if !p.Routes.isSummaryTier(c) && !c.Free && !p.Ledger.dayBarrier(now).Closed && !s.barrier(now, s.Pause.Probe == 1).Closed {
			return true
		}
	}
	return false
}

func (r Routes) isSummaryTier(c Candidate) bool { return r.Summaries != nil && c == *r.Summaries }

// HangGrace is how long beyond the limit of a turn its preparation, and an answer that does not heed its context, are waited for.
const HangGrace = 5 * time.Second
