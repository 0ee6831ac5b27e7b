package provider

import (
	"iter"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// State is one provider by name, whichever of its models are asked: its pauses as its stream tells them, and who probes
// it. While it rests nobody is let in. From the end of its pause on there is one turn at a time, each a probe, until one
// is parsed. Where turns are blamed for the pause, what has not failed yet may probe at once: one bad input must not keep
// it waiting. The zero value is a provider that was never paused. It is not safe for concurrent use.
type State struct {
	Pause          policy.Pause
	RuledAt        time.Time       // when it was last paused or resumed
	RulingPosition events.Position // of that record; 0: there is none, or it could not be written
	PausedSince    time.Time       // when it was paused first and not resumed since
	LastAnswer     events.Position // of its last output, as far as this life and the end of the last one know; 0: none
	UnusableAt     []time.Time     // when its last answers in a row came that were dropped and not blank, as far as LastAnswer is known; the latest last

	probing string // the holder of the lease that probes it; empty: nobody
}

// Evolve applies an event of the provider's stream. Other events change nothing.
func Evolve(s *State, h events.Header, e events.Event) {
	switch e := e.(type) {
	case events.ProviderPaused:
		if !s.Pause.Paused() {
			s.PausedSince = h.OccurredAt
		}
		blamed := s.Pause.Blamed
		if e.Class.BlamesTurn() {
			blamed = max(blamed+1, policy.BlamesToPause)
		}
		s.Pause = policy.Pause{Class: e.Class, Until: e.Until, Probe: e.Probe, At: h.OccurredAt, Blamed: blamed}
	case events.ProviderResumed:
		s.Pause, s.UnusableAt = policy.Pause{}, nil
	default:
		return
	}
	s.RuledAt, s.RulingPosition = h.OccurredAt, h.Position
}

// Fold evolves a state from the records of a provider's stream. An error of the records or of a payload ends it.
func Fold(records iter.Seq2[events.Record, error]) (*State, error) {
	s := new(State)
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		e, err := r.Event()
		if err != nil {
			return nil, err
		}
		Evolve(s, r.Header, e)
	}
	return s, nil
}

// Restart ends a pause early that waits for a person: whoever starts the daemon may have mended its cause. One probe tells.
func (s *State) Restart() {
	if WaitsForPerson(s.Pause.Class) || s.Pause.Blames() {
		s.Pause.Until = time.Time{}
	}
}

// WaitsForPerson reports whether a person mends what a failure of class c says.
func WaitsForPerson(c events.FailureClass) bool {
	return c == events.FailAuth || c == events.FailBilling || c == events.FailSetup
}

// inherit takes from an earlier incarnation what no log tells.
func (s *State) inherit(was *State) {
	s.probing, s.LastAnswer, s.UnusableAt, s.Pause.Blamed = was.probing, was.LastAnswer, was.UnusableAt, was.Pause.Blamed
}

// RecordAnswer notes an output that ends at a position, whatever it was.
func (s *State) RecordAnswer(at events.Position) {
	s.Pause, s.LastAnswer = s.Pause.Answered(), max(s.LastAnswer, at)
}

// Use is what an answer was good for.
type Use uint8

// The uses of an answer.
const (
	UseNone    Use = iota // a skip, in so many words or blank: it says nothing of its provider
	UseKept               // something of it became memory
	UseDropped            // it was dropped and not blank
)

// UseOf is what an answer was good for.
func UseOf(a session.Answer) Use {
	switch {
	case a.Unusable():
		return UseDropped
	case a.Kept():
		return UseKept
	}
	return UseNone
}

// RecordUse notes what an answer was good for that came at a time.
func (s *State) RecordUse(u Use, at time.Time) {
	switch u {
	case UseKept:
		s.UnusableAt = nil
	case UseDropped:
		s.UnusableAt = append(s.UnusableAt[max(0, len(s.UnusableAt)-policy.MaxNoYield+1):], at)
	}
}

// doubtful reports whether one bad input alone may have paused s: nothing else has failed since.
func (s *State) doubtful() bool { return s.Pause.Blamed <= policy.BlamesToPause }

// Rests reports whether s keeps a turn back at now. A turn whose inputs have not failed yet need not wait for the end of
// the pause where early says so and turns are blamed for it.
func (s *State) Rests(now time.Time, early bool) bool {
	return s.Pause.Rests(now) && !(early && s.Pause.Blames())
}

// barrier is what the circuit has against another turn. From the time when it may be probed it holds nobody, though
// only one gets through, until it has failed again.
func (s *State) barrier(now time.Time, early bool) Barrier {
	switch {
	case s.Rests(now, early):
		return Barrier{Closed: true, Held: true, Since: s.PausedSince, Until: s.Pause.Until}
	case s.Pause.Paused() && s.probing != "":
		return Barrier{Closed: true}
	}
	return Barrier{}
}

// take lets a holder in.
func (s *State) take(holder string) {
	if s.Pause.Paused() {
		s.probing = holder
	}
}

// free lets another holder probe if this one was the one, and reports whether it was.
func (s *State) free(holder string) (probed bool) {
	probed = s.probing == holder
	if probed {
		s.probing = ""
	}
	return probed
}
