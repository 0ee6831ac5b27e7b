package api

import (
	"github.com/cmemd/cmemd/events"
)

// The routes of views.
var (
	ProjectionsRoute = Route[NoQuery, []View]{get, "/v1/projections", ScopeView, "the views"}
	ProjectionRoute  = Route[InspectQuery, Inspection]{get, "/v1/projections/{name}", ScopeView, "one view"}
	RebuildRoute     = Work[RebuildRequest, Rebuilt]{post, "/v1/projections/rebuild", ScopeOwn, "makes views anew"} // old views answer meanwhile
)

// RebuildRequest is the body that has views made anew.
type RebuildRequest struct {
	Names []string `json:"names"` // none: all, the search index included
}

// InspectQuery lays one view open.
type InspectQuery struct {
	Name  string `path:"name"`
	Key   string `param:"key"` // entries whose key is this or begins so
	Limit int    `param:"limit" default:"20" most:"1000" help:"how many entries"`
}

// Rebuilt is the result of making views anew.
type Rebuilt struct {
	Views    []string        `json:"views"`
	Position events.Position `json:"position"`
}
