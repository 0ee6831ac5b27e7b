package provider

import (
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// Command is what became of a turn of a provider.
type Command interface{ command() }

// Fail is a turn that failed by the provider's fault, or by its own. One that says no more than that less is to be asked at
// once is no Fail.
type Fail struct {
	Turn     events.ID // zero: not known any more
	Class    events.FailureClass
	ResetsAt time.Time // when the provider said it would answer again; zero: it did not
	At       time.Time // when the ruling is made
	Probe    bool      // the turn was the probe of a paused provider
}

// Missed is a failure by the provider's fault that a crash may have kept from being ruled on.
type Missed struct{ Fail }

// Answer is a turn that was answered.
type Answer struct {
	Parsed bool // by content, or by a skip in so many words
	Probe  bool
	Turn   events.ID
	Use    Use       // which the state knows of already
	At     time.Time // when the ruling is made
}

// Resume is a person who says that the provider is to be asked again.
type Resume struct{}

// Limits are the numbers that Decide goes by.
type Limits struct {
	Pauses  policy.Backoff  // a provider's pauses in a row
	NoYield *policy.NoYield // nil: what its answers are good for pauses nobody
}

func (Fail) command()   {}
func (Answer) command() {}
func (Resume) command() {}

// Decide returns what is to be recorded in the provider's stream; nil: nothing. A failure by the provider's fault pauses it, but
// while it is paused only that of a probe counts; one that may have been missed counts where nothing was ruled since. A failure
// by the turn's own fault pauses it where it is one too many without an answer; while the provider rests it goes on resting, so
// that who came early does not make the others wait for longer. Only a probe that was parsed resumes it: an answer to what was
// asked before the pause says nothing of now, and one that does not parse not enough. Too many answers in a row that were dropped
// pause it, and so does each probe of that pause that is dropped again.
func Decide(s *State, c Command, limits Limits) events.Event {
	waits := limits.Pauses
	switch c := c.(type) {
	case Resume:
		if s.Pause.Paused() {
			return events.ProviderResumed{By: "person"}
		}
	case Answer:
		if c.Parsed && c.Probe {
			return events.ProviderResumed{By: "probe"}
		}
		if c.Use == UseDropped && limits.NoYield != nil {
			return pauseForNoYield(s, c, limits)
		}
	case Missed:
		if c.Class.BlamesProvider() && !s.Pause.Paused() && c.At.After(s.RuledAt) {
			return PauseAfter(s.Pause, c.Fail, waits)
		}
	case Fail:
		counts := c.Probe || !s.Pause.Paused()
		switch {
		case c.Class.BlamesProvider() && counts:
			return PauseAfter(s.Pause, c, waits)
		case c.Class.BlamesTurn() && counts && s.Pause.Blamed+1 >= policy.BlamesToPause && !s.Pause.Rests(c.At):
			return PauseAfter(s.Pause, c, waits)
		}
	}
	return nil
}

// pauseForNoYield is the pause that an answer leads to which was dropped; nil: none.
func pauseForNoYield(s *State, c Answer, limits Limits) events.Event {
	counted, full := limits.NoYield.Decide(s.UnusableAt, c.At)
	again := c.Probe && s.Pause.Class == events.FailNoYield
	if !again && (s.Pause.Paused() && !c.Probe || !full) {
		return nil
	}
	p := PauseAfter(s.Pause, Fail{Turn: c.Turn, Class: events.FailNoYield, At: c.At}, limits.Pauses)
	p.Limits, p.Counted = limits.NoYield.Limits(), events.Counted{Unparseable: counted}
	return p
}

// PauseAfter is the pause that a failure leads to which is ruled on. Both times count as they are recorded, without a
// reading of the running clock: else the pause would end some nanoseconds beside what the log gives.
func PauseAfter(before policy.Pause, f Fail, waits policy.Backoff) events.ProviderPaused {
	resetsAt, at := f.ResetsAt.Round(0), f.At.Round(0)
	next := before.After(f.Class, policy.Clamp(resetsAt, at), at, waits)
	return events.ProviderPaused{Class: next.Class, Until: next.Until, Probe: next.Probe, Turn: f.Turn}
}

// AsksForSmallerBatch reports whether a failure of class c, of a turn over n inputs, says no more than that less is to be asked at once.
func AsksForSmallerBatch(c events.FailureClass, n int) bool {
	return n > 1 && (c == events.FailOverflow || c == events.FailTruncated)
}
