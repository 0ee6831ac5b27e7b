package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/erasure"
)

// The routes that forget. What a request has begun is done whole, whoever waits, and gone from every file when it is answered.
var (
	ForgetRoute     = Work[ForgetRequest, Forgotten]{post, "/v1/forget", ScopeEdit, "plans an erasure, does it, or keeps it as a request"}
	ForgetPlanRoute = Work[ForgetRequest, ForgetPlan](ForgetRoute) // with DryRun

	ForgetRequestsRoute = Route[NoQuery, OpenRequests]{get, "/v1/forget/requests", ScopeView, "what agents asked to forget, unanswered"}
	ApproveForgetRoute  = Work[ApproveRequest, Forgotten]{post, "/v1/forget/requests/{id}/approve", ScopePerson, "erases what an agent asked to forget"}
	RefuseForgetRoute   = Route[IDQuery, Refused]{post, "/v1/forget/requests/{id}/refuse", ScopePerson, "shows again what an agent asked to forget"}
)

// AllRequests stands in the place of a request's name for every one that is open. No name is like it.
const AllRequests = "all"

// ForgetRequest chooses what is erased for good. Its conditions hold all together, and there must be one. What was made of
// the chosen goes too: a turn's outputs are made of what it was asked about, read and served. What is named by id goes with what
// it was made of.
type ForgetRequest struct {
	// Of rows, or their handles, or the beginnings of ids. A prompt goes with its work, a memory with its corrections.
	IDs []string `json:"ids,omitempty"`
	// Letter case and kinds of white space aside.
	Query string `json:"query,omitempty" help:"what says this, literally"`
	// Or the beginning of our id, or the name that whoever saved a memory gave.
	Session string `json:"session,omitempty" help:"of one session: its id, ours or the agent's"`
	// Or its key.
	Project string    `json:"project,omitempty" help:"of a project: its name, or any folder of it; what was saved under its mere name goes too"`
	Since   time.Time `json:"since,omitzero" help:"what happened since"`
	Until   time.Time `json:"until,omitzero" help:"what happened until"`
	// Of an open request, by its name or id, or of all, with DryRun alone: what it names. It is erased by approving it.
	Request string `json:"request,omitempty"`
	// Position of a plan: nothing else that was recorded since; 0: as it stands.
	Through events.Position `json:"through,omitempty"`
	DryRun  bool            `json:"dry_run,omitempty" help:"only show what would go"`
	// Records is how many records of the plan a person said yes to: where another number would go, nothing does. The page must give it,
	// and Through.
	Records *int `json:"records,omitempty"`
}

// Plan is q as it only asks what would go.
func (q ForgetRequest) Plan() ForgetRequest {
	q.DryRun = true
	return q
}

// ChoosesNothing reports that q says nothing of what is to go.
func (q ForgetRequest) ChoosesNothing() bool {
	return len(q.IDs) == 0 && q.Query+q.Session+q.Project == "" && q.Since.IsZero() && q.Until.IsZero()
}

// ForgetPlan is what would go.
type ForgetPlan struct {
	erasure.Plan
	Spooled  int      `json:"spooled"`            // files beside the log: what hooks kept, and what was put aside
	Unopened []string `json:"unopened,omitempty"` // names of such files of which nobody can tell: their key is lost
}

// ForgetSample is one record in a line.
type ForgetSample = erasure.Sample

// Forgotten says what is gone.
type Forgotten struct {
	Position events.Position  `json:"position"` // of the last record that says so; 0: nothing was in the log
	Records  int              `json:"records"`  // whose payloads are erased
	Sessions int              `json:"sessions"`
	Spooled  int              `json:"spooled"`
	Unopened []string         `json:"unopened,omitempty"` // see ForgetPlan
	Refused  []RefusedSession `json:"refused,omitempty"`  // sessions that could not be asked; they are asked again

	Unread int `json:"unread,omitempty"` // records that cannot be read: what they say may be there still

	Asked int `json:"asked,omitempty"` // records of other machines, which were asked to forget them

	// Others is how many records of other machines fit what an agent asks for; only a person has those forgotten.
	Others int `json:"others,omitempty"`

	// Elsewhere is where else it is gone; nil: there are no other machines, or nothing was in the log
	Elsewhere *Elsewhere `json:"elsewhere,omitempty"`

	// Request is what an agent's erasure is kept as: nothing is gone yet, and what it names is in no answer until a person decides.
	Request *OpenRequest `json:"request,omitempty"`
}

// OpenRequest is what an agent asked to forget, and no person has answered.
type OpenRequest struct {
	Name string `json:"name"` // short for its id, in this log
	erasure.Requested
	Sample []ForgetSample `json:"sample"` // some of it; never null
}

// OpenRequests are those there are, oldest first.
type OpenRequests struct {
	Position events.Position `json:"position"`
	Requests []OpenRequest   `json:"requests"` // never null
}

// ApproveRequest is a person's yes to what an agent asked to forget.
type ApproveRequest struct {
	ID      string          `path:"id" json:"-"`       // or its name, or all
	Through events.Position `json:"through,omitempty"` // position of the plan: no request since; the page must give it, and Records
	Records *int            `json:"records,omitempty"` // as in ForgetRequest
}

// AnyProject is as that of IDQuery.
func (ApproveRequest) AnyProject() bool { return true }

// Refused says which request was refused.
type Refused struct {
	ID       events.ID       `json:"id"` // zero: more than one
	Position events.Position `json:"position"`
	Rows     []events.ID     `json:"rows"` // that are shown again; never null
}

// ErasureStatus is what forgetting and retention are doing.
type ErasureStatus struct {
	RetentionDays int       `json:"retention_days"`            // after which raw inputs are erased once settled; 0: never
	Inputs        int       `json:"retained_out"`              // inputs that retention erased, ever
	Looked        time.Time `json:"looked,omitzero"`           // when it last looked at all there is
	Running       bool      `json:"running,omitempty"`         // it is looking now
	Requests      int       `json:"forget_requests,omitempty"` // of agents to forget, that no person has answered
	Unfinished    bool      `json:"unfinished,omitempty"`      // something is being forgotten and not gone from all files yet
}
