package provider

import (
	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// Recovery reads the end of the log at the start of a life: for the failures of turns that a crash kept from being ruled on,
// and for what states know of outputs, of what these were good for and of turns that failed by their own fault, which no
// stream of a provider tells. Of such turns only those that it reads count, so that no row of them has an answer in it;
// where a pause stands that they led to, and no output is read, they were enough.
type Recovery struct {
	states       map[string]*State
	rows         map[string]*failureStreak
	turns        map[events.ID]turnStart
	failureFound map[string]bool // names of providers of which a failure was found
	unruled      []UnruledFailure
}

// failureStreak is how many turns in a row failed by their own fault: so many of those that were read, and no fewer than so many in all.
type failureStreak struct{ read, least int }

// turnStart is how a turn began.
type turnStart struct {
	header  events.Header
	by      string
	settles int
}

// UnruledFailure is a failure that was not ruled on.
type UnruledFailure struct {
	Provider string
	Fail     Fail
}

// NewRecovery returns a Recovery of states, which are folded from their streams. It changes what they know of outputs.
func NewRecovery(states map[string]*State) *Recovery {
	x := &Recovery{states: states, rows: map[string]*failureStreak{}, turns: map[events.ID]turnStart{}, failureFound: map[string]bool{}}
	for name, s := range states {
		x.rows[name] = &failureStreak{}
		if s.Pause.Blames() {
			x.rows[name].least = policy.BlamesToPause
		}
		x.count(name, 0)
	}
	return x
}

// Reads reports whether Evolve reads the payloads of events of kind k.
func (x *Recovery) Reads(k events.Kind) bool {
	switch k {
	case events.KindTurnStarted, events.KindTurnFailed, events.KindInputsDropped, events.KindOutputDropped:
		return true
	}
	return false
}

// Evolve takes an event of any stream; e is nil where Reads says no, or where the payload is not there any more.
func (x *Recovery) Evolve(h events.Header, e events.Event) {
	if h.Kind == events.KindTurnStarted {
		e, _ := e.(events.TurnStarted)
		x.turns[h.Correlation] = turnStart{header: h, by: e.Provider, settles: len(e.Settles)}
		return
	}
	if f, ok := e.(events.TurnFailed); ok {
		x.noteFailure(h, f)
	}
	if name, ok := h.Stream.Provider(); ok && h.Kind == events.KindProviderResumed {
		x.end(name)
		if s := x.states[name]; s != nil {
			s.UnusableAt = nil
		}
	}
	b, began := x.turns[h.Correlation]
	if !began && h.Kind == events.KindTurnReceived {
		for name := range x.states { // of whichever it was
			x.end(name)
		}
	}
	s := x.states[b.by]
	if s == nil {
		return
	}
	switch h.Kind {
	case events.KindTurnReceived:
		s.RecordAnswer(h.Position)
		x.end(b.by)
	case events.KindObservationParsed, events.KindSummaryParsed:
		s.RecordUse(UseKept, h.RecordedAt)
	case events.KindOutputDropped:
		if d, ok := e.(events.OutputDropped); ok && !d.Blank() {
			s.RecordUse(UseDropped, h.RecordedAt)
		}
	case events.KindTurnFailed:
		if f, ok := e.(events.TurnFailed); ok && f.Class.BlamesTurn() && !AsksForSmallerBatch(f.Class, b.settles) {
			x.count(b.by, 1)
		}
	case events.KindInputsDropped:
		if d, _ := e.(events.InputsDropped); d.Reason != events.DropPoison {
			x.count(b.by, -1) // the failure before it was its input's
		}
	}
}

// count takes n more turns of a provider that failed by their own fault.
func (x *Recovery) count(name string, n int) {
	r := x.rows[name]
	r.read += n
	x.states[name].Pause.Blamed = max(r.read, r.least)
}

// end ends the row of a provider: it answered, or was resumed. A name that is none of the states' changes nothing.
func (x *Recovery) end(name string) {
	if r := x.rows[name]; r != nil {
		*r = failureStreak{}
		x.count(name, 0)
	}
}

// noteFailure notes of each provider the first failure by its fault behind its last ruling. While it is paused only the failure
// of a probe counts: of a turn that began when the pause was over.
func (x *Recovery) noteFailure(h events.Header, f events.TurnFailed) {
	s := x.states[f.Provider]
	if s == nil || x.failureFound[f.Provider] || h.Position < s.RulingPosition || !f.Class.BlamesProvider() {
		return
	}
	b := x.turns[f.Turn].header
	if s.Pause.Paused() && (b.Position <= s.RulingPosition || s.Pause.Rests(b.OccurredAt)) {
		return
	}
	x.failureFound[f.Provider] = true
	x.unruled = append(x.unruled, UnruledFailure{f.Provider, Fail{Turn: f.Turn, Class: f.Class, ResetsAt: f.ResetsAt, At: h.OccurredAt, Probe: true}})
}

// UnruledFailures are the failures that are to be ruled on, in the order of the log.
func (x *Recovery) UnruledFailures() []UnruledFailure { return x.unruled }
