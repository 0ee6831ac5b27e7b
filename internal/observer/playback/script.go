package playback

import (
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// Script is what a Provider plays.
type Script struct {
	Model       string             // what the provider says that it is; empty: "script"
	BatchLimits policy.BatchLimits // when it wants to be asked; a script that says nothing has policy.ModelLimits
	Steps       []Step             // in the order in which they are tried
}

// Forever is a Step's Repeat without an end.
const Forever = -1

// Step answers calls.
type Step struct {
	When   When
	Action Action        // required
	Delay  time.Duration // before the answer; whole milliseconds
	Repeat int           // calls that it answers; 0: one without a When, Forever with one
}

// times is how often s may be taken; below 0: without an end.
func (s Step) times() int {
	switch {
	case s.Repeat != 0:
		return s.Repeat
	case s.When != When{}:
		return Forever
	}
	return 1
}

// When says which calls a step is for. Empty fields do not narrow; of the others all must hold.
type When struct {
	Kind     events.TurnKind
	Contains string // stands in a captured text of an input that the turn settles
	Call     int    // of the provider's life, from 1

	// From and Until bound the time since the first call, in whole milliseconds: not before From, and before Until; 0 does
	// not bound. So an outage is said, however often somebody asks.
	From, Until time.Duration
}

// Action is what a step does: Text, Failure, Crash, Panic or Hang.
type Action interface{ isAction() }

// Text answers with an output.
type Text struct {
	Text       string
	Form       events.Form // empty: xml
	StopReason string
	Usage      events.Usage
	Bill
}

// Failure fails with a class that blames the provider or the turn.
type Failure struct {
	Class    events.FailureClass
	Status   int
	ResetsIn time.Duration // from the answer on; 0: it does not say. Whole milliseconds
	Message  string
	Output   string
	Form     events.Form // of Output; empty: xml
	Usage    events.Usage
	Bill
}

// Bill is what a turn cost beside its tokens.
type Bill struct {
	Cost  float64 // US dollars, as the provider states it; 0: it does not
	Calls int     // requests; 0: one for a Text, none for a Failure
	Model string  // what answered; empty: it does not say
}

// Crash returns an error of these words that is no typed failure.
type Crash string

// Panic panics with these words.
type Panic string

// Hang answers nothing until the call is cancelled.
type Hang struct{}

func (Text) isAction()    {}
func (Failure) isAction() {}
func (Crash) isAction()   {}
func (Panic) isAction()   {}
func (Hang) isAction()    {}
