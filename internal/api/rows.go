package api

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// The routes of rows by id.
var (
	RowRoute = Route[RowQuery, Row]{get, "/v1/observations/{id}", ScopeView, "one whole row"}
	// Those that are not found are named, not an error.
	ObservationsRoute = Route[RowsQuery, Rows]{get, "/v1/observations", ScopeView, "whole rows by id"}
	RowsRoute         = Route[RowsRequest, Rows]{post, "/v1/rows", ScopeView, "whole rows by id, many"}
	RowsAliasRoute    = Route[RowsRequest, Rows]{post, "/v1/observations", ScopeView, "whole rows by id, more of them"}
	InputsRoute       = Route[InputsQuery, Inputs]{get, "/v1/observations/{id}/inputs", ScopeView, "what a row was made of"}
)

// RowsQuery asks for whole rows by id.
type RowsQuery struct {
	IDs   []string        `param:"ids"`               // or handles, or the beginnings of ids; 1 to MaxRows
	After events.Position `param:"after" wait:"true"` // the answer must know this position; 0: whatever is known
}

// RawInput is one of the inputs that a row was made of.
type RawInput = recall.RawInput

// MaxRows is how many rows one request may name.
const MaxRows = 200

// AnyProject reports whether the query is about rows by id, of whichever project they are.
func (RowsQuery) AnyProject() bool { return true }

// AnyProject is as that of RowsQuery.
func (RowsRequest) AnyProject() bool { return true }

// AnyProject is as that of RowsQuery.
func (RowQuery) AnyProject() bool { return true }

// AnyProject is as that of RowsQuery.
func (InputsQuery) AnyProject() bool { return true }

// Check implements the queries' method of that name.
func (q *RowsQuery) Check(wrong Wrong) {
	if n := len(q.IDs); n == 0 || n > MaxRows {
		wrong("ids", "names %d rows, where 1 to %d may be, with commas between", n, MaxRows)
	}
}

// RowsRequest is the body that asks for whole rows by id.
type RowsRequest struct {
	IDs []string `json:"ids"` // or handles, or the beginnings of ids; 1 to MaxRows
}

// Check implements the queries' method of that name.
func (q *RowsRequest) Check(wrong Wrong) {
	if n := len(q.IDs); n == 0 || n > MaxRows {
		wrong("/ids", "names %d rows, where 1 to %d may be", n, MaxRows)
	}
}

// RowQuery asks for one whole row of any kind by its handle, by its id, or by the beginning of that: 8 hex digits or more that no
// other row shares.
type RowQuery struct {
	ID    string          `path:"id"`
	After events.Position `param:"after" wait:"true"` // the answer must know this position; 0: whatever is known
}

// InputsQuery asks for what a row was made of as it was captured: what the tools were given and what they printed.
type InputsQuery struct {
	ID     string          `path:"id"`
	After  events.Position `param:"after" ofpage:"true"`  // Next of the page before; 0: the first
	Cursor Cursor          `param:"cursor" ofpage:"true"` // NextCursor of the page before, in the place of After
	Limit  int             `param:"limit" default:"50" most:"500" ofpage:"true"`
}

// Rows are rows that were asked for by id.
type Rows struct {
	Position events.Position `json:"position"`
	Rows     []Row           `json:"rows"` // one an id that was found, in the order asked; never null
	// Parts are the other rows of the entries that these are part of, by their ids.
	Parts map[events.ID][]EntryPart `json:"parts,omitempty"`
	// Newer is, by their ids, the newest work of their project that goes on with the same code.
	Newer map[events.ID]EntryPart `json:"newer,omitempty"`
	// Later is, by their ids, what came of the next requests of their sessions, one row each.
	Later   map[events.ID][]EntryPart `json:"later,omitempty"`
	Missing []string                  `json:"missing,omitempty"`
	// WhyMissing says of those why, where more is known than that no row has that id.
	WhyMissing map[string]string `json:"why_missing,omitempty"`
}

// Unfound names what no row was found for, with what is known of why.
func (r Rows) Unfound() (list []string) {
	for _, text := range r.Missing {
		if why := r.WhyMissing[text]; why != "" {
			text += " (" + why + ")"
		}
		list = append(list, text)
	}
	return list
}
