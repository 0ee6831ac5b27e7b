package replay

import (
	"cmp"
	"fmt"
	"iter"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// The decisions that Prove looks at, as DecisionCount and Difference name them.
const (
	ProvedTurn         = "turn"         // a turn was begun: the one that comes next, and nothing kept it back
	ProvedChoice       = "choice"       // the provider that a turn was asked of: one that might be
	ProvedAnswer       = "answer"       // what an output led to beside itself: a release, a fresh generation
	ProvedGrammar      = "grammar"      // what an output was taken for
	ProvedFailure      = "failure"      // what a failure led to: half a batch, inputs given up, a restart, a quarantine
	ProvedInterruption = "interruption" // the same for a turn that was cut by an end of the daemon
	ProvedExpiry       = "expiry"       // inputs given up because they were held for too long or were too many
	ProvedCapture      = "capture"      // the numbers and stops that go with what agents report
	ProvedTick         = "tick"         // what silence led to: an idle stop, also at the end of ingested history, and a silent close
	ProvedReobserve    = "reobserve"    // turns asked for again
	ProvedRelease      = "release"      // a quarantine that a person ended
	ProvedForget       = "forget"       // what was forgotten, and the turn that it cut
	ProvedPause        = "pause"        // a provider was paused
	ProvedResume       = "resume"       // a provider was resumed
	ProvedUnexplained  = "unexplained"  // an event that stands alone and that no decision makes alone
)

// Proof says how far a log is explained by its own rules.
type Proof struct {
	First        events.Position `json:"first"` // of the records that were read
	Last         events.Position `json:"last"`
	Decisions    []DecisionCount `json:"decisions"`   // those of which there are any
	Differences  []Difference    `json:"differences"` // at most MaxListed
	More         int             `json:"more,omitempty"`
	Unproven     []Difference    `json:"unproven"` // what cannot be told any more; at most MaxListed
	MoreUnproven int             `json:"more_unproven,omitempty"`
}

// Holds reports whether nothing differs. What is unproven does not count.
func (p Proof) Holds() bool { return len(p.Differences) == 0 }

// DifferenceCount is how many differences there are, listed or not.
func (p Proof) DifferenceCount() int { return len(p.Differences) + p.More }

// UnprovenCount is how many decisions are unproven, listed or not.
func (p Proof) UnprovenCount() int { return len(p.Unproven) + p.MoreUnproven }

// peopleRead is how many differences are shown to people; programs are given all that are listed.
const peopleRead = 10

// Shown returns the first differences, as many as people read.
func (p Proof) Shown() []Difference { return p.Differences[:min(len(p.Differences), peopleRead)] }

// Checked counts the decisions that were looked at, and those that were found as recorded.
func (p Proof) Checked() (checked, equal int) {
	for _, d := range p.Decisions {
		checked, equal = checked+d.Checked, equal+d.Equal
	}
	return checked, equal
}

// DecisionCount counts the decisions of one kind. Checked is the sum of the decisions that are equal, that differ, and
// that are unproven.
type DecisionCount struct {
	Decision string `json:"decision"`
	Checked  int    `json:"checked"`
	Equal    int    `json:"equal"`
	Unproven int    `json:"unproven,omitempty"`
}

// Difference is an event that the rules do not lead to as it stands, or one that they lead to and that is missing.
type Difference struct {
	Position events.Position `json:"position"` // of the event; of its decision's first event where the event is missing
	Stream   events.StreamID `json:"stream"`
	Decision string          `json:"decision"`
	Kind     events.Kind     `json:"kind"`
	Recorded string          `json:"recorded"` // JSON, cut at maxShown bytes; empty: there is no such event
	Derived  string          `json:"derived"`  // the same; empty: the rules lead to none. Or why the decision is refused
	Why      string          `json:"why"`      // what is known of the reason
}

// String says where f is, and why.
func (f Difference) String() string {
	return fmt.Sprintf("position %d, %s, %s (%s): %s", f.Position, f.Stream, f.Decision, f.Kind, f.Why)
}

// Prove takes every decision on record again, with the state that the log gives, the recorded command, and the limits
// of that life of the daemon, and compares what it leads to with what stands in the log: kinds, ids, times, payloads.
// Outputs are parsed again. The rulings on providers are derived from the failures of turns. Rules are those that
// DaemonStarted recorded, and of their version; keys that it lacks have their defaults. A life that recorded no version may have
// gone by any of those before it was recorded.
//
// Records must begin with the log's first one; a selection limits what is reported and counted, not what is read, but
// that reading stops at its end. With sessions selected, the rulings on providers are taken as they stand. A decision
// that cannot be checked any more, because a payload was erased, a record was lost or a stream begins out of view, is unproven: it is
// no difference.
//
// Of the provider of a turn Prove sees whether provider.Choose allowed it at some moment at which its lease may have been granted.
// It cannot see:
//   - whether a pause is missing after turns that failed by their own fault;
//   - when a lease was granted: one turn fewer than there are slots may begin after a pause;
//   - how many inputs a provider takes at once, and so when a turn is due and how many of the next inputs it settles;
//   - which prompts and observations of its session a summary reads, and what else a prompt held;
//   - the order in which sessions that waited were served;
//   - the order in which the dispatcher heard of the ends of turns. It heard of each before the session began its next turn and
//     before it paused the provider for it. That this took less than a minute is assumed;
//   - how many failures in a row before a start were still in view at that start;
//   - since when a budget held inputs, and whether the budget of a day, or one in money, was used up;
//   - whether a daemon that was degraded had to be.
//
// Types returns those that observations may have; nil means those of the code mode. The error is that of the sequence, or of
// a payload that cannot be read. Memory grows by about 100 bytes an input of the selected sessions.
func Prove(records iter.Seq2[events.Record, error], sel Selection, types TypesOf) (Proof, error) {
	p := newProver(sel, types)
	if _, err := sel.read(records, p); err != nil {
		return Proof{}, err
	}
	return p.result(), nil
}

// prover is what Prove knows so far.
type prover struct {
	sel      Selection
	life     life
	sessions map[events.StreamID]*provedSession // nil: not of the selection
	latest   *provedSession                     // of the record before, if that was a session's
	circuits map[string]*circuit
	open     decision    // whose append may go on
	used     []turnUsage // of the last longestDay, the latest last
	proof    Proof
	counts   map[string]DecisionCount
	types    lifeTypes
	decoder  decoder
	gap      string // why nothing more can be told for sure of anybody; empty: it can
}

func newProver(sel Selection, types TypesOf) *prover {
	return &prover{
		sel: sel, life: firstLife(), sessions: map[events.StreamID]*provedSession{}, circuits: map[string]*circuit{},
		counts: map[string]DecisionCount{}, types: lifeTypes{of: types},
	}
}

// provedSession is one session.
type provedSession struct {
	stream      events.StreamID
	state       session.State
	version     events.Version
	doubt       string              // why nothing more can be told for sure; empty: it can
	inFlight    *events.TurnStarted // the turn in flight
	provider    string              // that was asked last
	turnBegin   beginning           // of the last turn
	answerEnd   events.Position     // where its answer ends; 0: there was none, or nobody may have heard of it
	tokens      int64               // that its turns have used
	lastFailure *failure            // how the last turn ended, if its provider failed it

	requestedAt time.Time // when a person last asked for turns again; zero: never
}

// decision is what one command led to: records that stand together in one stream, whose ids derive from the first.
type decision struct {
	decidedBy *provedSession
	records   []events.Record
	events    []events.Event // nil: erased
	erased    bool           // one of them is
}

func (p *prover) read(r events.Record) error {
	p.proof.First = cmp.Or(p.proof.First, r.Position)
	p.proof.Last = r.Position
	if r.Kind == events.KindRecordLost {
		p.gap = "records before it, or of it, are lost"
	}
	if p.open.takes(r) {
		p.open.records = append(p.open.records, r)
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	if s := p.session(r.Stream); s != nil {
		return p.ofSession(s, r)
	}
	if r.Stream == events.Daemon {
		return p.ofDaemon(r)
	}
	if name, ok := r.Stream.Provider(); ok {
		return p.ruling(p.circuit(name), r)
	}
	return nil
}

// ofDaemon takes a record of the daemon's stream.
func (p *prover) ofDaemon(r events.Record) error {
	if err := p.types.begin(r); err != nil {
		return err
	}
	switch r.Kind {
	case events.KindDaemonStarted:
		for _, c := range p.circuits {
			c.beginLife(r.Position)
		}
	case events.KindSessionFaulted:
		e, _ := r.Event()
		fault, _ := e.(events.SessionFaulted)
		if s := p.sessions[fault.Session.Stream()]; s != nil {
			s.answerEnd = 0 // it may have crashed before it reported its turn's end
		}
	}
	return p.life.read(r)
}

// session returns the session of a stream; nil for other streams and for sessions that are not selected.
func (p *prover) session(stream events.StreamID) *provedSession {
	if p.latest != nil && p.latest.stream == stream {
		return p.latest
	}
	s, known := p.sessions[stream]
	if !known {
		if id, ok := stream.Session(); ok && p.sel.session(id) {
			s = &provedSession{stream: stream}
		}
		p.sessions[stream] = s
	}
	if s != nil {
		p.latest = s
	}
	return s
}

// ofSession begins a decision, or takes what is no decision: a fact.
func (p *prover) ofSession(s *provedSession, r events.Record) error {
	if r.Version != s.version+1 && s.doubt == "" {
		s.doubt = "the stream's beginning is not in view"
	}
	s.version = r.Version
	if r.Kind == events.KindToolUsed || r.Kind == events.KindContextInjected {
		s.evolve(r.Header, nil)
		return nil
	}
	p.open = decision{decidedBy: s, records: append(p.open.records[:0], r), events: p.open.events[:0]}
	return nil
}

// evolve applies an event. Keys are left out: a duplicate is not on record.
func (s *provedSession) evolve(h events.Header, e events.Event) {
	h.Key = events.Key{}
	session.Evolve(&s.state, h, e)
}

// maxApart is how far the ids of one decision lie apart: it has at most observer.MaxObservations events and a few more.
const maxApart = 256

// takes reports whether r belongs to d.
func (d *decision) takes(r events.Record) bool {
	if len(d.records) == 0 {
		return false
	}
	head, last := d.records[0], d.records[len(d.records)-1]
	apart, same := distance(head.ID, r.ID)
	return r.Stream == last.Stream && r.Version == last.Version+1 && same && apart > 0 && apart < maxApart
}

// flush checks the decision whose records are complete, and then takes its events as they stand.
func (p *prover) flush() error {
	d := &p.open
	if len(d.records) == 0 {
		return nil
	}
	for _, r := range d.records {
		e, err := p.decoder.event(r)
		if err != nil {
			return err
		}
		d.events, d.erased = append(d.events, e), d.erased || e == nil
	}
	s := d.decidedBy
	p.check(s, d)
	for i, r := range d.records {
		s.version = r.Version
		if d.events[i] == nil && session.Reads(r.Kind) && r.Kind != events.KindSessionOpened && s.doubt == "" {
			s.doubt = fmt.Sprintf("the payload of %s at %d is erased", r.Kind, r.Position)
		}
		s.evolve(r.Header, d.events[i])
		p.follow(s, r, d.events[i])
	}
	p.hear(s, d)
	d.records = d.records[:0]
	return nil
}

// follow keeps the turn in flight, and tells the circuits how turns end.
func (p *prover) follow(s *provedSession, r events.Record, e events.Event) {
	switch e := e.(type) {
	case events.TurnStarted:
		p.begin(s, r, e)
	case events.TurnReceived:
		p.use(s, r, e.Usage)
	case events.TurnFailed:
		p.use(s, r, e.Usage)
		p.failed(s, r, e)
	case events.ReobserveRequested:
		if r.Causation == (events.ID{}) { // else forgetting a summary asked for another one, and nobody named a provider
			s.requestedAt = r.OccurredAt
		}
	case events.SessionRespawned:
		if session.EarnedByOutputs(e) {
			p.circuit(s.provider).refreshed = true
		}
	}
	switch r.Kind {
	case events.KindTurnReceived, events.KindTurnFailed:
		s.inFlight = nil
		if c := p.circuits[s.provider]; c != nil {
			delete(c.probing, s.stream)
		}
	case events.KindObservationParsed, events.KindSummaryParsed, events.KindOutputSkipped:
		if imported(r.Header) {
			return
		}
		if skipped, ok := e.(events.OutputSkipped); !ok || skipped.Reason != events.ReasonEmpty {
			p.circuit(s.provider).parsed = s.turnBegin
		}
	}
}

// hear records an output, or a turn that failed by its own fault, with the provider that was asked.
func (p *prover) hear(s *provedSession, d *decision) {
	if s.provider == "" {
		return
	}
	switch c := p.circuit(s.provider); d.records[0].Kind {
	case events.KindTurnReceived:
		s.answerEnd = d.records[len(d.records)-1].Position
		c.answer(d, p.life.Slots)
	case events.KindTurnFailed:
		c.noteBlamed(d)
	}
}

// begin takes the beginning of a turn. The session's last failure needs no ruling any more.
func (p *prover) begin(s *provedSession, r events.Record, e events.TurnStarted) {
	if c := p.circuits[s.provider]; c != nil {
		c.beginsAnother(s, r.Position)
		s.answerEnd = 0
	}
	if f := s.lastFailure; f != nil {
		delete(p.circuits[f.by].failures, f.turn)
	}
	s.inFlight, s.provider, s.lastFailure = &e, e.Provider, nil
	if c := p.circuit(e.Provider); c.Pause.Paused() {
		c.probing[s.stream] = true
	}
	s.turnBegin = beginning{position: r.Position, at: r.OccurredAt, early: !s.state.Blamed(e.Settles)}
}

func (p *prover) result() Proof {
	for _, name := range []string{
		ProvedTurn, ProvedChoice, ProvedAnswer, ProvedGrammar, ProvedFailure, ProvedInterruption, ProvedExpiry, ProvedCapture, ProvedTick,
		ProvedReobserve, ProvedRelease, ProvedForget, ProvedPause, ProvedResume, ProvedUnexplained,
	} {
		if c := p.counts[name]; c.Checked > 0 {
			c.Decision = name
			p.proof.Decisions = append(p.proof.Decisions, c)
		}
	}
	return p.proof
}
