package policy

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// Pause is the state of one provider: open for all; resting until a probe may be tried; or, from then on, half open: one
// turn at a time, until one is parsed. The zero value is open.
type Pause struct {
	Class events.FailureClass
	Until time.Time // no turn before; one at a time from then on
	Probe int       // pauses in a row, from 1; 0 is open
	At    time.Time // when it was ruled; zero: not known

	Blamed int // turns in a row that failed by their own fault, as it was said, since the provider last answered anything
}

// BlamesToPause is how many turns in a row a provider may fail by their own fault without a single answer between. The last
// of them pauses it: one input may be refused, cut or too long, but who answers nothing says nothing of an input. A batch
// is tried as often before it is halved.
const BlamesToPause = 3

// Blames reports whether p came of turns that failed by their own fault. Whether it is the provider's an input tells that
// it has not failed yet: a turn of such inputs alone may be tried at once, one at a time.
func (p Pause) Blames() bool { return p.Paused() && p.Class.BlamesTurn() }

// Answered is p after an output arrived, whatever it was.
func (p Pause) Answered() Pause {
	p.Blamed = 0
	return p
}

// Paused reports whether p is not open: it rests, or is half open.
func (p Pause) Paused() bool { return p.Probe > 0 }

// Rests reports whether p keeps all turns back at now.
func (p Pause) Rests(now time.Time) bool { return p.Paused() && !p.ProbeDue(now) }

// ProbeDue reports whether one turn may be tried at now. An instant equal to Until may. So may one before At, or further
// before Until than MaxReset: the clock has been set back since, and how much of the pause is over nobody knows.
func (p Pause) ProbeDue(now time.Time) bool {
	return p.Paused() && (!now.Before(p.Until) || now.Before(p.At) || p.Until.Sub(now) > MaxReset)
}

// resetFloor is the shortest pause that a provider's own reset time can cause: it doubles with every failed probe, so
// that one who always says "in a moment" is not asked every moment.
const resetFloor = time.Second

// After is the pause that follows a failure of class c at now. A reset time in the future is believed, but not before
// resetFloor; without one the wait doubles with every failed probe, and goes on doubling until a turn is parsed. A class
// that blames the turn is counted, and pauses from the BlamesToPause-th in a row on; one that blames the observer changes
// nothing.
func (p Pause) After(c events.FailureClass, resetsAt, now time.Time, wait Backoff) Pause {
	switch {
	case c.BlamesTurn():
		if p.Blamed++; p.Blamed < BlamesToPause {
			return p
		}
	case !c.BlamesProvider():
		return p
	}
	next := Pause{Class: c, Probe: p.Probe + 1, At: now, Until: now.Add(wait.Nth(p.Probe + 1)), Blamed: p.Blamed}
	if resetsAt.After(now) {
		next.Until = now.Add(max(resetsAt.Sub(now), Backoff{First: resetFloor, Cap: wait.Cap}.Nth(next.Probe)))
	}
	return next
}

// MaxReset is the longest pause that a provider's own reset time can cause: a week and a day, the longest quota
// window known, so that a wrong clock or header cannot stop memory for ever.
const MaxReset = 8 * 24 * time.Hour

// Clamp keeps a provider's reset time within MaxReset of now.
func Clamp(resetsAt, now time.Time) time.Time {
	if limit := now.Add(MaxReset); resetsAt.After(limit) {
		return limit
	}
	return resetsAt
}
