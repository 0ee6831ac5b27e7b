package api

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// CompareRoute proves the views.
var CompareRoute = Work[NoQuery, Compared]{get, "/v1/log/compare", ScopeOwn, "sets every view beside one that is made anew"}

// Compared is the result of setting views beside those that the log leads to. A difference is no error of the call.
type Compared struct {
	Position    events.Position   `json:"position"` // up to which both know the log
	Views       []string          `json:"views"`    // that were compared, the search index among them
	Differences []ViewDifference  `json:"differences,omitempty"`
	More        int               `json:"more,omitempty"`    // differences beyond those
	Anew        []string          `json:"anew,omitempty"`    // why some of them were made anew before; then nothing differs
	Remains     []events.Position `json:"remains,omitempty"` // of records whose words were forgotten, and are in the log's file still
}

// Well reports whether the views are what the log leads to.
func (c Compared) Well() bool { return len(c.Differences) == 0 }

// ViewDifference is a place where a view is not what the log leads to.
type ViewDifference = engine.Difference
