package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// ReobserveRoute has inputs observed again. What a request has begun is done whole, whoever waits. Progress counts inputs, and comes
// with Wait.
var ReobserveRoute = Work[ReobserveRequest, Reobserved]{post, "/v1/reobserve", ScopeEdit, "asks for turns again"}

// ReobserveRequest chooses inputs that are to be observed again. Its conditions hold all together, and there must be one.
// What is still pending is owed already and never chosen; neither is what was forgotten, nor what was asked for again
// before and has not been answered yet. Of a turn that kept something all inputs are chosen that no other decided since, or
// none, so that what it gave can be replaced as a whole.
type ReobserveRequest struct {
	Dropped bool `json:"dropped,omitempty" help:"what came to nothing"`
	// Of its id 8 hex digits or more.
	Turn string `json:"turn,omitempty" help:"what a turn was asked about: its id, or the beginning of it"`
	// Or the beginning of our id.
	Session string    `json:"session,omitempty" help:"of one session: its id, ours or the agent's"`
	Project string    `json:"project,omitempty" help:"of a project's sessions: its name, or any folder of it"`
	Class   string    `json:"class,omitempty" help:"of a dropped output: idle, xml, prose"`
	Reason  string    `json:"reason,omitempty" help:"why it was skipped or dropped"`
	Since   time.Time `json:"since,omitzero" help:"recorded since"`
	Until   time.Time `json:"until,omitzero" help:"recorded until"`

	Provider string `json:"provider,omitempty" help:"which one of those that are configured to ask; otherwise as for any turn"`
	DryRun   bool   `json:"dry_run,omitempty" help:"only say what would be asked, and what it takes"`
	Wait     bool   `json:"wait,omitempty"` // answer with progress, and at the end with what came of it
}

// Everything reports whether q has no condition.
func (q ReobserveRequest) Everything() bool {
	return q == ReobserveRequest{Provider: q.Provider, DryRun: q.DryRun, Wait: q.Wait}
}

// AtOnce reports whether the answer comes without progress.
func (q ReobserveRequest) AtOnce() bool { return !q.Wait || q.DryRun }

// Reobserved says what was, or with DryRun would be, asked for again.
type Reobserved struct {
	DryRun   bool             `json:"dry_run,omitempty"`
	Position events.Position  `json:"position"` // of the last request in the log; 0: nothing was asked
	Provider string           `json:"provider,omitempty"`
	Model    string           `json:"model,omitempty"`
	Sessions int              `json:"sessions"`
	Inputs   int              `json:"inputs"`
	Asked    int              `json:"asked_before,omitempty"` // chosen too, but asked for already and not answered yet
	Turns    int              `json:"turns"`                  // that it takes, about: by the provider's batch limits
	Bytes    int64            `json:"bytes"`                  // of the inputs, as they are sent
	Tokens   int64            `json:"tokens"`                 // that it uses, about
	USD      float64          `json:"usd,omitempty"`          // what they cost, about; 0: that is not known
	Estimate string           `json:"estimate"`               // what the tokens are estimated by
	More     bool             `json:"more,omitempty"`         // one request takes no more than this: ask again for the rest
	Refused  []RefusedSession `json:"refused,omitempty"`
	Answers  *Answers         `json:"answers,omitempty"` // with Wait
	Stopped  []string         `json:"stopped,omitempty"` // with Wait: why the rest will be a while in coming
}

// Answers says what became of inputs that were observed again.
type Answers struct {
	Observed int `json:"observed"`
	Skipped  int `json:"skipped"`         // there is nothing to record, as the answer says
	Blank    int `json:"blank,omitempty"` // the answer was blank: skipped in the balance, but what was there before stands
	Dropped  int `json:"dropped"`         // came to nothing again: what was kept or skipped stands, what was dropped is so by the latest turn
	Waiting  int `json:"waiting"`         // not answered yet
}

// RefusedSession is a session that did not take a request.
type RefusedSession struct {
	Session events.SessionID `json:"session"`
	Detail  string           `json:"detail"`
}
