package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
)

const (
	// noticeSpan is how far back the observer's yield is looked at: a working day.
	noticeSpan = 24 * time.Hour

	// noticeTurns is how many outputs a share must be of to mean something, and noticeShare below what it is told.
	noticeTurns = 20
	noticeShare = 0.5
)

// notices says in one line what a person should know of the daemon's health. It goes by numbers alone.
type notices struct {
	views interface {
		Health(ctx context.Context, since, until time.Time) (projections.Health, error)
	}
	now     func() time.Time
	stopped func() []string // names of the views that stand still for good
}

// line returns the notice, or nothing where all is well or cannot be told.
func (n notices) line(ctx context.Context) string {
	now := n.now()
	var parts []string
	if still := n.stopped(); len(still) > 0 {
		parts = append(parts, strings.Join(still, " and ")+" stopped, what happens is still captured")
	}
	if h, err := n.views.Health(ctx, now.Add(-noticeSpan), now); err == nil {
		parts = append(parts, complaints(h, now)...)
	}
	if len(parts) == 0 {
		return ""
	}
	return "cmemd: " + strings.Join(parts, "; ") + ". `cmemd status` says more."
}

func complaints(h projections.Health, now time.Time) []string {
	var parts []string
	if h.Degraded != "" {
		parts = append(parts, "it only captures for now, and observes later")
	}
	for _, p := range h.Pauses {
		part := fmt.Sprintf("%s is paused (%s)", p.Provider, p.Class)
		if p.Until.After(now) {
			part += " until " + p.Until.Local().Format("2006-01-02 15:04")
		}
		parts = append(parts, part)
	}
	if n := len(h.Quarantines); n > 0 {
		parts = append(parts, fmt.Sprintf("the observer of %s is stopped", plural(n, "session")))
	}
	if used, of := usedOutputs(h.Total); of >= noticeTurns && float64(used) < noticeShare*float64(of) {
		parts = append(parts, fmt.Sprintf("only %d of the observer's last %d outputs could be used", used, of))
	}
	return parts
}

// usedOutputs counts the outputs that parsed among those that were not blank. One that says in the agreed form that
// nothing was worth recording did what was asked.
func usedOutputs(h projections.HealthCount) (used, of int64) {
	used = h.Kept + h.Skipped[events.ReasonSkipSummary]
	of = used
	for reason, n := range h.Dropped {
		if !strings.HasPrefix(reason, "idle/") {
			of += n
		}
	}
	return used, of
}
