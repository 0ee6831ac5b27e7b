package memory

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/number"
)

const whyHelp = `Why shows where a memory comes from, and what became of it: the turn that made it with its model and cost, what the tools
were given and what they printed, other turns over the same inputs, claims and what was found of them, the memory that the
agent had been given before; then who corrected it, took it back, had it forgotten, and which sessions were given it.

--at shows what was known at a moment, given as a time or as a position of the log. ` + "`cmemd show ID --inputs`" + ` prints the
inputs whole.`

func newWhy(a *terminal.App) *cobra.Command {
	return terminal.Asking(a, &cobra.Command{
		Use: "why ID", Short: "Show where a memory comes from, and what became of it", Long: whyHelp, Args: terminal.Takes(1, 1, "an id"),
	}, api.WhyRoute, nil, showWhy)
}

func showWhy(a *terminal.App, w api.Why) error {
	if w.AsOf > 0 {
		a.Printf("as it was known at position %d\n", w.AsOf)
	}
	showRow(a, w.Row)
	showForgottenRow(a, w.Forgotten)
	a.Field("recorded", terminal.Moment(w.RecordedAt))
	showGenerations(a, "it took the place of", w.Older)
	showGenerations(a, "in its place stands now", w.Newer)
	if w.Session != nil {
		printHeading(a, 1, "session %s", terminal.VisibleLine(w.Session.ID.String()))
		a.Field("agent", strings.TrimSpace(w.Session.Agent+" "+w.Session.AgentSession))
		a.Field("folder", w.Session.Cwd)
		a.Field("git", strings.TrimSpace(w.Session.GitBranch+" "+w.Session.GitHead))
	}
	for _, t := range w.Turns {
		showTurn(a, t)
	}
	showAttempts(a, w.Attempts)
	printHeading(a, len(w.Prompts), "the user had asked")
	for _, p := range w.Prompts {
		a.Field(fmt.Sprintf("prompt %d", p.Prompt), p.Text)
	}
	showInjections(a, w.Injections)
	showAfter(a, w.After)
	return nil
}

// printHeading begins a part of the answer that has n rows; of none nothing is said.
func printHeading(a *terminal.App, n int, head string, args ...any) {
	if n > 0 {
		a.Printf("\n")
		a.Heading(head, args...)
	}
}

func showForgottenRow(a *terminal.App, f *api.MemoryForgottenRow) {
	if f == nil {
		return
	}
	a.Field("forgotten", fmt.Sprintf("%s, by %s, with %s of one session; the record at %d says so", terminal.Moment(f.At), forgottenBy(f.Cause),
		number.Plural(f.Records, "record"), f.Position))
	a.Field("residue", f.Residue.String())
}

func forgottenBy(cause string) string {
	switch cause {
	case "retention":
		return "retention"
	case "person":
		return "a person"
	}
	return "nobody on record"
}

// showGenerations lists rows that the same inputs gave before or after.
func showGenerations(a *terminal.App, head string, rows []api.Row) {
	printHeading(a, len(rows), "%s", head)
	for _, r := range rows {
		a.Printf("  %s  %s  %s\n", r.ID, terminal.Moment(r.At), terminal.VisibleLine(generationTitle(r)))
	}
}

func generationTitle(r api.Row) string {
	title := flagged(titleOf(r), r.Flagged, r.IsUndone())
	if r.Superseded && !r.ByHand && !r.Outdated {
		title += " (observed again since)"
	}
	return title
}

func showTurn(a *terminal.App, t api.WhyTurn) {
	printHeading(a, 1, "turn %s", t.ID)
	a.Field("kind", fmt.Sprintf("%s, attempt %d, generation %d", t.Kind, t.Attempt, t.Generation))
	a.Field("asked", strings.TrimSpace(fmt.Sprintf("%s %s", t.Provider, t.Model)))
	a.Field("ended", strings.TrimSpace(fmt.Sprintf("%s %s %s", terminal.Moment(t.EndedAt), t.Result, t.Reason)))
	a.Field("used", usageText(t.Turn, t.CostUSD))
	a.Field("positions", fmt.Sprintf("%d to %d", t.Started, t.Ended))
	for _, in := range t.Inputs {
		a.Printf("  %s\n", terminal.VisibleLine(inputLine(in)))
		showPrinted(a, in)
	}
	if t.More > 0 {
		a.Printf("  and %d more: `cmemd show ID --inputs` lists them all\n", t.More)
	}
}

// usageText is what a turn took: tokens, money as far as it is known, time.
func usageText(t api.Turn, cost *float64) string {
	var parts []string
	if t.Usage != (events.Usage{}) {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d cached, %d out", t.Usage.Input, t.Usage.Cached, t.Usage.Output))
	}
	if cost != nil {
		parts = append(parts, fmt.Sprintf("%.4f US dollars", *cost))
	}
	if t.LatencyMS > 0 {
		parts = append(parts, (time.Duration(t.LatencyMS) * time.Millisecond).String())
	}
	return strings.Join(parts, ", ")
}

// maxPrintedLines is how many lines of what a tool printed a chain shows.
const maxPrintedLines = 8

// showPrinted shows the beginning of what a tool was given and of what it printed.
func showPrinted(a *terminal.App, in api.WhyInput) {
	for _, part := range []struct{ mark, text string }{{"<", in.Input}, {">", in.Output}} {
		lines := strings.Split(strings.TrimRight(terminal.Visible(part.text), "\n "), "\n")
		for i, l := range lines {
			if i == maxPrintedLines {
				a.Printf("      %s … %s more\n", part.mark, number.Plural(len(lines)-i, "line"))
				break
			}
			if l != "" {
				a.Printf("      %s %s\n", part.mark, terminal.Shortened(l, maxShownLine))
			}
		}
	}
}

// maxShownLine is how much of one line is shown, in runes.
const maxShownLine = 160

func inputLine(in api.WhyInput) string {
	line := fmt.Sprintf("%-8d  %s  %s", in.Position, terminal.Moment(in.At), in.Kind)
	if in.Tool != "" {
		line += " " + in.Tool
	}
	if in.Failed {
		line += " (failed)"
	}
	if in.Read {
		line += " (read only)"
	}
	switch {
	case in.Erased:
		return line + ": " + erasedWords(in.Why)
	case in.Preview != "" && in.Output == "" && in.Input == "":
		line += ": " + in.Preview
	}
	return line
}

// showAttempts lists the other turns that were asked about the same inputs.
func showAttempts(a *terminal.App, list []api.WhyAttempt) {
	printHeading(a, len(list), "other turns over the same inputs")
	for _, t := range list {
		when := "before"
		if t.Later {
			when = "later"
		}
		line := fmt.Sprintf("%s  %s  %s, attempt %d, %s: %s", t.ID, terminal.Moment(t.StartedAt), when, t.Attempt,
			strings.TrimSpace(t.Provider+" "+t.Model), attemptResult(t.Turn))
		if used := usageText(t.Turn, t.CostUSD); used != "" {
			line += " (" + used + ")"
		}
		a.Printf("  %s\n", terminal.VisibleLine(line))
	}
}

func attemptResult(t api.Turn) string {
	switch {
	case t.Failure != "":
		return strings.TrimSpace(fmt.Sprintf("failed, %s %s", t.Failure, t.Message))
	case t.Class+t.Reason != "":
		return fmt.Sprintf("%s, %s/%s", t.Result, t.Class, t.Reason)
	}
	return string(t.Result)
}

func showInjections(a *terminal.App, list []api.Injection) {
	printHeading(a, len(list), "memory that the agent had been given before")
	for _, in := range list {
		a.Printf("  %-8d  %s  %s, %s, %s\n", in.Position, terminal.Moment(in.At), terminal.VisibleLine(in.Hook),
			number.Plural(in.Characters, "character"), number.Plural(len(in.IDs), "row"))
	}
}

// showAfter lists what became of the row since it was recorded.
func showAfter(a *terminal.App, list []api.WhyAfter) {
	printHeading(a, len(list), "what came after")
	for _, e := range list {
		at := ""
		if e.Position > 0 {
			at = fmt.Sprint(e.Position)
		}
		a.Printf("  %-8s  %s  %s\n", at, terminal.Moment(e.At), terminal.VisibleLine(afterWords(e)))
	}
}

func afterWords(e api.WhyAfter) string {
	words := afterWhat(e)
	if e.Writer == events.WriterAgent {
		words += ", says an agent"
	}
	return words
}

func afterWhat(e api.WhyAfter) string {
	switch e.What {
	case recall.AfterSuperseded, recall.AfterObserved:
		return e.What + ": " + e.ID.String() + " took its place"
	case recall.AfterCorrects:
		return "it took the place of " + e.ID.String()
	case recall.AfterChecked:
		return "checked: " + claimText(*e.Claim)
	case recall.AfterUndone:
		return fmt.Sprintf("undone: what it tells of was %s by the tool use at %d", e.How, e.By)
	case recall.AfterGiven:
		return fmt.Sprintf("given to session %s (%s)", e.Session, e.Hook)
	}
	return e.What
}
