package providers

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/projections/rows"
)

// comparedRow is an observation or a summary.
type comparedRow struct {
	Prompt      int                       `json:"-"`
	Observation *events.ObservationParsed `json:"observation,omitempty"`
	Summary     *events.SummaryParsed     `json:"summary,omitempty"`
}

// line is a row in one line.
func (r comparedRow) line() string {
	if s := r.Summary; s != nil {
		return "summary: " + cmp.Or(strings.TrimSpace(s.Completed+" "+s.NextSteps), s.Learned, s.Investigated, s.Request, s.Notes)
	}
	what := rows.What(rows.Observation, r.Observation.Type) + ": " + r.Observation.Title
	if n := len(r.Observation.Facts); n > 0 {
		what += fmt.Sprintf(" (%s)", number.Plural(n, "fact"))
	}
	return what
}

// words are the texts of a row.
func (r comparedRow) words() string {
	if s := r.Summary; s != nil {
		return strings.Join(s.Texts(), " ")
	}
	return strings.Join(r.Observation.Texts(), " ")
}
