package recall

import (
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
	"github.com/cmemd/cmemd/projections/rows"
)

// typeDecision is the type of a row that says what was decided.
const typeDecision = "decision"

// withoutOrders is row as a session may be told it: where others' words were read for it and no person confirmed it, without what says
// what was decided, ordered or is next. Whoever wrote these words must not be able to decide for the person. Sentences are told by
// their cues, so that one in other words passes: it is told as outside like the rest.
func withoutOrders(row rows.Row) rows.Row {
	if !row.External() {
		return row
	}
	row.NextSteps = ""
	for _, text := range []*string{&row.Title, &row.Subtitle, &row.Narrative, &row.Investigated, &row.Learned, &row.Completed, &row.Notes} {
		*text = withoutDecisions(*text)
	}
	var facts []string
	for _, f := range row.Facts {
		if f = withoutDecisions(f); f != "" {
			facts = append(facts, f)
		}
	}
	row.Facts = facts
	return row
}

// withoutDecisions is a text without the sentences that say what was decided, ordered or is open.
func withoutDecisions(text string) string { return withoutSentences(text, sentence.Decides) }

// withoutSentences is a text without some of its sentences, line by line. One that opens with code goes with the one before it: it may be
// what was ordered there.
func withoutSentences(text string, drop func(string) bool) string {
	var kept []string
	for line := range strings.Lines(text) {
		var b strings.Builder
		dropped := false
		for rest := strings.TrimRight(line, "\n"); rest != ""; {
			var s string
			if s, rest = sentence.First(rest); s == "" {
				break
			}
			if dropped = drop(s) || dropped && strings.HasPrefix(s, "`"); !dropped {
				b.WriteString(s + " ")
			}
		}
		if s := strings.TrimSpace(b.String()); s != "" || strings.TrimSpace(line) == "" {
			kept = append(kept, s)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}
