package session

import (
	"cmp"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
)

// The versions of Rules, each with what it brought. A decision on record is taken again by the version of its own time.
const (
	RulesFirst = 1 // a stop without work is no input
	RulesTalk  = 2 // it is one where something was said
	RulesWhole = 3 // a summary is of the whole session, not of its last stretch of work; of a forgotten one another is asked for

	latestRules = RulesWhole
)

// Rules are the limits that Decide and Next go by. Zero fields mean the defaults.
type Rules struct {
	Version     int // 0 means the latest
	Batch       policy.BatchLimits
	Restarts    policy.Restarts
	Quarantine  policy.Backoff // 0 means policy.DefaultQuarantine
	IdleStop    time.Duration  // silence after which unfinished work counts as stopped. 0 means 30 min
	Silence     time.Duration  // silence after which a session counts as closed. 0 means 24 h
	MaxAttempts int            // failures of one batch before it is halved, or its single input dropped. 0 means 3

	// Outputs says when outputs that did not parse earn a fresh generation; nil means never: they are dropped, and that is all. A
	// Max over maxUnparsed+1, the output at hand included, is never reached. A provider whose limits say Fixed is left alone in
	// any case.
	Outputs *policy.Unparseable

	HeldMaxInputs int           // inputs of one session that are held before the oldest are given up. 0 means 10,000
	HeldMaxAge    time.Duration // for which an input is held before it is given up. 0 means 14 days
}

// DefaultRules are the rules where nobody says otherwise, without a provider's batch limits.
func DefaultRules() Rules { return Rules{Restarts: policy.DefaultRestarts()}.withDefaults() }

func (r Rules) withDefaults() Rules {
	r.Version = cmp.Or(r.Version, latestRules)
	r.Quarantine = cmp.Or(r.Quarantine, policy.DefaultQuarantine())
	r.IdleStop = cmp.Or(r.IdleStop, 30*time.Minute)
	r.Silence = cmp.Or(r.Silence, 24*time.Hour)
	r.MaxAttempts = cmp.Or(r.MaxAttempts, 3)
	r.HeldMaxInputs = cmp.Or(r.HeldMaxInputs, 10_000)
	r.HeldMaxAge = cmp.Or(r.HeldMaxAge, 14*24*time.Hour)
	return r
}
