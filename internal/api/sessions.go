package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// The routes of sessions.
var (
	SessionsRoute = Route[SessionsQuery, Sessions]{get, "/v1/sessions", ScopeView, "sessions, newest first"}
	SessionRoute  = Route[IDQuery, SessionDetail]{get, "/v1/sessions/{id}", ScopeView, "one session"}
	ReleaseRoute  = Route[IDQuery, Released]{post, "/v1/sessions/{id}/release", ScopeEdit, "ends its quarantine"} // of a session that is free: 409
)

// SessionsQuery chooses sessions, the latest first.
type SessionsQuery struct {
	Project  string    `param:"project" help:"its name, or any folder of it"`
	Agent    string    `param:"agent" help:"whose sessions"`
	Since    time.Time `param:"since" help:"with something that happened since"`
	OpenOnly bool      `param:"open" help:"only those that have not ended"`
	Limit    int       `param:"limit" default:"50" most:"1000" help:"how many, at most 1,000"`
}

// Sessions is a list of sessions.
type Sessions struct {
	Position events.Position `json:"position"`
	Sessions []Session       `json:"sessions"`         // never null
	Hidden   int             `json:"hidden,omitempty"` // sessions that ignore files hid in the last week, which are not among them
}

// SessionDetail is one session with all that was remembered of it.
type SessionDetail struct {
	Position events.Position `json:"position"`
	Session  Session         `json:"session"`
	Rows     []Row           `json:"rows"` // oldest first; never null
}

// Released says what became of a quarantine.
type Released struct {
	Session  events.SessionID `json:"session"`
	Position events.Position  `json:"position"`
}
