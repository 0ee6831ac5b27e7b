package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/usage"
)

// UsageRoute says what is spent.
var UsageRoute = Route[UsageQuery, Usage]{get, "/v1/usage", ScopeView, "what turns cost"}

// UsageBy is what a Usage is divided by.
type UsageBy = usage.By

// The ways to divide it.
const (
	UsageByDay      = usage.ByDay
	UsageBySession  = usage.BySession
	UsageByModel    = usage.ByModel
	UsageByProvider = usage.ByProvider
	UsageByOutcome  = usage.ByOutcome
)

// UsageQuery chooses turns by when they ended, exact to a quarter of an hour.
type UsageQuery struct {
	By    UsageBy   `param:"by" words:"day,session,model,provider,outcome" default:"day" help:"day, session, model, provider, outcome"`
	Since time.Time `param:"since" help:"ended since"`
	Until time.Time `param:"until" help:"ended until"`
	// Our id, or 8 hex digits or more of its beginning, or the agent's own; empty: all.
	Session string `param:"session"`
	Project string `param:"project" help:"of a project's sessions: its name, or any folder of it"`
	// Instead of those where the daemon runs.
	UTC   bool `param:"utc" help:"with the days of UTC"`
	Limit int  `param:"limit" default:"100" most:"10000" help:"how many rows, at most 10,000; the total is of all"`
	// The answer must know this position; 0: whatever is known.
	After events.Position `param:"after" wait:"true"`
}

// Spent is what turns cost, as far as providers tell it: of answers, and of what failed too.
type Spent struct {
	usage.Count
	USD            float64 `json:"usd"`                       // what providers state, and what the rest costs by the list of prices
	EstimatedUSD   float64 `json:"estimated_usd"`             // of USD, by the list
	UnpricedTokens int64   `json:"unpriced_tokens,omitempty"` // of which nothing was stated, and no price is known
}

// UsageRow is what the turns of one day, session, provider, model or outcome cost. A model is the one that answered.
type UsageRow struct {
	usage.Key
	Spent
}

// ModelTokens is tokens of one provider's model of which it stated no money.
type ModelTokens struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
	Tokens   int64  `json:"tokens"`
}

// Usage is what turns cost. Days come the latest first, sessions, providers and models the dearest first.
type Usage struct {
	Position events.Position `json:"position"`
	By       UsageBy         `json:"by"`
	Since    time.Time       `json:"since,omitzero"`
	Until    time.Time       `json:"until,omitzero"`
	Zone     string          `json:"zone"` // whose days: "Local" is where the daemon runs
	Total    Spent           `json:"total"`
	Rows     []UsageRow      `json:"rows"`              // never null
	Omitted  int             `json:"omitted,omitempty"` // rows beyond the limit
	Unpriced []ModelTokens   `json:"unpriced"`          // of which no price is known; never null
}

// Today is what turns cost since the last midnight where the daemon runs.
type Today struct {
	Since time.Time `json:"since"`
	Spent
}
