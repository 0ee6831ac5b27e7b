package recall

import (
	"strings"

	"github.com/cmemd/cmemd/projections/rows"
)

// explain says why h has its score.
func (r *Recall) explain(h hit) *Explained {
	out := &Explained{Parts: h.why.Parts, Phrase: h.phrase, Terms: []Term{}}
	fields := fieldsOf(h.row)
	for _, t := range h.why.Terms {
		out.Terms = append(out.Terms, Term{TermWorth: t, Fields: map[string]int{}})
	}
	for name, text := range fields {
		counts := r.index.Frequencies(text)
		for i := range out.Terms {
			if n := counts[out.Terms[i].Term]; n > 0 {
				out.Terms[i].Fields[name] = n
			}
		}
	}
	return out
}

// fieldsOf is what a row is searched by.
func fieldsOf(row rows.Row) map[string]string {
	lines := func(lists ...[]string) string {
		var all []string
		for _, l := range lists {
			all = append(all, l...)
		}
		return strings.Join(all, "\n")
	}
	text := "text"
	if row.Kind == rows.Prompt {
		text = "prompt"
	}
	return map[string]string{
		"title": row.Title, "subtitle": row.Subtitle, "narrative": row.Narrative, text: row.Text, "facts": lines(row.Facts),
		"concepts": lines(row.Concepts), "type": row.Type + " " + row.TypeGiven,
		"files":   lines(row.FilesModified, row.FilesRead, row.FilesUnverified),
		"request": row.Request, "investigated": row.Investigated, "learned": row.Learned, "completed": row.Completed,
		"next_steps": row.NextSteps, "notes": row.Notes,
	}
}
