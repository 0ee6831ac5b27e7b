package session

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// Command is an intent to change a session. Commands carry all that is not pure: times and ids. The set is closed.
type Command interface {
	// Name is the command's kind, for logs and faults; it says nothing of its content.
	Name() string
}

// Origin says where a report comes from. It opens the session when the report is the first sight of it. Its Source is empty: that is of
// one start of the session.
type Origin events.SessionOpened

// Session is the id of the session that o names.
func (o Origin) Session() events.SessionID { return events.SessionIDOf(o.Agent, o.AgentSession) }

// Capture reports something that happened in an agent's session. Its Event is one of
//
//	SessionOpened     only Source counts; the rest is taken from Origin
//	PromptSubmitted   Number is assigned by Decide
//	ToolUsed          Prompt is assigned; Unobserved non-empty keeps it out of every turn; its words stay only if it was imported
//	AgentStopped      Work and Prompt are assigned; what answers a private prompt loses its message
//	AgentSaid         Prompt is assigned; under a private prompt it loses its text
//	ContextCompacted  Prompt is assigned; under a private prompt it loses its summary and is unobserved
//	SessionClosed
//	ContextInjected
//	ObservationParsed, SummaryParsed  imported alone: with a Source, and of no turn. They settle nothing
//
// Preferences are sentences of a prompt, or of the reason of a refused tool use, in which the person says how to work; their Prompt and
// ToolUseID are assigned. What is private has none.
//
// A Capture whose Key the session has seen is a duplicate: Decide returns no events.
type Capture struct {
	ID     events.ID  // UUIDv7 of the delivery; the first event gets it, others derive theirs from it
	Key    events.Key // of the fact; zero: of the delivery, so that it is never a duplicate of another
	At     time.Time  // when it happened
	Origin Origin
	Event  events.Event

	Preferences []events.PreferenceStated
}

// StartTurn records that the provider is about to be asked for what Next said is due.
type StartTurn struct {
	Turn        events.ID
	At          time.Time
	Work        Work // as Next gave it
	Provider    string
	Model       string
	PromptBytes int
	Notable     int      // settled inputs that were an edit, a commit or a failed test
	Instead     []string // providers that come before it and were passed over
}

// Answer is an output that arrived, parsed and checked. Parsed events carry their ids, claims and files already.
type Answer struct {
	ID           events.ID
	At           time.Time
	Happened     time.Time // when what was observed happened: of the newest input; zero means At
	Received     events.TurnReceived
	Observations []events.ObservationParsed
	Summary      *events.SummaryParsed
	Dropped      *events.OutputDropped // exactly one of: kept content, Dropped, Skipped
	Skipped      *events.OutputSkipped
	Undone       *events.WorkUndone // what the turn's calls undid, or what was undone of its own; nil: nothing
}

// Parsed reports whether the output is a success: content, or a skip in so many words. A blank one is none, though it
// settles inputs as skipped.
func (a Answer) Parsed() bool {
	return a.Dropped == nil && (a.Skipped == nil || a.Skipped.Reason != events.ReasonEmpty)
}

// Kept reports whether something of the output became memory.
func (a Answer) Kept() bool { return a.Summary != nil || len(a.Observations) > 0 }

// Unusable reports whether the output was dropped though there was something in it.
func (a Answer) Unusable() bool { return a.Dropped != nil && !a.Dropped.Blank() }

// Fail is a turn that ended without an output that may be judged.
type Fail struct {
	ID     events.ID
	At     time.Time
	Failed events.TurnFailed
}

// Interrupt closes a turn that was in flight when the daemon ended, or ends. Clean says that it ended in order.
type Interrupt struct {
	ID    events.ID
	At    time.Time
	Clean bool
	Paid  events.Bill // what the turn cost all the same, where it is known
}

// Tick lets time do its part: an idle stop, a close after a day of silence.
type Tick struct {
	ID events.ID
	At time.Time
}

// Settle ends what a session left unfinished, where it has been silent for Rules.IdleStop by the times of what it reported: history
// that was ingested has no further report to wait for. A session that is closed, younger, or has nothing unfinished is left as it is.
type Settle struct {
	ID   events.ID
	At   time.Time
	Last time.Time // of the last line of the session's transcript, whatever it means; zero: not known
}

// Release ends a quarantine because a person says so.
type Release struct {
	ID events.ID
	At time.Time
}

// Reobserve asks for turns again.
type Reobserve struct {
	ID       events.ID
	At       time.Time
	Turns    []events.ID
	Inputs   []events.Position // what they settled
	Provider string            // who shall answer; empty: whoever is asked of others
}

// Expire gives up what the session holds beyond Rules.HeldMaxInputs and Rules.HeldMaxAge. It does so only while the
// session may try nothing: a long backlog that is worked on, or that nobody was there to work on, is none of its business.
// See Overdue.
type Expire struct {
	ID   events.ID
	At   time.Time
	Held time.Time // since when the provider's pause has kept the session waiting; zero: it does not
}

// Recheck records a later look at claims of the session's observations and summaries. What was found then stands: the
// events are beside it.
type Recheck struct {
	ID      events.ID
	At      time.Time
	Checked []events.ClaimChecked // at least one
}

// Name is the kind of the command and, for captures, of its event.
func (c Capture) Name() string {
	if c.Event == nil {
		return "capture"
	}
	return "capture " + string(events.KindOf(c.Event))
}

// Name is the command's kind.
func (StartTurn) Name() string { return "start turn" }

// Name is the command's kind.
func (Answer) Name() string { return "answer" }

// Name is the command's kind.
func (Fail) Name() string { return "fail" }

// Name is the command's kind.
func (Interrupt) Name() string { return "interrupt" }

// Name is the command's kind.
func (Tick) Name() string { return "tick" }

// Name is the command's kind.
func (Settle) Name() string { return "settle" }

// Name is the command's kind.
func (Release) Name() string { return "release" }

// Name is the command's kind.
func (Reobserve) Name() string { return "reobserve" }

// Name is the command's kind.
func (Expire) Name() string { return "expire" }

// Name is the command's kind.
func (Recheck) Name() string { return "recheck" }

// Forget records that payloads of the session are to be erased, or that they have been kept for long enough. Which ones is
// chosen by who asks: every position is of the session's own stream. A turn in flight whose prompt holds any of it is
// interrupted, and blames nobody: what it would say is made of what goes.
type Forget struct {
	ID        events.ID
	At        time.Time
	Forgotten []events.MemoryForgotten // at least one
}

// Name is the command's kind.
func (Forget) Name() string { return "forget" }

// SizeOf is about how many bytes commands take while they wait: of their texts, and a share for all else.
func SizeOf(cmds []Command) int64 {
	var n int64
	for _, c := range cmds {
		n += 256
		capture, ok := c.(Capture)
		if !ok {
			continue
		}
		for _, e := range capture.Preferences {
			n += int64(len(e.Sentence))
		}
		switch e := capture.Event.(type) {
		case events.ToolUsed:
			n += int64(len(e.Input) + len(e.Output))
		case events.PromptSubmitted:
			n += int64(len(e.Text))
		case events.AgentStopped:
			n += int64(len(e.LastMessage))
		case events.ContextCompacted:
			n += int64(len(e.Summary))
		case events.AgentSaid:
			n += int64(len(e.Text))
		}
	}
	return n
}
