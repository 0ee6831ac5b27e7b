package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
)

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
		return decideCapture(s, rules, c)
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
	case Settle:
		return decideSettle(s, rules, c), nil
	case Release:
		if s.quarantine.trip == 0 {
			return nil, ErrNotQuarantined
		}
		return newDecision(c.ID, c.At).add(events.SessionReleased{By: "person"}).drafts, nil
	case Reobserve:
		return decideReobserve(s, c)
	case Expire:
		return decideExpire(s, rules, c)
	case Recheck:
		return decideRecheck(s, c)
	case Forget:
		return decideForget(s, rules, c)
	}
	return nil, fmt.Errorf("session: unknown command %T", cmd)
}

// decision collects the drafts that a command leads to. Its first draft has the id of the command, the others derive theirs.
type decision struct {
	id     events.ID
	at     time.Time
	drafts []events.Draft
}

// newDecision takes from at what a record keeps of it. With the reading of the running clock that time.Now adds, a decision
// would come out some nanoseconds otherwise than from the log.
func newDecision(id events.ID, at time.Time) *decision { return &decision{id: id, at: at.Round(0)} }

func (b *decision) add(e events.Event) *decision {
	b.drafts = append(b.drafts, events.Draft{ID: derive(b.id, len(b.drafts)), OccurredAt: b.at, Event: e})
	return b
}

func (b *decision) last() *events.Draft { return &b.drafts[len(b.drafts)-1] }

func (b *decision) correlate(turn events.ID) *decision {
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
