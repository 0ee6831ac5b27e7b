package memory

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

func printResults(a *terminal.App, found api.SearchResults) {
	if len(found.Results) > 0 {
		l := terminal.List{Head: []string{"ID", "WHAT", "WHEN", "PROJECT", "TOKENS", "TITLE"}}
		for _, r := range found.Results {
			l.Add(a.ShownRow(r.ID, r.Handle), kindAndSource(a, r), terminal.Moment(r.At), r.Project, strconv.Itoa(r.Tokens), flagged(titleWithCount(r), r.Flagged, r.Undone))
			addParts(a, &l, r, 6)
		}
		a.Print(l)
	}
	for i, r := range found.Results {
		if r.Explain != nil || r.Ranks != nil {
			explainResult(a, i+1, r)
		}
	}
	printFacets(a, found.Facets)
}

// maxListedParts is how many other rows of an entry a list names.
const maxListedParts = 4

// addParts names the other rows of an entry below it, in a list of so many columns.
func addParts(a *terminal.App, l *terminal.List, r api.Result, columns int) {
	for i, p := range r.Parts {
		line := make([]string, columns)
		if i == maxListedParts {
			line[columns-1] = fmt.Sprintf("  and %d more", len(r.Parts)-i)
			l.Add(line...)
			return
		}
		line[0], line[1], line[columns-1] = a.ShownRow(p.ID, p.Handle), p.What(), "  "+flagged(p.Title, p.Flagged, p.Undone)
		l.Add(line...)
	}
}

// kindAndSource is what a row is, who says it where a reader is to know, and the machine that recorded it where the row is not named
// by its handle.
func kindAndSource(a *terminal.App, r api.Result) string {
	what := strings.TrimSpace(r.What() + " " + r.By())
	if m := r.Handle.Machine; m != "" && !terminal.IsTerminal(a.Out) {
		what += ", on " + m
	}
	return what
}

// titleWithCount is the title of a row, how often it was said where that is more than once, and the result that goes on with the same.
func titleWithCount(r api.Result) string {
	title := r.Title
	if r.Count > 1 {
		title += fmt.Sprintf(" (%d times)", r.Count)
	}
	if r.Newer.At != 0 {
		title += fmt.Sprintf(" (newer: %s)", r.Newer)
	}
	return title
}

// explainResult says what the score of a row is made of.
func explainResult(a *terminal.App, place int, r api.Result) {
	e := r.Explain
	a.Printf("\n%d. %s: %.2f\n", place, a.ShownRow(r.ID, r.Handle), r.Score)
	if r.Ranks != nil {
		a.Printf("   %s by its words, %s by what it means\n", rankWord(r.Ranks.Words), rankWord(r.Ranks.Vectors))
	}
	if e == nil {
		return
	}
	for _, t := range e.Terms {
		where := "written as one"
		if len(t.Fields) > 0 {
			names := terminal.MostFirst(t.Fields)
			for i, name := range names {
				names[i] = fmt.Sprintf("%s %d", name, t.Fields[name])
			}
			where = strings.Join(names, ", ")
		}
		a.Printf("   %6.2f  %s, which %s: %s\n", t.Score, terminal.VisibleLine(t.Term), rowsHave(t.Documents), where)
	}
	for _, p := range []struct {
		score float64
		of    string
	}{
		{e.Words * (e.Kind - 1), "it is a prompt"}, {e.Words * e.Kind * e.Recency, "it is recent"},
		{e.Session, "what its session holds of the words"},
		{e.Date, "it is of a date that is named"}, {e.Near, "what stands next to it"},
		{e.Phrase * (e.Words*e.Kind*(1+e.Recency) + e.Session + e.Date + e.Near), "words that stand together"},
	} {
		if p.score != 0 {
			a.Printf("   %+6.2f  %s\n", p.score, p.of)
		}
	}
}

// rankWord is a place in a list; 0 is none.
func rankWord(n int) string {
	if n == 0 {
		return "not found"
	}
	return fmt.Sprintf("place %d", n)
}

// rowsHave says how many rows have a word.
func rowsHave(n uint64) string {
	if n == 1 {
		return "1 row has"
	}
	return fmt.Sprintf("%d rows have", n)
}

// printFacets lists how what matched is spread.
func printFacets(a *terminal.App, f *api.Facets) {
	if f == nil {
		return
	}
	l := terminal.List{Head: []string{"BY", "ROWS", "VALUE"}}
	for _, facet := range []struct {
		name   string
		counts []api.Count
	}{{"project", f.Project}, {"type", f.Type}, {"concept", f.Concept}, {"file", f.File}, {"month", f.Month}} {
		for _, c := range facet.counts {
			l.Add(facet.name, strconv.Itoa(c.Count), c.Value)
		}
	}
	if len(l.Rows) > 0 {
		a.Printf("\n")
		a.Print(l)
	}
}
