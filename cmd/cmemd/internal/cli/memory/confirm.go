package memory

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/projections/rows"
)

const confirmHelp = `Confirm vouches for an observation or a summary. What was made of a turn that read others' words (a web page, another MCP
server's answer, a file that is not the project's) is given to agents with that word, and neither its decision nor its next steps
are given at all: confirmed, it is given whole. A row that is flagged because nothing bears out what it says, or because the session undid
later what it tells of, is given, too; a commit that is not there stays flagged, whoever vouches for it.

Without an id it lists the rows that agents are given in part or not at all until somebody vouches for them, and why.`

func newConfirm(a *terminal.App) *cobra.Command {
	var q api.ConfirmRequest
	waiting := api.ExportQuery{Kinds: []string{string(rows.Observation), string(rows.Summary)}}
	c := &cobra.Command{
		Use: "confirm [ID]", Short: "Vouch for a row, so that agents are given it whole", Long: confirmHelp, Args: terminal.Takes(0, 1, "an id"),
		Example: "  cmemd confirm\n  cmemd confirm --project .\n  cmemd show m41\n  cmemd confirm m41",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listUnconfirmed(c.Context(), a, waiting)
			}
			q.ID = args[0]
			return terminal.Answer(c.Context(), a, api.ConfirmRoute, q, showConfirmed)
		},
	}
	c.Flags().BoolVar(&q.Withdraw, "withdraw", false, "do not vouch for it any more")
	terminal.ProjectFlag(c, &waiting.Project, "without an id: list only this one's, a folder in it or its name")
	return c
}

// listUnconfirmed lists the rows that a person's word would have agents given whole, in the order of the log.
func listUnconfirmed(ctx context.Context, a *terminal.App, q api.ExportQuery) error {
	found := []api.Row{}
	err := a.Stream(ctx, func(c *client.Client) error {
		return c.ExportRows(ctx, q, func(r api.Row) error {
			if whyUnconfirmed(r) != "" {
				found = append(found, r)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return a.Report(found, func(a *terminal.App) error {
		if len(found) == 0 {
			return fmt.Errorf("%w: no row waits for somebody to vouch for it", terminal.ErrNothing)
		}
		l := terminal.List{Head: []string{"ID", "WHAT", "WHEN", "WHY", "TITLE"}}
		for _, r := range found {
			l.Add(a.ShownRow(r.ID, r.Handle()), r.What(), terminal.Moment(r.At), whyUnconfirmed(r), titleOf(r))
		}
		a.Print(l)
		return nil
	})
}

// whyUnconfirmed says why a row waits for a person's word; empty: it does not.
func whyUnconfirmed(r api.Row) string {
	switch {
	case r.External():
		return "outside"
	case r.Confirmed == 0 && (r.Unseen || r.Unsupported):
		return "nothing bears it out"
	case r.IsUndone():
		return "undone since"
	}
	return ""
}

func showConfirmed(a *terminal.App, done api.Confirmed) error {
	if done.Withdrawn {
		a.Printf("%s is not confirmed any more\n", a.ShownRow(done.ID, done.Handle))
		return nil
	}
	a.Printf("%s is confirmed\n", a.ShownRow(done.ID, done.Handle))
	return nil
}
