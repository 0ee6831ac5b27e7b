package recall

import (
	"strings"

	"github.com/cmemd/cmemd/projections/rows"
)

// explain says why h has its score.
func (r *Recall) explain(h hit) *Explained {
	out := &Explained{Parts: h.why.Parts, Phrase: h.phrase, Terms: []Term{}}
	fields := fieldsOf(*h.row)
	for _, t := range h.why.Terms {
		out.Terms = append(out.Terms, Term{TermScore: t, Fields: map[string]int{}})
	}
	for name, text := range fields {
		counts := r.cfg.Index.Frequencies(text)
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
	fields := map[string]string{
		"title": row.Title, "facts": lines(row.Facts), "concepts": lines(row.Concepts), "type": row.Type + " " + row.TypeGiven,
		"files": lines(row.FilesModified, row.FilesRead, row.FilesUnverified),
	}
	for _, t := range row.Texts() {
		fields[t.Field] = t.Text
	}
	if row.Kind == rows.Prompt {
		fields["prompt"] = row.Text
		delete(fields, "text")
	}
	return fields
}
