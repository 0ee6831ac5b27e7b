package actors

import (
	"context"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// circuit is one provider by name, whichever of its models are asked: its pauses as its stream tells them, and who probes
// it. While it rests nobody is let in. From the end of its pause on there is one turn at a time, each a probe, until one
// is parsed. Where turns are blamed for the pause, what has not failed yet may probe at once: one bad input must not keep
// it waiting.
type circuit struct {
	name    string
	pause   policy.Pause
	ruled   time.Time       // when it was last paused or resumed
	ruledAt events.Position // the same, as a record
	since   time.Time       // when it was paused first and not resumed since
	probing string          // the holder that probes it; empty: nobody

	answered events.Position // of its last output, as far as this life and the end of the last one know; 0: none
}

// foldCircuit reads a provider's stream.
func foldCircuit(log eventlog.Log, name string) (*circuit, error) {
	p := &circuit{name: name}
	for r, err := range log.Stream(context.Background(), p.stream(), 0) {
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", p.stream(), err)
		}
		e, err := r.Event()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", p.stream(), err)
		}
		p.evolve(e, r.OccurredAt)
		p.ruledAt = r.Position
	}
	return p, nil
}

func (p *circuit) stream() events.StreamID { return events.ProviderStream(p.name) }

func (p *circuit) evolve(e events.Event, at time.Time) {
	switch e := e.(type) {
	case events.ProviderPaused:
		if !p.pause.Paused() {
			p.since = at
		}
		blamed := p.pause.Blamed
		if e.Class.BlamesTurn() {
			blamed = max(blamed+1, policy.BlamesAllowed)
		}
		p.pause, p.ruled = policy.Pause{Class: e.Class, Until: e.Until, Probe: e.Probe, At: at, Blamed: blamed}, at
	case events.ProviderResumed:
		p.pause, p.ruled = policy.Pause{}, at
	}
}

// mended ends a pause early that waits for a person: whoever starts the daemon may have mended it. One probe tells.
func (p *circuit) mended() {
	if c := p.pause.Class; c == events.FailAuth || c == events.FailBilling || c == events.FailSetup || p.pause.Blames() {
		p.pause.Until = time.Time{}
	}
}

// keep takes from an earlier incarnation what no log tells.
func (p *circuit) keep(was *circuit) {
	p.probing, p.answered, p.pause.Blamed = was.probing, was.answered, was.pause.Blamed
}

// doubtful reports whether one bad input alone may have paused p: nothing else has failed since.
func (p *circuit) doubtful() bool { return p.pause.Blamed <= policy.BlamesAllowed }

// heard notes an output that ends at a position, whatever it was.
func (p *circuit) heard(at events.Position) {
	p.pause, p.answered = p.pause.Answered(), max(p.answered, at)
}

// barrier is what the circuit has against another turn. From the time when it may be probed it holds nobody, though
// only one gets through, until it has failed again. A turn that has not failed yet need not wait for that time where early
// says so and turns are blamed for the pause.
func (p *circuit) barrier(now time.Time, early bool) barrier {
	switch {
	case p.pause.Rests(now) && !(early && p.pause.Blames()):
		return barrier{closed: true, held: true, since: p.since, until: p.pause.Until}
	case p.pause.Paused() && p.probing != "":
		return barrier{closed: true}
	}
	return barrier{}
}

// take lets holder in.
func (p *circuit) take(holder string) {
	if p.pause.Paused() {
		p.probing = holder
	}
}

// free lets another probe if holder was the one.
func (p *circuit) free(holder string) (probed bool) {
	probed = p.probing == holder
	if probed {
		p.probing = ""
	}
	return probed
}

// barrier is what keeps a turn from being asked. The zero value is nothing.
type barrier struct {
	closed  bool
	reading bool      // it is, until what was spent is read for the first time, which takes milliseconds
	held    bool      // and nobody can find out whether it still should be: what waits behind it is held, which is bounded
	since   time.Time // of held
	until   time.Time // of held: nothing changes before
	budget  bool      // it is the budget's, or the budget's too
}

// and is what stands between a turn and one offer, where b and c both do.
func (b barrier) and(c barrier) barrier {
	out := barrier{closed: b.closed || c.closed, reading: b.reading || c.reading, held: b.held || c.held, budget: b.budget || c.budget}
	for _, x := range []barrier{b, c} {
		if x.held {
			out.since, out.until = earlier(out.since, x.since), later(out.until, x.until)
		}
	}
	return out
}

// or is what stands between a turn and two offers, where b stands before the one and c before the other, both closed.
func (b barrier) or(c barrier) barrier {
	return barrier{
		closed: true, held: b.held && c.held, budget: b.budget || c.budget,
		since: later(b.since, c.since), until: earlier(b.until, c.until),
	}
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
