package replay

import (
	"maps"
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/extractive"
)

// check takes the decision that d records again, on the state before it.
func (p *prover) check(s *provedSession, d *decision) {
	if !p.sel.containsTime(d.head().RecordedAt) {
		return
	}
	name, cmds := p.commands(d)
	if name == "" {
		return
	}
	switch name {
	case ProvedInterruption:
		p.checkClean(s, d)
	case ProvedFailure:
		p.checkAnswered(s, d)
	}
	if p.compare(s, d, name, cmds) && name == ProvedTurn {
		p.checkStart(s, d)
	}
	if name == ProvedAnswer {
		p.checkGrammar(s, d)
	}
}

func (d *decision) head() events.Record { return d.records[0] }

// commands returns what may have led to d: usually one command, more where what it was made of is not on record. An
// empty name is no decision: a fact, or what is too dear to check.
func (p *prover) commands(d *decision) (name string, cmds []session.Command) {
	h := d.head()
	if cmd, ok := d.forgetCommand(); ok {
		return ProvedForget, []session.Command{cmd}
	}
	switch e := d.events[0].(type) {
	case events.TurnStarted:
		return ProvedTurn, []session.Command{startOf(h, e)}
	case events.TurnFailed:
		name = ProvedFailure
		if e.Class == events.FailInterrupted {
			name = ProvedInterruption
		}
		e.Halved, e.Spared = 0, false
		return name, []session.Command{session.Fail{ID: h.ID, At: h.OccurredAt, Failed: e}}
	case events.InputsDropped:
		return ProvedExpiry, p.expiries(h)
	case events.ReobserveRequested:
		return ProvedReobserve, []session.Command{session.Reobserve{
			ID: h.ID, At: h.OccurredAt, Turns: e.Turns, Inputs: e.Inputs, Provider: e.Provider,
		}}
	}
	if imported(h.Header) {
		return "", nil
	}
	switch h.Kind {
	case events.KindTurnReceived:
		return ProvedAnswer, []session.Command{d.answer()}
	case events.KindSessionReleased:
		return ProvedRelease, []session.Command{session.Release{ID: h.ID, At: h.OccurredAt}}
	case events.KindSessionOpened, events.KindPromptSubmitted, events.KindAgentStopped, events.KindContextCompacted,
		events.KindAgentSaid, events.KindSessionClosed:
		return d.captureCommands()
	case events.KindOutputDropped, events.KindOutputSkipped, events.KindObservationParsed, events.KindSummaryParsed, events.KindWorkUndone,
		events.KindSessionRespawned, events.KindSessionQuarantined:
		return ProvedUnexplained, nil
	}
	return erasedDecision(h.Kind), nil
}

// forgetCommand is the command that led to d; ok is false where nothing is forgotten in it.
func (d *decision) forgetCommand() (cmd session.Forget, ok bool) {
	cmd = session.Forget{ID: d.head().ID, At: d.head().OccurredAt}
	for _, e := range d.events {
		if e, ok := e.(events.MemoryForgotten); ok {
			cmd.Forgotten = append(cmd.Forgotten, e)
		}
	}
	return cmd, len(cmd.Forgotten) > 0
}

// erasedDecision names the decision whose first event is of kind k, and is all that it was made of; empty: none.
func erasedDecision(k events.Kind) string {
	switch k {
	case events.KindTurnStarted:
		return ProvedTurn
	case events.KindTurnFailed:
		return ProvedFailure
	case events.KindInputsDropped:
		return ProvedExpiry
	case events.KindReobserveRequested:
		return ProvedReobserve
	}
	return ""
}

func startOf(h events.Record, e events.TurnStarted) session.Command {
	return session.StartTurn{
		Turn: e.Turn, At: h.OccurredAt, Provider: e.Provider, Model: e.Model, PromptBytes: e.PromptBytes, Notable: e.Notable,
		Instead: e.Instead,
		Work: session.Work{
			Kind: e.TurnKind, Settles: e.Settles, Reads: e.Reads, Attempt: e.Attempt, Probe: e.Probe, Prompt: e.Prompt,
		},
	}
}

// answer is the command that d's output arrived by: what was kept of it is as recorded.
func (d *decision) answer() session.Command {
	h := d.head()
	a := session.Answer{ID: h.ID, At: h.OccurredAt, Received: events.TurnReceived{Turn: h.Correlation}}
	for i, r := range d.records {
		switch r.Kind {
		case events.KindTurnReceived:
			if e, ok := d.events[i].(events.TurnReceived); ok {
				a.Received = e
			}
		case events.KindObservationParsed:
			e, _ := d.events[i].(events.ObservationParsed)
			a.Observations, a.Happened = append(a.Observations, e), r.OccurredAt
		case events.KindSummaryParsed:
			e, _ := d.events[i].(events.SummaryParsed)
			a.Summary, a.Happened = &e, r.OccurredAt
		case events.KindOutputDropped:
			e, _ := d.events[i].(events.OutputDropped)
			a.Dropped = &e
		case events.KindOutputSkipped:
			e, _ := d.events[i].(events.OutputSkipped)
			a.Skipped = &e
		case events.KindWorkUndone:
			e, _ := d.events[i].(events.WorkUndone)
			a.Undone = &e
		}
	}
	return a
}

// captureCommands is what d's last event, preferences aside, was reported by, or the tick or the end of ingested history that it needed no
// report for. What a tool did is not looked at: nothing but its text would have to be read.
func (d *decision) captureCommands() (string, []session.Command) {
	h, n := d.head(), len(d.records)-1
	for n > 0 && d.records[n].Kind == events.KindPreferenceStated {
		n--
	}
	last, e := d.records[n], d.events[n]
	if silent(d.events[0]) {
		return ProvedTick, []session.Command{
			session.Tick{ID: h.ID, At: h.OccurredAt},
			session.Settle{ID: h.ID, At: h.RecordedAt}, // decided no later than it was recorded
		}
	}
	switch last.Kind {
	case events.KindPromptSubmitted, events.KindAgentStopped, events.KindContextCompacted, events.KindAgentSaid, events.KindSessionClosed:
	default:
		return "", nil
	}
	if e == nil {
		return ProvedCapture, nil
	}
	c := session.Capture{ID: h.ID, At: h.OccurredAt, Event: e}
	for _, e := range d.events[n+1:] {
		stated, _ := e.(events.PreferenceStated)
		c.Preferences = append(c.Preferences, stated)
	}
	if o, ok := d.events[0].(events.SessionOpened); ok {
		c.Origin = session.OriginOf(o)
	}
	return ProvedCapture, []session.Command{c}
}

// imported reports whether a record is memory that no turn of ours made: a fact. It says so when its words are gone too.
func imported(h events.Header) bool {
	return (h.Kind == events.KindObservationParsed || h.Kind == events.KindSummaryParsed) && h.Correlation == (events.ID{})
}

// causeSilent is why a session was closed that nobody closed.
const causeSilent = "silent"

// silent reports whether e is what only time leads to.
func silent(e events.Event) bool {
	switch e := e.(type) {
	case events.AgentStopped:
		return e.Cause == events.StopIdle
	case events.SessionClosed:
		return e.Cause == causeSilent
	}
	return false
}

// expiries are the commands that may have given inputs up: since when a provider kept the session waiting is not on
// record, but it was since the first of some provider's pauses, or not at all. Where there is a budget, it may have been
// since any time: all that this can say is whether for as long as an input may be held, or not.
func (p *prover) expiries(h events.Record) []session.Command {
	cmds := []session.Command{session.Expire{ID: h.ID, At: h.OccurredAt}}
	for _, name := range slices.Sorted(maps.Keys(p.circuits)) {
		for _, since := range p.circuits[name].held {
			cmds = append(cmds, session.Expire{ID: h.ID, At: h.OccurredAt, Held: since})
		}
	}
	if !p.life.Budget.None() {
		cmds = append(cmds, session.Expire{ID: h.ID, At: h.OccurredAt, Held: time.Unix(0, 0)},
			session.Expire{ID: h.ID, At: h.OccurredAt, Held: h.OccurredAt})
	}
	return cmds
}

// checkClean checks that a turn was forgiven only where the daemon ended in order. One of the same life was cut by the end
// that came then.
func (p *prover) checkClean(s *provedSession, d *decision) {
	e, ok := d.events[0].(events.TurnFailed)
	if !ok || !e.Clean || p.life.previousClean || s.turnBegin.position > p.life.began {
		return
	}
	was := shown(e)
	e.Clean = false
	p.differ(ProvedInterruption, d.differenceAt(0, was, shown(e), "the life before did not end in order"))
}

// rules are the rules that d was decided by.
func (p *prover) rules(s *provedSession, d *decision) session.Rules {
	r := p.life.rules
	if s.provider == fixedProvider {
		r.Batch.Fixed = true
	}
	if limits := d.limits(); limits != nil && !p.life.known {
		setLimits(&r, *limits)
	}
	return r
}

// fixedProvider is the provider whose answers a fresh generation does not change.
const fixedProvider = extractive.Name

// limits are those that d itself recorded; nil: none.
func (d *decision) limits() *events.Limits {
	for _, e := range d.events {
		switch e := e.(type) {
		case events.SessionRespawned:
			return &e.Limits
		case events.SessionQuarantined:
			return &e.Limits
		}
	}
	return nil
}

// setLimits puts recorded limits into rules.
func setLimits(r *session.Rules, l events.Limits) {
	if l.Unparseable > 0 {
		r.Outputs = &policy.Unparseable{Max: l.Unparseable, Window: l.Window, Every: l.Every}
		return
	}
	r.Restarts.Max, r.Restarts.Window, r.Restarts.MaxConsecutive = l.MaxRestarts, l.Window, l.MaxConsecutive
}
