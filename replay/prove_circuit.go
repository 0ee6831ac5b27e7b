package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/policy"
)

// circuit is one provider: its pauses as they stand, and what they have to be derived from.
type circuit struct {
	stream    events.StreamID
	version   events.Version
	doubt     string // why nothing can be told for sure; empty: it can
	pause     policy.Pause
	held      []time.Time     // when the last few rows of pauses began, the latest last
	ruled     events.Position // of the last pause or resumption
	at        time.Time       // of the last one
	early     int             // turns that began behind the pause, before it was over
	parsed    beginning       // of the last turn that was: content, or a skip in so many words
	refreshed bool            // outputs have earned a fresh generation
	failures  map[events.ID]*failure
}

// beginning is where and when a turn began.
type beginning struct {
	position events.Position
	at       time.Time
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
	paused   bool // the provider was, when it failed
	reported bool // within the selection
}

// heldMost is how many beginnings of holds a circuit remembers, for what was given up because of them.
const heldMost = 8

func (p *prover) circuit(name string) *circuit {
	c := p.circuits[name]
	if c == nil {
		c = &circuit{stream: events.ProviderStream(name), failures: map[events.ID]*failure{}}
		p.circuits[name] = c
	}
	return c
}

// failed notes how a turn failed, for the ruling that may follow.
func (p *prover) failed(s *proved, r events.Record, e events.TurnFailed) {
	if !e.Class.BlamesProvider() {
		return
	}
	name := e.Provider
	if name == "" {
		name = s.provider
	}
	c := p.circuit(name)
	s.failed = &failure{
		by: name, turn: e.Turn, position: r.Position, stream: r.Stream, at: r.OccurredAt, class: e.Class, resetsAt: e.ResetsAt,
		began: s.began, paused: c.pause.Paused(), reported: p.sel.at(r.RecordedAt),
	}
	c.failures[e.Turn] = s.failed
}

// checkStart checks a turn's beginning against its provider: that it was not paused, and that the session's last
// failure was ruled on before the session was let in again.
func (p *prover) checkStart(s *proved, d *decision) {
	e, ok := d.events[0].(events.TurnStarted)
	if !ok {
		return
	}
	c := p.circuit(e.Provider)
	if c.keepsBack(d.head().OccurredAt) {
		if c.early++; c.early >= p.life.slots {
			why := fmt.Sprintf("its provider was paused until %s", c.pause.Until.Format(time.RFC3339Nano))
			p.differ(d.differenceAt(0, shown(e), "", why).of(ProvedTurn))
		}
	}
	p.checkRuled(s, c)
}

// keepsBack reports whether a turn of c may not begin at now. Whoever starts a daemon may have mended what a login or a
// bill was the matter with, so a pause of these classes is no certainty.
func (c *circuit) keepsBack(now time.Time) bool {
	switch c.pause.Class {
	case events.FailAuth, events.FailBilling, events.FailSetup:
		return false
	}
	return c.doubt == "" && c.pause.Rests(now)
}

// checkRuled checks that c was paused after the last failure of s, unless it was paused already.
func (p *prover) checkRuled(s *proved, c *circuit) {
	f := s.failed
	if f == nil || p.circuits[f.by] != c || f.paused || c.doubt != "" || !f.reported || len(p.sel.Sessions) > 0 || c.ruled > f.position || !f.at.After(c.at) {
		return
	}
	want := c.after(f, f.at, p.life.pause)
	p.count(ProvedPause).Checked++
	p.differ(Difference{
		Position: f.position, Stream: f.stream, Decision: ProvedPause, Kind: events.KindProviderPaused,
		Derived: shown(want), Why: "no pause of the provider follows this failure, and its session was let in again",
	})
}

// after is the pause that a failure leads to at now.
func (c *circuit) after(f *failure, now time.Time, wait policy.Backoff) events.ProviderPaused {
	next := c.pause.After(f.class, policy.Clamp(f.resetsAt, now), now, wait)
	return events.ProviderPaused{Class: next.Class, Until: next.Until, Probe: next.Probe, Turn: f.turn}
}

// ruling takes a record of a provider's stream, and checks it unless sessions are selected: the failures of the others
// are not known then.
func (p *prover) ruling(c *circuit, r events.Record) error {
	if r.Version != c.version+1 {
		c.doubt = "the stream's beginning is not in view"
	}
	c.version = r.Version
	e, err := r.Event()
	if err != nil && !errors.Is(err, events.ErrErased) {
		return fmt.Errorf("replay: prove: %w", err)
	}
	if err != nil {
		c.doubt = fmt.Sprintf("the payload of %s at %d is erased", r.Kind, r.Position)
	}
	check := len(p.sel.Sessions) == 0 && p.sel.at(r.RecordedAt)
	switch e := e.(type) {
	case events.ProviderPaused:
		if check {
			p.judge(c, r, ProvedPause, c.checkPause(r, e, p.life.pause))
		}
		c.paused(r, e)
	case events.ProviderResumed:
		if check {
			p.judge(c, r, ProvedResume, c.checkResume(e))
		}
		c.pause = policy.Pause{}
		c.rule(r)
	case nil:
		p.erasedRuling(c, r, check)
	}
	return nil
}

// erasedRuling takes a ruling of which only the kind is known.
func (p *prover) erasedRuling(c *circuit, r events.Record, check bool) {
	name := ProvedResume
	if r.Kind == events.KindProviderPaused {
		name = ProvedPause
	}
	if check {
		p.judge(c, r, name, verdict{why: c.doubt})
	}
	c.pause = policy.Pause{}
	c.rule(r)
}

func (c *circuit) paused(r events.Record, e events.ProviderPaused) {
	if !c.pause.Paused() {
		c.held = append(c.held[max(0, len(c.held)-heldMost+1):], r.OccurredAt)
	}
	c.pause = policy.Pause{Class: e.Class, Until: e.Until, Probe: e.Probe, At: r.OccurredAt}
	c.rule(r)
}

func (c *circuit) rule(r events.Record) {
	c.ruled, c.at, c.early = r.Position, r.OccurredAt, 0
}

// verdict is what is wrong with a ruling; the zero value: nothing.
type verdict struct{ derived, why string }

// judge counts a ruling and what is wrong with it.
func (p *prover) judge(c *circuit, r events.Record, name string, v verdict) {
	n := p.count(name)
	n.Checked++
	if v == (verdict{}) {
		n.Equal++
		return
	}
	e, _ := r.Event()
	f := Difference{
		Position: r.Position, Stream: r.Stream, Decision: name, Kind: r.Kind, Recorded: shown(e), Derived: v.derived, Why: v.why,
	}
	if f.Why == "" {
		f.Why = p.life.why()
	}
	if c.doubt != "" {
		f.Why = c.doubt
		n.Unproven++
		p.proof.doubt(f)
		return
	}
	p.differ(f)
}

// checkPause derives a pause from the failure of its turn. The moment of the ruling lies between the failure and the
// record of the pause, and so its end lies between the ends that these two give.
func (c *circuit) checkPause(r events.Record, e events.ProviderPaused, wait policy.Backoff) verdict {
	if e.Turn == (events.ID{}) {
		return c.checkRestored(e, wait)
	}
	f := c.failures[e.Turn]
	if f == nil {
		return verdict{why: "no failure of that turn by this provider's fault stands in the log before it"}
	}
	early, late := c.after(f, f.at, wait), c.after(f, r.OccurredAt, wait)
	if late.Until.Before(early.Until) {
		early, late = late, early
	}
	if e.Class != early.Class || e.Probe != early.Probe || e.Until.Before(early.Until) || e.Until.After(late.Until) {
		return verdict{derived: shown(early)}
	}
	if c.pause.Paused() && (f.began.position < c.ruled || c.keepsBack(f.began.at)) {
		return verdict{why: "the turn was not the probe of the paused provider"}
	}
	return verdict{}
}

// checkRestored derives a pause that a crash lost and that a session which was held brought back: from its failure.
func (c *circuit) checkRestored(e events.ProviderPaused, wait policy.Backoff) verdict {
	latest, derived := events.Position(0), ""
	for _, f := range c.failures {
		want := c.after(f, f.at, wait)
		want.Turn = events.ID{}
		if !c.pause.Paused() && f.at.After(c.at) && equal(want, e) {
			return verdict{}
		}
		if f.position > latest {
			latest, derived = f.position, shown(want)
		}
	}
	return verdict{derived: derived, why: "no failure that was not ruled on leads to this pause"}
}

// checkResume checks that there was a pause to end, and, where a probe ended it, that one was parsed: a turn that began
// behind the pause, when it was due.
func (c *circuit) checkResume(e events.ProviderResumed) verdict {
	switch {
	case !c.pause.Paused():
		return verdict{why: "the provider was not paused"}
	case e.By == "probe" && (c.parsed.position < c.ruled || c.keepsBack(c.parsed.at)):
		return verdict{why: "no probe was parsed"}
	}
	return verdict{}
}
