package api

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/replay"
)

// ReplayRoute plays a stretch of the log under other policies. It changes nothing.
var ReplayRoute = Work[ReplayRequest, Replayed]{post, "/v1/replay", ScopeView, "what other policies would have done with a stretch of the log"}

// ReplayRequest chooses the stretch and the policies.
type ReplayRequest struct {
	Sessions []string      `json:"sessions,omitempty"` // their ids, ours or the agent's, at most MaxReplayed; none: all
	Since    time.Time     `json:"since,omitzero"`     // turns that ended since
	Until    time.Time     `json:"until,omitzero"`     // turns that ended before
	Policies []policy.Name `json:"policies,omitempty"` // none: all; the one that was in force is played in any case
	Report   bool          `json:"report,omitempty"`   // the comparison as one HTML page, too
}

// MaxReplayed is how many sessions one request may name.
const MaxReplayed = 100

// Check implements the queries' method of that name.
func (q *ReplayRequest) Check(wrong Wrong) {
	if n := len(q.Sessions); n > MaxReplayed {
		wrong("/sessions", "names %d sessions, where at most %d may be", n, MaxReplayed)
	}
	if !q.Until.IsZero() && !q.Until.After(q.Since) {
		wrong("/until", "is not after since")
	}
	for _, n := range q.Policies {
		if !slices.Contains(policy.Names(), n) {
			wrong("/policies", "are some of %v", policy.Names())
			return
		}
	}
}

// Replayed is what policies made of a stretch.
type Replayed struct {
	Verdict  string           `json:"verdict,omitempty"` // in a sentence or three; empty: nothing was played beside the policy in force
	Live     policy.Name      `json:"live"`              // the policy that was in force
	Began    time.Time        `json:"began"`             // what at_ms counts from
	EndMS    int64            `json:"end_ms"`
	Events   int              `json:"events"`   // turns that ended, and observers that did
	Policies []ReplayedPolicy `json:"policies"` // those that come to the same are one; never null
	Lanes    []ReplayedLane   `json:"lanes"`    // what the letters of strips mean; never null
	Assumed  ReplayAssumed    `json:"assumed"`
	Proof    ReplayProof      `json:"proof"`   // that the stretch is explained by its own rules
	Stretch  replay.Recording `json:"stretch"` // that was played
	Report   string           `json:"report,omitempty"`
}

// ReplayedPolicy is what policies did that come to the same.
type ReplayedPolicy struct {
	Names   []ReplayedName `json:"names"` // never null
	Live    bool           `json:"live,omitempty"`
	Figures replay.Result  `json:"figures"` // without the decisions
	Strip   string         `json:"strip"`   // the gravest decision of each stretch of time, a letter each; a blank: none
	// Decisions in which they differ from the policy in force: the first MaxDecisions; never null.
	Differences []ReplayedDecision `json:"differences"`
	More        int                `json:"more,omitempty"` // beyond those
}

// MaxDecisions is how many differing decisions of a policy are listed.
const MaxDecisions = 200

// ReplayedName is a policy and what it does, in a person's words.
type ReplayedName struct {
	Name  policy.Name `json:"name"`
	Words string      `json:"words"`
}

// ReplayedDecision is one that a policy would have taken otherwise than the one in force.
type ReplayedDecision struct {
	AtMS     int64           `json:"at_ms"`
	Position events.Position `json:"position,omitempty"` // of the record that ended the turn
	Turn     string          `json:"turn,omitempty"`     // its id: OutcomesRoute tells its output
	Session  string          `json:"session,omitempty"`
	Live     string          `json:"live"` // a word of replay's decisions
	Other    string          `json:"other"`
}

// ReplayedLane is a letter of a strip.
type ReplayedLane struct {
	Letter string `json:"letter"`
	Name   string `json:"name"`
	Note   string `json:"note"`
}

// ReplayAssumed is what is not on record: what a new observer's opening costs, and when it comes. It says nothing.
type ReplayAssumed struct {
	DelayMS   int64 `json:"delay_ms"`
	TokensIn  int64 `json:"tokens_in"`
	TokensOut int64 `json:"tokens_out"`
}

// ReplayProof says how far the recorded decisions follow from the recorded rules.
type ReplayProof struct {
	Holds   bool `json:"holds"`
	Checked int  `json:"checked"`
	Equal   int  `json:"equal"`
	replay.Proof
}

// ReplayProofOf is a proof with its sums.
func ReplayProofOf(p replay.Proof) ReplayProof {
	checked, equal := p.Checked()
	return ReplayProof{Holds: p.Holds(), Checked: checked, Equal: equal, Proof: p}
}
