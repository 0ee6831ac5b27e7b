package mcp

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// indexLine is a row in short: its handle, when it was, what it is, what reading it whole costs, how well it fits, and its
// title. The project is named where it is not that of the whole list.
func indexLine(r api.Result, project string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s %s %s ~%dt", handleOf(r.ID, r.Handle), moment(r.At), said(oneLine(r.What(), maxWhat), r.By()), r.Tokens)
	if r.Score > 0 {
		fmt.Fprintf(&b, " %.1f", r.Score)
	}
	b.WriteString(" | ")
	b.WriteString(flagged(r.Title, r.Flagged, r.Undone, maxTitle))
	if r.Project != "" && r.Project != project {
		fmt.Fprintf(&b, " (%s)", oneLine(r.Project, maxWords))
	}
	if r.Newer.At != 0 {
		fmt.Fprintf(&b, " (newer work on the same code: %s)", r.Newer)
	}
	return b.String() + "\n" + partLines(r.Parts)
}

// said is what a row is, with who says it where that is to be known.
func said(what, by string) string {
	if by == "" {
		return what
	}
	return what + " " + by
}

// flagged is a title in one line, marked where its row claims something that is not so, or not any more.
func flagged(title string, marked, undone bool, most int) string {
	switch {
	case undone:
		return "[undone] " + oneLine(title, most)
	case marked:
		return "[unverified] " + oneLine(title, most)
	}
	return oneLine(title, most)
}

// shownParts is how many other rows of an entry are named.
const shownParts = 4

// partLines are the other rows of an entry, one a line below it.
func partLines(parts []api.EntryPart) string {
	var b strings.Builder
	for _, p := range parts[:min(len(parts), shownParts)] {
		fmt.Fprintf(&b, "  - %s %s | %s\n", handleOf(p.ID, p.Handle), oneLine(p.What(), maxWhat), flagged(p.Title, p.Flagged, p.Undone, maxWords))
	}
	if more := len(parts) - shownParts; more > 0 {
		fmt.Fprintf(&b, "  - and %d more\n", more)
	}
	return b.String()
}

// indexLegend says what stands in an indexLine.
const indexLegend = "Each line: handle, time, what it is, ~tokens to read it whole, score | title; below it what else is of the same prompt."

// maxWhat is the longest word for what a row is, in characters.
const maxWhat = 30

// whole is a row with all it says.
func whole(r api.Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s %s: %s\n", handleOf(r.ID, r.Handle()), oneLine(r.What(), maxWhat), oneLine(titleOf(r), 2*maxTitle))
	fmt.Fprintf(&b, "%s, project %s", moment(r.At), oneLine(r.Project, maxWords))
	if !r.Session.IsZero() {
		fmt.Fprintf(&b, ", session %s", r.Session)
	}
	if r.Writer != "" {
		fmt.Fprintf(&b, ", said by %s", writerName(r.Writer))
	}
	b.WriteString("\n")
	b.WriteString(standing(r))
	for _, t := range r.Texts() {
		field(&b, t.Label, block(t.Text))
	}
	listed(&b, "Facts", r.Facts)
	for _, f := range []struct {
		name string
		list []string
	}{
		{"Concepts", r.Concepts}, {"Files changed", r.FilesModified}, {"Files read", r.FilesRead}, {"Files, unverified", r.FilesUnverified},
	} {
		field(&b, f.name, oneLine(strings.Join(f.list, ", "), maxList))
	}
	for _, v := range r.Verdicts() {
		fmt.Fprintf(&b, "Claim: %s %s is %s\n", oneLine(v.Claim.Kind, 20), oneLine(v.Claim.Value, 60), v.Now)
	}
	return b.String() + "\n"
}

// writerName is a writer in words.
func writerName(w events.Writer) string {
	switch w {
	case events.WriterAgent:
		return "an agent"
	case events.WriterUnknown:
		return "an unknown writer"
	}
	return "the " + string(w)
}

// wholeOf is a whole row with newer work on the same, what came next in its session, and what else is of the same prompt, one a line.
func wholeOf(r api.Row, found api.Rows) string {
	text := strings.TrimSuffix(whole(r), "\n")
	if newer, ok := found.Newer[r.ID]; ok {
		text += "Newer work on the same code:\n" + partLines([]api.EntryPart{newer})
	}
	if later := found.Later[r.ID]; len(later) > 0 {
		text += "Next in the session:\n" + partLines(later)
	}
	if parts := found.Parts[r.ID]; len(parts) > 0 {
		text += "Of the same prompt:\n" + partLines(parts)
	}
	return text + "\n"
}

// maxList is how much of a list of names is shown, in characters.
const maxList = 4000

// field writes a text under its name, unless there is none.
func field(b *strings.Builder, name, text string) {
	switch {
	case text == "":
	case name == "":
		b.WriteString(text + "\n")
	default:
		fmt.Fprintf(b, "%s: %s\n", name, text)
	}
}

func listed(b *strings.Builder, name string, list []string) {
	if len(list) == 0 {
		return
	}
	b.WriteString(name + ":\n")
	for _, s := range list {
		fmt.Fprintf(b, "- %s\n", oneLine(s, maxList))
	}
}

// standing says what a reader must know of a row before believing it.
func standing(r api.Row) string {
	var b strings.Builder
	switch {
	case r.IsUndone():
		fmt.Fprintf(&b, "UNDONE: little or nothing is left of what it says; it was %s later in the session (position %d).\n", r.Undone.How, r.Undone.By)
	case r.Flagged:
		b.WriteString("UNVERIFIED: it claims a commit that is not there, or names files that the session did not touch.\n")
	}
	if r.External() {
		b.WriteString("Outside: a web page, another server's answer or a file of others was read for it; no person has confirmed it.\n")
	}
	if r.Superseded {
		b.WriteString("Superseded")
		if r.SupersededBy != (events.ID{}) {
			fmt.Fprintf(&b, " by %s", r.SupersededBy)
		}
		b.WriteString(": no longer held to be so.\n")
	}
	if r.FoldedInto != (events.ID{}) {
		fmt.Fprintf(&b, "Says the same as %s, which stands for it.\n", r.FoldedInto)
	}
	if r.Count > 1 {
		fmt.Fprintf(&b, "Said %d times.\n", r.Count)
	}
	if len(r.ForgetRequests) > 0 {
		b.WriteString("An agent asked to forget it: it is in no search until the user has decided.\n")
	}
	if r.Forgotten {
		b.WriteString("Forgotten: its words are erased for good.\n")
	}
	if r.Private {
		b.WriteString("Private: its words were never kept.\n")
	}
	return b.String()
}

// titleOf is one line that stands for a row.
func titleOf(r api.Row) string {
	for _, s := range r.Titles() {
		if line := oneLine(s, maxTitle); line != "" {
			return line
		}
	}
	return "(untitled)"
}

// resultOf is a row in short, for lists of whole rows.
func resultOf(r api.Row) api.Result {
	return api.Result{
		ID: r.ID, Handle: r.Handle(), Kind: r.Kind, Title: titleOf(r), Project: r.Project, At: r.At, Type: r.Type,
		Writer: r.Writer, Tokens: utf8.RuneCountInString(whole(r)) / number.CharactersPerToken,
		Flagged: r.Flagged, Undone: r.IsUndone(),
	}
}

// rawInput is what a tool was given and printed, or what the agent said.
func rawInput(in api.RawInput) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %d %s %s", in.Position, moment(in.At), in.Kind)
	if in.Tool != "" {
		fmt.Fprintf(&b, " %s", oneLine(in.Tool, maxWords))
	}
	if in.Failed {
		b.WriteString(" FAILED")
	}
	b.WriteString("\n")
	switch {
	case in.Erased == nil:
	case in.Erased.IsWithheld():
		b.WriteString("Its words are withheld: another machine keeps them.\n")
	default:
		b.WriteString("Its words are erased.\n")
	}
	field(&b, "Given", block(in.Input))
	field(&b, "Printed", block(in.Output))
	field(&b, "Said", block(in.Text))
	if in.Cut {
		b.WriteString("(some of it was too long to be captured)\n")
	}
	return b.String() + "\n"
}
