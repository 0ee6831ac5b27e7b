package replay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
)

// circuit is one provider: its pauses as they stand, and what they have to be derived from.
type circuit struct {
	provider.State
	version   events.Version
	doubt     string                   // why nothing can be told for sure; empty: it can
	held      []time.Time              // when the last few rows of pauses began, the latest last
	early     int                      // turns that began behind the pause and that its state did not let in
	probing   map[events.StreamID]bool // sessions whose turns began behind the pause and are in flight
	parsed    beginning                // of the last turn that was: content, or a skip in so many words
	blamed    []blamed                 // turns that failed by their own fault and may have been heard behind the last answer; see inRow
	useless   unusable
	refreshed bool // outputs have earned a fresh generation
	failures  map[events.ID]*failure
}

// beginning is where and when a turn began.
type beginning struct {
	position events.Position
	at       time.Time
	early    bool // it was let in though its provider rested: none of its inputs had failed yet
}

// failure is a turn that failed by the provider's fault. It is forgotten when its session begins another turn.
type failure struct {
	by       string // the provider
	turn     events.ID
	position events.Position
	stream   events.StreamID
	at       time.Time
	class    events.FailureClass
	resetsAt time.Time
	began    beginning
	reported bool // within the selection
}

// blamed is a turn that failed by its own fault.
type blamed struct {
	of             *provedSession
	turn           events.ID
	at             time.Time // when it was recorded
	position       events.Position
	acknowledgedAt events.Position // where the log tells first that the dispatcher had heard of it; 0: nowhere
	overtaken      int             // answers that stand behind that
}

// heardWithin is how long after its record a turn's end is taken to be unheard by the dispatcher at most: only a message to
// it, which waits for nothing but its turn, lies between them.
const heardWithin = time.Minute

// blamedMost is how many of them a circuit remembers: as many as may be unheard at once, and policy.BlamesToPause.
const blamedMost = 64

// heldMost is how many beginnings of holds a circuit remembers, for what was given up because of them.
const heldMost = 8

func (p *prover) circuit(name string) *circuit {
	c := p.circuits[name]
	if c == nil {
		c = &circuit{failures: map[events.ID]*failure{}, probing: map[events.StreamID]bool{}}
		c.useless.turns = map[events.ID]time.Time{}
		p.circuits[name] = c
	}
	return c
}

// failed notes how a turn failed, for the ruling that may follow.
func (p *prover) failed(s *provedSession, r events.Record, e events.TurnFailed) {
	if !e.Class.BlamesProvider() && !e.Class.BlamesTurn() {
		return
	}
	name := cmp.Or(e.Provider, s.provider)
	c := p.circuit(name)
	s.lastFailure = &failure{
		by: name, turn: e.Turn, position: r.Position, stream: r.Stream, at: r.OccurredAt, class: e.Class, resetsAt: e.ResetsAt,
		began: s.turnBegin, reported: p.sel.containsTime(r.RecordedAt),
	}
	c.failures[e.Turn] = s.lastFailure
}

// noteBlamed notes the decision d of a turn that failed by its own fault. What halves its batch for its length, or gives its
// input up, is in no row.
func (c *circuit) noteBlamed(d *decision) {
	f, ok := d.events[0].(events.TurnFailed)
	if ok && f.Class.BlamesTurn() && (f.Halved == 0 || f.Class == events.FailRefused) && len(d.records) == 1 {
		c.blamed = append(c.blamed[max(0, len(c.blamed)-blamedMost+1):], blamed{
			of: d.decidedBy, turn: f.Turn, at: d.records[0].RecordedAt, position: d.records[0].Position,
		})
	}
}

// checkAnswered checks that the answer which a failure names stands in the log.
func (p *prover) checkAnswered(s *provedSession, d *decision) {
	f, ok := d.events[0].(events.TurnFailed)
	if !ok || len(p.sel.Sessions) > 0 || s.provider == "" || f.Answered <= p.circuit(s.provider).LastAnswer {
		return
	}
	p.differ(ProvedFailure, d.differenceAt(0, shown(f), "", "its provider had answered nothing there"))
}

// inRow reports whether enough turns in a row may have failed by their own fault. In which order the dispatcher heard of what
// stands in the log is not on record. It heard of a turn before that turn's session began another one, before it paused the
// provider for it, and within heardWithin; and at the start of a life of all, in order.
func (c *circuit) inRow() bool { return len(c.blamed) >= policy.BlamesToPause }

// acknowledge notes that by a position the dispatcher has heard of the turns that match, among those that failed by their own fault.
func (c *circuit) acknowledge(by events.Position, matches func(b blamed) bool) {
	for i := range c.blamed {
		if b := &c.blamed[i]; b.acknowledgedAt == 0 && matches(*b) {
			b.acknowledgedAt = by
		}
	}
}

// beginsAnother notes that s begins another turn: its last one has been heard.
func (c *circuit) beginsAnother(s *provedSession, at events.Position) {
	c.acknowledge(at, func(b blamed) bool { return b.of == s })
	c.endRow(s.answerEnd)
}

// beginLife notes that a life begins at a position. What it finds paused for turns that failed by their own fault, it takes
// to be in such a row unless it reads an answer, and how far back it reads is not on record.
func (c *circuit) beginLife(at events.Position) {
	for i := range c.blamed {
		if b := &c.blamed[i]; b.acknowledgedAt == 0 {
			b.acknowledgedAt = b.position
		}
	}
	c.endRow(c.LastAnswer)
	for c.Pause.Blames() && !c.inRow() {
		c.blamed = append(c.blamed, blamed{acknowledgedAt: at})
	}
	c.Restart()
	clear(c.probing)
}

// endRow notes that the dispatcher has heard of the answer at a position, or has resumed the provider there; 0: neither.
func (c *circuit) endRow(at events.Position) {
	c.blamed = slices.DeleteFunc(c.blamed, func(b blamed) bool { return b.acknowledgedAt != 0 && b.acknowledgedAt < at })
}

// answer notes the output of d. An end that is not heard yet holds its lease, so that of more answers than there are slots at
// least one has been heard.
func (c *circuit) answer(d *decision, slots int) {
	r := d.records[len(d.records)-1]
	c.RecordAnswer(r.Position)
	c.recordUse(d)
	c.blamed = slices.DeleteFunc(c.blamed, func(b blamed) bool { return b.overtaken >= slots && b.heardAt(r) })
	for i := range c.blamed {
		if b := &c.blamed[i]; b.heardAt(r) {
			b.overtaken++
		}
	}
}

// heardAt reports whether b was heard before r for sure.
func (b blamed) heardAt(r events.Record) bool {
	return b.acknowledgedAt != 0 || r.RecordedAt.Sub(b.at) > heardWithin
}

// checkStart checks a turn's beginning against its provider: that it was not paused, and that the session's last
// failure was ruled on before the session was let in again.
func (p *prover) checkStart(s *provedSession, d *decision) {
	e, ok := d.events[0].(events.TurnStarted)
	if !ok {
		return
	}
	c := p.circuit(e.Provider)
	if c.keepsBack(beginning{at: d.head().OccurredAt, early: !s.state.Blamed(e.Settles)}) {
		if c.early++; c.early >= p.life.Slots {
			why := fmt.Sprintf("its provider was paused until %s", c.Pause.Until.Format(time.RFC3339Nano))
			p.differ(ProvedTurn, d.differenceAt(0, shown(e), "", why))
		}
	} else if c.Pause.Paused() && len(c.probing) >= max(p.life.Slots, 2) { // older leases, or a crashed session that ends its turn late
		p.differ(ProvedTurn, d.differenceAt(0, shown(e), "", "its provider was probed by another turn"))
	}
	p.checkRuled(s, c)
	p.checkChoice(s, d, e)
}

// keepsBack reports whether c keeps a turn from beginning as b did. A pause for a login or a bill is not certain to: whoever starts
// a daemon may have set that right. A pause that turns are blamed for keeps back only those that have failed themselves.
func (c *circuit) keepsBack(b beginning) bool {
	return c.doubt == "" && !provider.WaitsForPerson(c.Pause.Class) && c.Rests(b.at, b.early)
}

// isProbe reports whether a turn that began so was the probe of c, or c was not paused.
func (c *circuit) isProbe(b beginning) bool {
	return !c.Pause.Paused() || b.position > c.RulingPosition && !c.keepsBack(b)
}

// checkRuled checks that c was paused after the last failure of s, unless it was paused already. Whether a turn's own fault
// was one too many depends on the order in which answers were heard: its pause is not missed.
func (p *prover) checkRuled(s *provedSession, c *circuit) {
	f := s.lastFailure
	if f == nil || p.circuits[f.by] != c || c.doubt != "" || !f.reported || len(p.sel.Sessions) > 0 || c.RulingPosition > f.position {
		return
	}
	want := provider.Decide(&c.State, provider.Missed{Fail: f.fail(f.at)}, provider.Limits{Pauses: p.life.Pause})
	if want == nil {
		return
	}
	p.account(ProvedPause, "", Difference{
		Position: f.position, Stream: f.stream, Kind: events.KindProviderPaused,
		Derived: shown(want), Why: "no pause of the provider follows this failure, and its session was let in again",
	})
}

// fail is f as it is ruled on at a time.
func (f *failure) fail(at time.Time) provider.Fail {
	return provider.Fail{Turn: f.turn, Class: f.class, ResetsAt: f.resetsAt, At: at}
}

// decide is what f leads to where it is ruled on at a time; nil: nothing. How often turns had failed by their own fault when
// it was ruled on is not on record: inRow tells.
func (c *circuit) decide(f *failure, at time.Time, in life) events.Event {
	s, cmd := c.State, f.fail(at)
	if s.Pause.Blamed = 0; c.inRow() {
		s.Pause.Blamed = policy.BlamesToPause - 1
	}
	s.Restart() // of a dispatcher that crashed and was restarted, no log tells
	cmd.Probe = c.Pause.Paused() && c.isProbe(f.began)
	return provider.Decide(&s, cmd, provider.Limits{Pauses: in.Pause})
}

// after is the pause that f leads to if it is ruled on at a time.
func (c *circuit) after(f *failure, at time.Time, wait policy.Backoff) events.ProviderPaused {
	before := c.Pause
	before.Blamed = policy.BlamesToPause
	return provider.PauseAfter(before, f.fail(at), wait)
}

// ruling takes a record of a provider's stream, and checks it unless sessions are selected: the failures of the others
// are not known then.
func (p *prover) ruling(c *circuit, r events.Record) error {
	if r.Version != c.version+1 {
		c.doubt = "the stream's beginning is not in view"
	}
	c.version = r.Version
	e, err := eventOf(r)
	if err != nil {
		return err
	}
	if e == nil {
		c.doubt = fmt.Sprintf("the payload of %s at %d is erased", r.Kind, r.Position)
	}
	check := len(p.sel.Sessions) == 0 && p.sel.containsTime(r.RecordedAt)
	switch e := e.(type) {
	case events.ProviderPaused:
		if check {
			p.countRuling(c, r, ProvedPause, c.checkPause(r, e, p.life))
		}
		c.paused(r, e)
	case events.ProviderResumed:
		if check {
			p.countRuling(c, r, ProvedResume, c.checkResume(e))
		}
		c.rule(r, e)
	case nil:
		p.takeErasedRuling(c, r, check)
	}
	return nil
}

// takeErasedRuling takes a ruling of which only the kind is known.
func (p *prover) takeErasedRuling(c *circuit, r events.Record, check bool) {
	name := ProvedResume
	if r.Kind == events.KindProviderPaused {
		name = ProvedPause
	}
	if check {
		p.countRuling(c, r, name, verdict{why: c.doubt})
	}
	c.rule(r, events.ProviderResumed{})
}

func (c *circuit) paused(r events.Record, e events.ProviderPaused) {
	if !c.Pause.Paused() {
		c.held = append(c.held[max(0, len(c.held)-heldMost+1):], r.OccurredAt)
	}
	if e.Class.BlamesTurn() {
		c.acknowledge(r.Position, func(b blamed) bool { return b.turn == e.Turn || len(c.blamed) <= policy.BlamesToPause })
	}
	c.rule(r, e)
}

func (c *circuit) rule(r events.Record, e events.Event) {
	provider.Evolve(&c.State, r.Header, e)
	if c.early = 0; !c.Pause.Paused() {
		c.endRow(r.Position)
	}
}

// verdict is what is wrong with a ruling; the zero value: nothing.
type verdict struct{ derived, why string }

// countRuling counts a ruling and what is wrong with it.
func (p *prover) countRuling(c *circuit, r events.Record, name string, v verdict) {
	if v == (verdict{}) {
		p.account(name, "")
		return
	}
	e, _ := r.Event()
	p.account(name, c.doubt, Difference{
		Position: r.Position, Stream: r.Stream, Kind: r.Kind, Recorded: shown(e), Derived: v.derived, Why: cmp.Or(v.why, p.life.why()),
	})
}

// checkPause derives a pause from the failure of its turn. The moment of the ruling lies between the failure and the
// record of the pause, and so its end lies between the ends that these two give.
func (c *circuit) checkPause(r events.Record, e events.ProviderPaused, in life) verdict {
	wait := in.Pause
	if e.Class == events.FailNoYield {
		return c.checkNoYield(r, e, in)
	}
	if e.Turn == (events.ID{}) {
		return c.checkRestored(e, wait)
	}
	f := c.failures[e.Turn]
	if f == nil {
		return verdict{why: "no failure of that turn by this provider's fault stands in the log before it"}
	}
	if v := c.untilBetween(e, f, f.at, r.OccurredAt, wait); v != (verdict{}) {
		return v
	}
	switch {
	case c.decide(f, f.at, in) != nil || c.decide(f, r.OccurredAt, in) != nil:
		return verdict{}
	case !c.isProbe(f.began):
		return verdict{why: "the turn was not the probe of the paused provider"}
	case !c.inRow():
		return verdict{why: fmt.Sprintf("fewer than %d turns in a row failed by their own fault", policy.BlamesToPause)}
	}
	return verdict{why: "the provider rested still"}
}

// untilBetween checks e against the pauses that f leads to if it is ruled on at either of two times.
func (c *circuit) untilBetween(e events.ProviderPaused, f *failure, from, to time.Time, wait policy.Backoff) verdict {
	early, late := c.after(f, from, wait), c.after(f, to, wait)
	if late.Until.Before(early.Until) {
		early, late = late, early
	}
	if e.Class != early.Class || e.Probe != early.Probe || e.Until.Before(early.Until) || e.Until.After(late.Until) {
		return verdict{derived: shown(early)}
	}
	return verdict{}
}

// checkRestored derives a pause that a crash lost and that a session which was held brought back: from its failure.
func (c *circuit) checkRestored(e events.ProviderPaused, wait policy.Backoff) verdict {
	latest, derived := events.Position(0), ""
	for _, f := range c.failures {
		if f.class.BlamesTurn() {
			continue // no session holds one against its provider
		}
		cmd := f.fail(f.at)
		cmd.Turn = events.ID{}
		if want := provider.Decide(&c.State, provider.Missed{Fail: cmd}, provider.Limits{Pauses: wait}); want != nil && equal(want, e) {
			return verdict{}
		}
		if f.position > latest {
			latest, derived = f.position, shown(provider.PauseAfter(c.Pause, cmd, wait))
		}
	}
	return verdict{derived: derived, why: "no failure that was not ruled on leads to this pause"}
}

// checkResume checks that there was a pause to end, and, where a probe ended it, that one was parsed: a turn that began
// behind the pause, when it was due.
func (c *circuit) checkResume(e events.ProviderResumed) verdict {
	if !c.Pause.Paused() {
		return verdict{why: "the provider was not paused"}
	}
	answer := provider.Answer{Parsed: true, Probe: c.isProbe(c.parsed)}
	if e.By == "probe" && provider.Decide(&c.State, answer, provider.Limits{}) == nil {
		return verdict{why: "no probe was parsed"}
	}
	return verdict{}
}

// unusable are the answers of a provider that were dropped and not blank, for the pauses that they lead to. In which order the
// dispatcher heard of answers is not on record: what stood before the last one that was kept may have been heard behind it.
type unusable struct {
	turns  map[events.ID]time.Time // when each was recorded
	before []time.Time             // those before the last one that was kept
	kept   time.Time               // when that was recorded; zero: none was
}

// recordUse notes what the answer d was good for. Of one whose payload is erased it is not known whether it was blank: it counts.
func (c *circuit) recordUse(d *decision) {
	for i, r := range d.records {
		switch r.Kind {
		case events.KindObservationParsed, events.KindSummaryParsed:
			if len(c.UnusableAt) > 0 {
				c.useless.before, c.useless.kept = c.UnusableAt, r.RecordedAt
			}
			c.RecordUse(provider.UseKept, r.RecordedAt)
			clear(c.useless.turns)
		case events.KindOutputDropped:
			if e, _ := d.events[i].(events.OutputDropped); !e.Blank() {
				c.RecordUse(provider.UseDropped, r.RecordedAt)
				c.useless.turns[r.Correlation] = r.RecordedAt
			}
		}
	}
}

// mostUnusable is how many answers in a row the dispatcher may have counted at a time.
func (c *circuit) mostUnusable(at time.Time, limits policy.NoYield) int {
	row := c.UnusableAt
	if at.Sub(c.useless.kept) <= heardWithin {
		row = append(row[:len(row):len(row)], c.useless.before...)
	}
	limits.Window += heardWithin
	counted, _ := limits.Decide(row, at)
	return counted
}

// checkNoYield derives a pause from the answer of its turn, and from those before it.
func (c *circuit) checkNoYield(r events.Record, e events.ProviderPaused, in life) verdict {
	at, ok := c.useless.turns[e.Turn]
	switch most := c.mostUnusable(at, in.NoYield); {
	case !ok:
		return verdict{why: "no answer of that turn was dropped before it"}
	case e.Limits != in.NoYield.Limits():
		return verdict{why: "its limits were not those of that life"}
	case e.Counted.Unparseable > most:
		return verdict{why: "fewer answers in a row were dropped"}
	case e.Counted.Unparseable < e.Limits.Unparseable && c.Pause.Class != events.FailNoYield:
		return verdict{why: "so few answers pause nobody"}
	}
	f := failure{turn: e.Turn, class: e.Class}
	return c.untilBetween(e, &f, at, r.OccurredAt, in.Pause)
}
