package session

import (
	"math"

	"github.com/cmemd/cmemd/events"
)

// The rules of what becomes of an input, and of when it is asked about once more. State and the view of outcomes follow
// them; the audit of a log has its own on purpose.

// Outcome is what became of an input.
type Outcome uint8

// The outcomes. Forgotten is final. The view of outcomes stores their numbers.
const (
	Pending Outcome = iota
	Observed
	Skipped
	Dropped
	Forgotten
)

// String is the outcome's word in output and settings.
func (o Outcome) String() string {
	return [...]string{"pending", "observed", "skipped", "dropped", "forgotten"}[o]
}

// SettledAs is the outcome of an input whose outcome was o when a turn or a ruling decides that it is to: what was
// observed or skipped is never dropped any more, and forgotten is final.
func (o Outcome) SettledAs(to Outcome) Outcome {
	if o == Forgotten || to == Dropped && o != Pending {
		return o
	}
	return to
}

// Answers counts the answers to an input since it was captured, or last asked for by a person; 255 stands for more.
type Answers uint8

// Next is n and one answer more.
func (n Answers) Next() Answers { return min(n, math.MaxUint8-1) + 1 }

// First reports whether the last answer was the first one. A session asks once more by itself after that one alone.
func (n Answers) First() bool { return n == 1 }

// LacksSummary reports whether a summary turn's answer was dropped because there was no summary in it. All that the turn
// settled is asked about once more if it was the first answer to any of that.
func LacksSummary(e events.OutputDropped) bool { return e.Reason == events.ReasonMissingSummary }

// EarnedByOutputs reports whether a fresh generation was earned by outputs that did not parse. What the last of them was
// the first answer to is asked about once more.
func EarnedByOutputs(e events.SessionRespawned) bool { return e.Cause == CauseUnparseable }

// crashed reports whether e is the end of an observer.
func crashed(e events.TurnFailed) bool {
	return e.Class == events.FailCrash || e.Class == events.FailInterrupted && !e.Clean
}

// isBatchTooLarge reports whether c means that less must be asked at once.
func isBatchTooLarge(c events.FailureClass) bool {
	return c == events.FailOverflow || c == events.FailTruncated
}

// blamesBatch reports whether a failure counts against the inputs that were asked about.
func blamesBatch(e events.TurnFailed) bool {
	return crashed(e) || e.Class.BlamesTurn()
}

// known reports whether c is a class with a rule. Any other would be nobody's fault, and be tried again at once for ever.
func known(c events.FailureClass) bool {
	return c.BlamesProvider() || c.BlamesTurn() || c == events.FailCrash || c == events.FailInterrupted
}
