package api

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/projections/rows"
)

// ExportRoute writes rows out.
var ExportRoute = Stream[ExportQuery]{get, "/v1/export", ScopeView, "rows as lines of JSON"}

// ExportQuery chooses rows for an export: observations, summaries and saved memories. Zero fields do not narrow.
type ExportQuery struct {
	Project string    `param:"project"`              // root or shown name
	Kinds   []string  `param:"kind" repeated:"true"` // of ExportKinds
	Since   time.Time `param:"since"`
	Until   time.Time `param:"until"`
}

// ExportKinds are the kinds of row that an export may have.
func ExportKinds() []string {
	return []string{string(rows.Observation), string(rows.Summary), string(rows.Memory)}
}

// Check implements the queries' method of that name.
func (q *ExportQuery) Check(wrong Wrong) {
	for _, kind := range q.Kinds {
		if !slices.Contains(ExportKinds(), kind) {
			wrong("kind", "%q is none of %q", kind, ExportKinds())
		}
	}
}
