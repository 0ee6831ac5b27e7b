package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// RecheckRoute looks at claims. Progress counts them.
var RecheckRoute = Work[RecheckRequest, Rechecked]{post, "/v1/recheck", ScopeEdit, "looks at claims again"}

// RecheckRequest chooses observations and summaries whose claims are looked at again. Its conditions hold all together;
// without any, all that are listed are looked at.
type RecheckRequest struct {
	IDs []string `json:"ids,omitempty"` // of rows, or their handles, or the beginnings of ids; those that are not listed too
	// Or the beginning of our id.
	Session string    `json:"session,omitempty" help:"of one session: its id, ours or the agent's"`
	Since   time.Time `json:"since,omitzero" help:"of what happened since"`
	Absent  bool      `json:"absent,omitempty" help:"only commits that are absent as far as is known"`
	DryRun  bool      `json:"dry_run,omitempty" help:"look, and record nothing"`
}

// Rechecked says what a later look at claims found. What a look finds nothing out about is Unknown and changes nothing.
type Rechecked struct {
	DryRun   bool             `json:"dry_run,omitempty"`
	Position events.Position  `json:"position"` // of the last record it led to; 0: none
	Rows     int              `json:"rows"`     // with claims
	Claims   int              `json:"claims"`   // looked at
	Verified int              `json:"verified"` // now, as Absent and Unknown
	Absent   int              `json:"absent"`
	Unknown  int              `json:"unknown"`
	Changed  []ChangedClaim   `json:"changed"`        // the first thousand; never null
	More     int              `json:"more,omitempty"` // changed beyond those
	Refused  []RefusedSession `json:"refused,omitempty"`
}

// ChangedClaim is a claim of which something else is known now than before.
type ChangedClaim struct {
	ID       events.ID        `json:"id"`              // of the row
	Handle   rows.Handle      `json:"handle,omitzero"` // of the row
	Kind     rows.Kind        `json:"kind"`
	Title    string           `json:"title"`
	Session  events.SessionID `json:"session"`
	Claim    string           `json:"claim"` // as the row says it
	Was      events.Verdict   `json:"was"`   // as was known before this look
	Now      events.Verdict   `json:"now"`
	Evidence string           `json:"evidence,omitempty"`
	Gone     bool             `json:"gone,omitempty"` // it was verified once: gone since, no lie
}
