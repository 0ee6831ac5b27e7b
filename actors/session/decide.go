package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// Rules are the limits that Decide and Next go by. Zero fields mean the defaults.
type Rules struct {
	Batch       policy.BatchLimits
	Restarts    policy.Restarts
	Quarantine  policy.Backoff // 0 means policy.DefaultQuarantine
	IdleStop    time.Duration  // silence after which unfinished work counts as stopped. 0 means 30 min
	Silence     time.Duration  // silence after which a session counts as closed. 0 means 24 h
	MaxAttempts int            // failures of one batch before it is halved, or its single input dropped. 0 means 3

	// Outputs says when outputs that did not parse earn a fresh generation; nil means never: they are dropped, and that
	// is all. A Max over maxUnparsed+1, the output at hand included, is never reached. A provider whose limits say Fixed is left alone in any case.
	Outputs *policy.Unparseable

	HeldMaxInputs int           // inputs of one session that are held before the oldest are given up. 0 means 10,000
	HeldMaxAge    time.Duration // for which an input is held before it is given up. 0 means 14 days
}

// DefaultRules are the rules where nobody says otherwise, without a provider's batch limits.
func DefaultRules() Rules { return Rules{Restarts: policy.DefaultRestarts()}.withDefaults() }

func (r Rules) withDefaults() Rules {
	if r.Quarantine == (policy.Backoff{}) {
		r.Quarantine = policy.DefaultQuarantine()
	}
	if r.IdleStop == 0 {
		r.IdleStop = 30 * time.Minute
	}
	if r.Silence == 0 {
		r.Silence = 24 * time.Hour
	}
	if r.MaxAttempts == 0 {
		r.MaxAttempts = 3
	}
	if r.HeldMaxInputs == 0 {
		r.HeldMaxInputs = 10_000
	}
	if r.HeldMaxAge == 0 {
		r.HeldMaxAge = 14 * 24 * time.Hour
	}
	return r
}

// Refusals of Decide.
var (
	// ErrNotCapture is a Capture whose event no agent can report.
	ErrNotCapture = errors.New("session: not something an agent reports")
	// ErrTurnInFlight is a StartTurn while another turn is being asked.
	ErrTurnInFlight = errors.New("session: a turn is in flight")
	// ErrNotDue is a StartTurn for work that is not owed any more: ask Next again.
	ErrNotDue = errors.New("session: not due")
	// ErrNoTurn is an end of a turn that is not in flight: it came too late, and changes nothing.
	ErrNoTurn = errors.New("session: no such turn in flight")
	// ErrBadAnswer is an Answer that is none of kept, dropped or skipped, or more than one of them.
	ErrBadAnswer = errors.New("session: an answer is kept, dropped or skipped")
	// ErrNotQuarantined is a Release of a session that is free.
	ErrNotQuarantined = errors.New("session: not quarantined")
	// ErrNoInputs is a Reobserve that names none of the session's inputs.
	ErrNoInputs = errors.New("session: no such inputs")
	// ErrNoClaims is a Recheck that names no claim, or comes to a session that nobody has heard of.
	ErrNoClaims = errors.New("session: no claims were checked")
	// ErrNothingToForget is a Forget that names nothing, or comes to a session that nobody has heard of.
	ErrNothingToForget = errors.New("session: nothing to forget")
)

// The causes of SessionRespawned.
const (
	CauseCrash       = "crash"
	CauseInterrupted = "interrupted"
	CauseUnparseable = "unparseable" // no crash: its outputs did not parse, and Rules.Outputs is set
)

// Decide returns what cmd makes of s under rules: drafts to append, in order, or nothing where there is nothing to
// record (a duplicate, a tick too early). It does not change s. Errors are the refusals above.
func Decide(s *State, rules Rules, cmd Command) ([]events.Draft, error) {
	rules = rules.withDefaults()
	switch c := cmd.(type) {
	case Capture:
		return decideCapture(s, c)
	case StartTurn:
		return decideStart(s, rules, c)
	case Answer:
		return decideAnswer(s, rules, c)
	case Fail:
		return decideFail(s, rules, c)
	case Interrupt:
		return decideInterrupt(s, rules, c)
	case Tick:
		return decideTick(s, rules, c)
	case Release:
		if s.quarantine.trip == 0 {
			return nil, ErrNotQuarantined
		}
		return newBatch(c.ID, c.At).add(events.SessionReleased{By: "person"}).drafts, nil
	case Reobserve:
		return decideReobserve(s, c)
	case Expire:
		return decideExpire(s, rules, c)
	case Recheck:
		return decideRecheck(s, c)
	case Forget:
		return decideForget(s, c)
	}
	return nil, fmt.Errorf("session: unknown command %T", cmd)
}

// batch collects the drafts of one decision. Its first draft has the id of the command, the others derive theirs.
type batch struct {
	id     events.ID
	at     time.Time
	drafts []events.Draft
}

// newBatch takes from at what a record keeps of it. With the reading of the running clock that time.Now adds, a decision
// would come out some nanoseconds otherwise than from the log.
func newBatch(id events.ID, at time.Time) *batch { return &batch{id: id, at: at.Round(0)} }

func (b *batch) add(e events.Event) *batch {
	b.drafts = append(b.drafts, events.Draft{ID: derive(b.id, len(b.drafts)), OccurredAt: b.at, Event: e})
	return b
}

func (b *batch) last() *events.Draft { return &b.drafts[len(b.drafts)-1] }

func (b *batch) correlate(turn events.ID) *batch {
	for i := range b.drafts {
		b.drafts[i].Correlation = turn
	}
	return b
}

// derive returns the nth id after id: itself for 0. The time in it, and so its place among others, stays.
func derive(id events.ID, n int) events.ID {
	tail := binary.BigEndian.Uint32(id[12:])
	binary.BigEndian.PutUint32(id[12:], tail+uint32(n))
	return id
}

func decideCapture(s *State, c Capture) ([]events.Draft, error) {
	if _, seen := s.keys[c.Key]; seen && !c.Key.IsZero() {
		return nil, nil
	}
	b := newBatch(c.ID, c.At)
	if _, opening := c.Event.(events.SessionOpened); !opening && !s.opened {
		b.add(opened(c.Origin, "sight"))
	}
	if err := addCapture(s, b, c); err != nil || len(b.drafts) == 0 {
		return nil, err
	}
	b.last().Key = c.Key
	return b.drafts, nil
}

func addCapture(s *State, b *batch, c Capture) error {
	prompt := len(s.prompts)
	switch e := c.Event.(type) {
	case events.SessionOpened:
		b.add(opened(c.Origin, e.Source))
	case events.PromptSubmitted:
		e.Number = prompt + 1
		b.add(e).last().Unobserved = e.Private
	case events.ToolUsed:
		e.Prompt = prompt
		b.add(observable(s, e)).last().Unobserved = s.private || e.Unobserved != ""
	case events.AgentStopped:
		if s.private {
			e.LastMessage = ""
		}
		b.addStop(e, s.work, prompt)
	case events.ContextCompacted:
		if s.work > 0 {
			b.addStop(events.AgentStopped{Cause: events.StopCompact}, s.work, prompt)
		}
		if s.private {
			e.Summary = ""
		}
		e.Prompt = prompt
		b.add(e).last().Unobserved = s.private
	case events.SessionClosed:
		if s.work > 0 {
			b.addStop(events.AgentStopped{Cause: events.StopEnd}, s.work, prompt)
		}
		if s.work > 0 || !s.closed {
			b.add(e)
		}
	case events.ContextInjected:
		b.add(e)
	case events.ObservationParsed:
		if e.Source == "" || e.Turn != (events.ID{}) {
			return fmt.Errorf("%w: an observation of no other memory", ErrNotCapture)
		}
		b.add(e)
	case events.SummaryParsed:
		if e.Source == "" || e.Turn != (events.ID{}) {
			return fmt.Errorf("%w: a summary of no other memory", ErrNotCapture)
		}
		b.add(e)
	default:
		return fmt.Errorf("%w: %T", ErrNotCapture, c.Event)
	}
	return nil
}

func (b *batch) addStop(e events.AgentStopped, work, prompt int) {
	e.Work, e.Prompt = work, prompt
	b.add(e).last().Unobserved = work == 0
}

// observable cuts the content of a tool use that no turn may see: one of our own, or one that serves a private prompt. What
// was imported keeps it: no turn sees that because another memory has observed it.
func observable(s *State, e events.ToolUsed) events.ToolUsed {
	if s.private && e.Unobserved == "" {
		e.Unobserved = "private"
	}
	if e.Unobserved != "" && e.Unobserved != events.UnobservedImported || s.private {
		e.Input, e.Output = "", ""
	}
	return e
}

func opened(o Origin, source string) events.SessionOpened {
	return events.SessionOpened{
		Agent: o.Agent, AgentSession: o.AgentSession, Project: o.Project, ProjectRoot: o.ProjectRoot, Cwd: o.Cwd,
		GitRoot: o.GitRoot, GitBranch: o.GitBranch, GitHead: o.GitHead, Source: source, Transcript: o.Transcript, ProjectKey: o.ProjectKey,
	}
}

func decideTick(s *State, rules Rules, c Tick) ([]events.Draft, error) {
	b := newBatch(c.ID, c.At)
	silent := s.opened && !s.closed && !c.At.Before(s.heard.Add(rules.Silence))
	if s.work > 0 && !c.At.Before(s.heard.Add(rules.IdleStop)) {
		b.addStop(events.AgentStopped{Cause: events.StopIdle}, s.work, len(s.prompts))
	}
	if silent {
		b.add(events.SessionClosed{Cause: "silent"})
	}
	return b.drafts, nil
}

func decideReobserve(s *State, c Reobserve) ([]events.Draft, error) {
	var known []events.Position
	for _, i := range s.indexes(c.Inputs) {
		if s.inputs[i].outcome != Forgotten {
			known = append(known, s.inputs[i].position)
		}
	}
	if len(known) == 0 {
		return nil, ErrNoInputs
	}
	return newBatch(c.ID, c.At).add(events.ReobserveRequested{Turns: c.Turns, Provider: c.Provider, Inputs: known}).drafts, nil
}

func decideRecheck(s *State, c Recheck) ([]events.Draft, error) {
	if len(c.Checked) == 0 || !s.opened {
		return nil, ErrNoClaims
	}
	b := newBatch(c.ID, c.At)
	for _, checked := range c.Checked {
		b.add(checked)
	}
	return b.drafts, nil
}
