package session

import (
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// maxGivenUp is how many inputs one InputsDropped names for a reason of time or number, so that no event of a very long
// hold comes near events.MaxPayload. The rest follow in the next.
const maxGivenUp = 10_000

// Overdue reports whether Expire has something to give up at now, and otherwise when it will, if nothing else happens;
// zero is never. held is as in Expire. It is cheap enough to be asked after every commit.
func Overdue(s *State, rules Rules, held, now time.Time) (due bool, next time.Time) {
	rules = rules.withDefaults()
	since, ok := s.heldSince(rules, held, now)
	if !ok || len(s.owed) == 0 {
		return false, time.Time{}
	}
	if s.counts[Pending] > rules.HeldMaxInputs {
		return true, time.Time{}
	}
	if at := since.Add(rules.HeldMaxAge); now.Before(at) {
		return false, at // no input is held for longer than the hold
	}
	oldest := s.inputs[s.owed[0]].since
	for _, i := range s.owed {
		if in := s.inputs[i]; in.since.Before(oldest) {
			oldest = in.since
		}
	}
	at := policy.Later(since, oldest).Add(rules.HeldMaxAge)
	return !now.Before(at), at
}

// heldSince returns since when s may not try anything; ok is false while it may, or does. A quarantine whose probe is due
// holds nothing: the probe comes first.
func (s *State) heldSince(rules Rules, paused, now time.Time) (since time.Time, ok bool) {
	if s.turn != nil {
		return time.Time{}, false
	}
	q := s.quarantine
	if q.trip == 0 || !ahead(q.until, now, rules.Quarantine.Cap) {
		return paused, !paused.IsZero()
	}
	if paused.IsZero() || q.began.Before(paused) {
		return q.began, true
	}
	return paused, true
}

// decideExpire gives up what was held for HeldMaxAge, from when it was recorded or the hold began, whatever came later;
// and then the oldest of what is more than HeldMaxInputs. What a person asked for again does not count among these: it
// would be given up the moment it is asked for.
func decideExpire(s *State, rules Rules, c Expire) ([]events.Draft, error) {
	since, ok := s.heldSince(rules, c.Held, c.At)
	if !ok {
		return nil, nil
	}
	var old, pending []int
	for _, i := range s.owed {
		in := s.inputs[i]
		if in.position != 0 && c.At.Sub(policy.Later(since, in.since)) >= rules.HeldMaxAge {
			old = append(old, i)
			continue
		}
		if in.outcome == Pending {
			pending = append(pending, i)
		}
	}
	b := newDecision(c.ID, c.At)
	dropInputs(s, b, old, events.DropExpired)
	dropInputs(s, b, pending[:max(0, len(pending)-rules.HeldMaxInputs)], events.DropCrowded)
	return b.drafts, nil
}

// dropInputs drops inputs by name. What was captured a moment ago and has no position yet waits for the next time.
func dropInputs(s *State, b *decision, is []int, why events.DropReason) {
	var ps []events.Position
	for _, p := range s.positions(is[:min(len(is), maxGivenUp)]) {
		if p != 0 {
			ps = append(ps, p)
		}
	}
	if len(ps) > 0 {
		b.add(events.InputsDropped{Inputs: ps, Reason: why})
	}
}
