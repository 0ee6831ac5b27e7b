package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

const whyHelp = `Why shows where a memory comes from, and what became of it: the turn that made it with its model and cost, what the tools
were given and what they printed, other turns over the same inputs, claims and what was found of them, the memory that the
agent had been given before; then who corrected it, took it back, had it forgotten, and which sessions were told of it.

--at shows what was known at a moment, given as a time or as a position of the log. ` + "`cmemd show ID --inputs`" + ` prints the
inputs whole.`

func newWhy(a *app) *cobra.Command {
	var at string
	c := &cobra.Command{
		Use: "why ID", Short: "Show where a memory comes from, and what became of it", Long: whyHelp, Args: takes(1, 1, "an id"),
	}
	c.Flags().StringVar(&at, "at", "", "as it was known then: a position, or 2h, 3d, 2w ago, 2026-01-31, or RFC 3339")
	c.RunE = func(c *cobra.Command, args []string) error {
		q, err := whyQuery(a, c, args[0], at)
		if err != nil {
			return err
		}
		return a.query(c.Context(), func(ctx context.Context, client *api.Client) error {
			w, err := client.WhyAsOf(ctx, q)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.printJSON(w)
			}
			showWhy(a, w)
			return nil
		})
	}
	return c
}

func whyQuery(a *app, c *cobra.Command, id, at string) (api.WhyQuery, error) {
	q := api.WhyQuery{ID: id}
	if at == "" {
		return q, nil
	}
	if n, err := strconv.ParseUint(at, 10, 63); err == nil && n > 0 {
		q.AsOf = position(n)
		return q, nil
	}
	when, ok := parseWhen(at, a.now())
	if !ok {
		return q, misused(c, "--at %q is neither a position nor a time: write 4711, 2h, 3d or 2w for so long ago, 2026-01-31, or RFC 3339", at)
	}
	q.AsOfAt = when
	return q, nil
}

func showWhy(a *app, w api.Why) {
	if w.AsOf > 0 {
		a.printf("as it was known at position %d\n", w.AsOf)
	}
	showRow(a, w.Row)
	showForgottenRow(a, w.Forgotten)
	a.field("recorded", moment(w.RecordedAt))
	showGenerations(a, "it took the place of", w.Older)
	showGenerations(a, "in its place stands now", w.Newer)
	if w.Session != nil {
		a.printf("\n")
		a.heading("session %s", visibleLine(w.Session.ID.String()))
		a.field("agent", strings.TrimSpace(w.Session.Agent+" "+w.Session.AgentSession))
		a.field("folder", w.Session.Cwd)
		a.field("git", strings.TrimSpace(w.Session.GitBranch+" "+w.Session.GitHead))
	}
	for _, t := range w.Turns {
		showTurn(a, t)
	}
	showAttempts(a, w.Attempts)
	if len(w.Prompts) > 0 {
		a.printf("\n")
		a.heading("the user had asked")
		for _, p := range w.Prompts {
			a.field(fmt.Sprintf("prompt %d", p.Prompt), p.Text)
		}
	}
	showInjections(a, w.Injections)
	showAfter(a, w.After)
}

func showForgottenRow(a *app, f *api.MemoryForgottenRow) {
	if f == nil {
		return
	}
	a.field("forgotten", fmt.Sprintf("%s, by %s, with %s of one session; the record at %d says so", moment(f.At), forgottenBy(f.Cause),
		plural(f.Records, "record"), f.Position))
	a.field("residue", f.Residue.String())
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
func showGenerations(a *app, head string, rows []api.Row) {
	if len(rows) == 0 {
		return
	}
	a.printf("\n")
	a.heading("%s", head)
	for _, r := range rows {
		a.printf("  %s  %s  %s\n", r.ID, moment(r.At), visibleLine(generationTitle(r)))
	}
}

func generationTitle(r api.Row) string {
	title := flagged(titleOf(r), r.Flagged)
	if r.Superseded && !r.ByHand {
		title += " (observed again since)"
	}
	return title
}

func showTurn(a *app, t api.WhyTurn) {
	a.printf("\n")
	a.heading("turn %s", t.ID)
	a.field("kind", fmt.Sprintf("%s, attempt %d, generation %d", t.Kind, t.Attempt, t.Generation))
	a.field("asked", strings.TrimSpace(fmt.Sprintf("%s %s", t.Provider, t.Model)))
	a.field("ended", strings.TrimSpace(fmt.Sprintf("%s %s %s", moment(t.EndedAt), t.Result, t.Reason)))
	a.field("used", usedBy(t.Turn, t.CostUSD))
	a.field("positions", fmt.Sprintf("%d to %d", t.Started, t.Ended))
	for _, in := range t.Inputs {
		a.printf("  %s\n", visibleLine(inputLine(in)))
		showPrinted(a, in)
	}
	if t.More > 0 {
		a.printf("  and %d more: `cmemd show ID --inputs` lists them all\n", t.More)
	}
}

// usedBy is what a turn took: tokens, money as far as it is known, time.
func usedBy(t api.Turn, cost *float64) string {
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

// shownLines is how many lines of what a tool printed a chain shows.
const shownLines = 8

// showPrinted shows the beginning of what a tool was given and of what it printed.
func showPrinted(a *app, in api.WhyInput) {
	for _, part := range []struct{ mark, text string }{{"<", in.Input}, {">", in.Output}} {
		lines := strings.Split(strings.TrimRight(visible(part.text), "\n "), "\n")
		for i, l := range lines {
			if i == shownLines {
				a.printf("      %s … %s more\n", part.mark, plural(len(lines)-i, "line"))
				break
			}
			if l != "" {
				a.printf("      %s %s\n", part.mark, shortLine(l))
			}
		}
	}
}

// maxShownLine is how much of one line is shown, in runes.
const maxShownLine = 160

func shortLine(s string) string {
	if r := []rune(s); len(r) > maxShownLine {
		return string(r[:maxShownLine-1]) + "…"
	}
	return s
}

func inputLine(in api.WhyInput) string {
	line := fmt.Sprintf("%-8d  %s  %s", in.Position, moment(in.At), in.Kind)
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

// erasedWords says why the words of a record are not there any more.
func erasedWords(e *recall.Erasure) string {
	switch {
	case e == nil:
		return "erased"
	case e.Cause == "retention":
		return "erased by retention, " + moment(e.At)
	case e.Cause == "person":
		return "forgotten, " + moment(e.At)
	}
	return "erased"
}

// showAttempts lists the other turns that were asked about the same inputs.
func showAttempts(a *app, list []api.WhyAttempt) {
	if len(list) == 0 {
		return
	}
	a.printf("\n")
	a.heading("other turns over the same inputs")
	for _, t := range list {
		when := "before"
		if t.Later {
			when = "later"
		}
		line := fmt.Sprintf("%s  %s  %s, attempt %d, %s: %s", t.ID, moment(t.StartedAt), when, t.Attempt,
			strings.TrimSpace(t.Provider+" "+t.Model), attemptResult(t.Turn))
		if used := usedBy(t.Turn, t.CostUSD); used != "" {
			line += " (" + used + ")"
		}
		a.printf("  %s\n", visibleLine(line))
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

func showInjections(a *app, list []api.Injection) {
	if len(list) == 0 {
		return
	}
	a.printf("\n")
	a.heading("memory that the agent had been given before")
	for _, in := range list {
		a.printf("  %-8d  %s  %s, %s, %s\n", in.Position, moment(in.At), visibleLine(in.Hook),
			plural(in.Characters, "character"), plural(len(in.IDs), "row"))
	}
}

// showAfter lists what became of the row since it was recorded.
func showAfter(a *app, list []api.WhyAfter) {
	if len(list) == 0 {
		return
	}
	a.printf("\n")
	a.heading("what came after")
	for _, e := range list {
		at := ""
		if e.Position > 0 {
			at = fmt.Sprint(e.Position)
		}
		a.printf("  %-8s  %s  %s\n", at, moment(e.At), visibleLine(afterWords(e)))
	}
}

func afterWords(e api.WhyAfter) string {
	switch e.What {
	case recall.AfterSuperseded, recall.AfterObserved:
		return e.What + ": " + e.ID.String() + " took its place"
	case recall.AfterCorrects:
		return "it took the place of " + e.ID.String()
	case recall.AfterChecked:
		return "checked: " + claimText(*e.Claim)
	case recall.AfterGiven:
		return fmt.Sprintf("given to session %s (%s)", e.Session, e.Hook)
	}
	return e.What
}
