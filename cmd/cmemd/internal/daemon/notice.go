package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/projections/health"
)

// noticeSpan is what Health.Findings looks at.
const noticeSpan = 24 * time.Hour

// notices says in a line or two what a person should know of the daemon's health: the gravest of what is not well, and what
// mends it. It goes by numbers alone.
type notices struct {
	views interface {
		Health(ctx context.Context, since, until time.Time) (health.Report, error)
	}
	status  func(ctx context.Context) (actors.Status, error)
	now     func() time.Time
	log     func() []string                    // what is not well with the log, each with what mends it; nil: all is
	sharing func(ctx context.Context) []string // what keeps memory from being shared with other machines, with what mends it; nil: nothing
	stopped func() []string                    // names of the views that go no further, for good or for now
	asked   func() int                         // how many requests of agents to forget no person has answered
	leftOut func() int                         // how many settings variables made until now that nobody was asked about; nil: none
}

// isHistory reports a finding that the next answer does not end: what was worth a notice had one in its time.
func isHistory(f health.Finding) bool { return f.What == health.FindLowYield }

// line returns the notice, or nothing where all is well or cannot be told.
func (n notices) line(ctx context.Context) string {
	now := n.now()
	var parts []string
	if n.log != nil {
		parts = n.log()
	}
	if n.sharing != nil {
		parts = append(parts, n.sharing(ctx)...)
	}
	if still := n.stopped(); len(still) > 0 {
		parts = append(parts, strings.Join(still, " and ")+" stopped, what happens is still captured")
	}
	do, more := "", "`cmemd doctor` says more."
	if h, err := n.views.Health(ctx, now.Add(-noticeSpan), time.Time{}); err == nil {
		found := slices.DeleteFunc(server.Findings(h, n.actorStatus(ctx).Status, now), isHistory)
		if len(found) > 0 {
			parts = append(parts, found[0].Says)
			do = " To mend it: " + found[0].Do + "."
			if n := len(found) - 1; n > 0 {
				more = fmt.Sprintf("`cmemd doctor` tells of %s more.", number.Plural(n, "thing"))
			}
		}
	}
	asked := ""
	if n := n.asked(); n > 0 {
		asked = fmt.Sprintf("agents asked to forget memory, which is hidden until you decide: `cmemd forget --requests` lists %s.", number.Plural(n, "request"))
	}
	if n.leftOut != nil && n.leftOut() > 0 {
		asked = strings.TrimSpace(asked + " what variables set until now does not count any more: `cmemd status` names " + number.Plural(n.leftOut(), "setting") +
			", `cmemd start` in your terminal takes them over.")
	}
	if len(parts) == 0 {
		return asked
	}
	return strings.TrimSpace(strings.Join(parts, "; ") + "." + do + " " + more + " " + asked)
}

// statusTimeout is how long who acts may take to say how things stand: a session's start waits for it.
const statusTimeout = 200 * time.Millisecond

// actorStatus is how things stand; nothing is known of who does not say it in time.
func (n notices) actorStatus(ctx context.Context) actors.Status {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	st, err := n.status(ctx)
	if err != nil {
		return actors.Status{}
	}
	return st
}
