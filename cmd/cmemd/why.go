package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/api"
)

func newWhy(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "why ID", Short: "Show where a memory comes from: its turn, its events, what was known before",
		Args: takes(1, 1, "an id"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.query(c.Context(), func(ctx context.Context, client *api.Client) error {
				w, err := client.Why(ctx, args[0])
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(w)
				}
				a.showWhy(w)
				return nil
			})
		},
	}
}

func (a *app) showWhy(w api.Why) {
	a.showRow(w.Row)
	a.field("recorded", moment(w.RecordedAt))
	a.showGenerations("it took the place of", w.Older)
	a.showGenerations("in its place stands now", w.Newer)
	if w.Session != nil {
		a.printf("\n")
		a.heading("session %s", visibleLine(w.Session.ID.String()))
		a.field("agent", strings.TrimSpace(w.Session.Agent+" "+w.Session.AgentSession))
		a.field("folder", w.Session.Cwd)
		a.field("git", strings.TrimSpace(w.Session.GitBranch+" "+w.Session.GitHead))
	}
	for _, t := range w.Turns {
		a.showTurn(t)
	}
	if len(w.Prompts) > 0 {
		a.printf("\n")
		a.heading("the user had asked")
		for _, p := range w.Prompts {
			a.field(fmt.Sprintf("prompt %d", p.Prompt), p.Text)
		}
	}
	a.showInjections(w.Injections)
}

// showGenerations lists rows that the same inputs gave before or after.
func (a *app) showGenerations(head string, rows []api.Row) {
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
	if r.Superseded {
		title += " (observed again since)"
	}
	return title
}

func (a *app) showTurn(t api.WhyTurn) {
	a.printf("\n")
	a.heading("turn %s", t.ID)
	a.field("kind", fmt.Sprintf("%s, attempt %d, generation %d", t.Kind, t.Attempt, t.Generation))
	a.field("asked", strings.TrimSpace(fmt.Sprintf("%s %s", t.Provider, t.Model)))
	a.field("ended", strings.TrimSpace(fmt.Sprintf("%s %s %s", moment(t.EndedAt), t.Result, t.Reason)))
	a.field("positions", fmt.Sprintf("%d to %d", t.Started, t.Ended))
	for _, in := range t.Inputs {
		a.printf("  %s\n", visibleLine(inputLine(in)))
	}
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
	if in.Erased {
		return line + ": erased"
	}
	if in.Preview != "" {
		line += ": " + in.Preview
	}
	return line
}

func (a *app) showInjections(list []api.Injection) {
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
