package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/internal/api"
)

// whyArgs are the arguments of why.
type whyArgs struct {
	ID   string `json:"id" says:"a handle such as m41, or an id" required:"true"`
	AsOf string `json:"as_of" says:"as it was known then: 2026-01-31, 2026-01-31T15:04Z, or how long ago: 36h, 7d"`
}

func whyTool() spec {
	return spec{
		name: "why", title: "Where a memory comes from", hints: reads(),
		description: "Show the chain behind one row: who observed it, the tool uses and prompts it was made of, whether its claims hold, what became of it. Use it before relying on a memory that surprises.",
	}
}

// Bounds of what a chain shows.
const (
	shownTurns  = 5
	shownInputs = 40 // of a turn
	shownText   = 300
	shownList   = 20
)

func (c call) why(ctx context.Context, in whyArgs) (string, error) {
	ids, err := cleanIDs([]string{in.ID})
	if err != nil {
		return "", err
	}
	q := api.WhyQuery{ID: ids[0]}
	if q.AsOf.Time, err = timeOf("as_of", in.AsOf, c.cfg.Now()); err != nil {
		return "", err
	}
	w, err := api.WhyRoute.Call(ctx, c.cfg.Memory, q)
	if err != nil {
		return "", err
	}
	return whyPage(w), nil
}

func whyPage(w api.Why) string {
	p := newPage(w.Row.Project)
	p.head = fmt.Sprintf("Where %s comes from.", handleOf(w.Row.ID, w.Row.Handle()))
	var b strings.Builder
	whyRow(&b, w)
	for _, t := range w.Turns[:min(len(w.Turns), shownTurns)] {
		whyTurn(&b, t)
	}
	whyAround(&b, w)
	if !p.putHead(b.String()) {
		p.next(fmt.Sprintf("It ends early for length: `cmemd why %s` in a shell prints all of it.", handleOf(w.Row.ID, w.Row.Handle())))
	}
	if len(w.Turns) > 0 {
		p.next("Next: `get` with this handle and inputs true shows what the tools were given and printed.")
	}
	return p.String()
}

func whyRow(b *strings.Builder, w api.Why) {
	b.WriteString(indexLine(resultOf(w.Row), w.Row.Project) + standing(w.Row))
	if w.Session != nil {
		fmt.Fprintf(b, "Session %s of %s, opened %s, branch %s\n", w.Session.ID, oneLine(w.Session.Agent, 40), moment(w.Session.OpenedAt),
			cmp.Or(oneLine(w.Session.GitBranch, 80), "unknown"))
	}
	for _, v := range w.Verdicts {
		fmt.Fprintf(b, "Claim: %s %s is %s now\n", oneLine(v.Claim.Kind, 20), oneLine(v.Claim.Value, 60), v.Now)
	}
	if w.Forgotten != nil {
		fmt.Fprintf(b, "Forgotten %s (%s): nothing else is left.\n", moment(w.Forgotten.At), oneLine(w.Forgotten.Cause, 40))
	}
	if len(w.Turns) == 0 && w.Forgotten == nil {
		b.WriteString("No observer made it: it was said or saved as it is.\n")
	}
}

func whyTurn(b *strings.Builder, t api.WhyTurn) {
	fmt.Fprintf(b, "Observed %s by %s %s, %d tokens in and %d out", moment(t.EndedAt), oneLine(t.Provider, 40),
		oneLine(cmp.Or(t.Answered, t.Model), 60), t.Usage.Input, t.Usage.Output)
	if t.CostUSD != nil {
		fmt.Fprintf(b, ", $%.4f", *t.CostUSD)
	}
	b.WriteString(", from:\n")
	for _, in := range t.Inputs[:min(len(t.Inputs), shownInputs)] {
		b.WriteString("- " + whyInput(in) + "\n")
	}
	if more := max(len(t.Inputs)-shownInputs, 0) + t.More; more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
}

// whyInput is one input of a turn in a line.
func whyInput(in api.WhyInput) string {
	line := fmt.Sprintf("%d %s %s", in.Position, moment(in.At), cmp.Or(oneLine(in.Tool, 60), string(in.Kind)))
	for _, mark := range []struct {
		is   bool
		says string
	}{{in.Failed, "failed"}, {in.Read, "only read"}, {in.Erased && !in.Why.IsWithheld(), "erased"}, {in.Why.IsWithheld(), "withheld"}, {in.Outcome != "" && in.Outcome != "observed", string(in.Outcome)}} {
		if mark.is {
			line += " (" + mark.says + ")"
		}
	}
	for _, part := range []string{cmp.Or(in.Preview, in.Input), in.Output} {
		if said := oneLine(part, shownText); said != "" {
			line += " → " + said
		}
	}
	return line
}

// whyAround tells the prompts that it served, what the agent had been given before, and what became of it.
func whyAround(b *strings.Builder, w api.Why) {
	for _, r := range w.Prompts[:min(len(w.Prompts), shownList)] {
		fmt.Fprintf(b, "Asked: %s\n", oneLine(r.Text, shownText))
	}
	for _, i := range w.Injections[:min(len(w.Injections), shownList)] {
		fmt.Fprintf(b, "Given to the agent before: %d rows at position %d\n", len(i.IDs), i.Position)
	}
	for _, a := range w.After[:min(len(w.After), shownList)] {
		fmt.Fprintf(b, "Since: %s %s\n", moment(a.At), oneLine(a.What, 60))
	}
	if w.Replaced != nil {
		b.WriteString("Replaced by: " + indexLine(resultOf(*w.Replaced), w.Row.Project))
	}
	whyOthers(b, "Took the place of", w.Older, w.Row.Project)
	whyOthers(b, "Its place was taken by", w.Newer, w.Row.Project)
}

func whyOthers(b *strings.Builder, name string, rows []api.Row, project string) {
	for _, r := range rows[:min(len(rows), shownList)] {
		b.WriteString(name + ": " + indexLine(resultOf(r), project))
	}
}
