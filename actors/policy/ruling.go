package policy

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// Class is what an output looks like, in the words of the output contract.
type Class string

// The classes.
const (
	ClassIdle  Class = "idle"  // blank, or nothing but reasoning
	ClassXML   Class = "xml"   // a root tag stands somewhere in it
	ClassProse Class = "prose" // anything else
)

// Disposition is what the output contract makes of an output.
type Disposition string

// The dispositions.
const (
	Observations Disposition = "observations"
	Summary      Disposition = "summary"
	Skip         Disposition = "skip"
	Dropped      Disposition = "dropped"
)

// Output is all that a policy may know of one. Its words are not among it.
type Output struct {
	Class       Class
	Disposition Disposition
	PhraseFound bool // HasPhrase of an output that did not parse; only policies of which ReadsPhrases is true look at it
}

// Parsed reports whether o is a success: content, or a skip in so many words. A blank output is none, though it
// settles inputs as skipped.
func (o Output) Parsed() bool { return o.Disposition != Dropped && o.Class != ClassIdle }

// known reports whether o is of a class and a disposition that there are rules for.
func (o Output) known() bool {
	switch o.Disposition {
	case Observations, Summary, Skip, Dropped:
		return o.Class == ClassIdle || o.Class == ClassXML || o.Class == ClassProse
	}
	return false
}

// Turn is how one delivered turn ended.
type Turn struct {
	Output
	Failure  events.FailureClass // what the transport said; empty: that all is well
	ResetsAt time.Time           // when it said it would answer again; zero: it did not
}

// Ruling is what a policy makes of a turn, or of the end of an observer.
type Ruling string

// The rulings. The zero value is none: there is no rule.
const (
	RuleKeep    Ruling = "keep"    // content was kept
	RuleSkip    Ruling = "skip"    // there was nothing to keep
	RuleDrop    Ruling = "drop"    // it did not parse, or did not come: its inputs are given up
	RuleHold    Ruling = "hold"    // the provider failed: its inputs wait, and so do all turns of that provider
	RuleRetry   Ruling = "retry"   // the turn's own fault: its inputs go into the next turn, nobody is paused
	RuleRespawn Ruling = "respawn" // it did not parse, and a new observer is opened
	RuleRestart Ruling = "restart" // the observer ended and is started again
	RuleHalt    Ruling = "halt"    // the observer ended and is not started again for now
	RuleNone    Ruling = "-"       // nothing happens: not delivered
)

// Verdict is a ruling, and whether an observer was started again for it: after an end, or as a probe.
type Verdict struct {
	Ruling    Ruling
	Restarted bool
}
