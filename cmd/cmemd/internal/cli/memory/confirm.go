package memory

import (
	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

const confirmHelp = `Confirm vouches for an observation or a summary. What was made of a turn that read others' words (a web page, another MCP
server's answer, a file that is not the project's) is told with that word, and neither its decision nor its next steps are told
at all: confirmed, it is told whole. A row that is flagged because nothing bears out what it says is told, too; a commit that
is not there stays flagged, whoever vouches for it.`

func newConfirm(a *terminal.App) *cobra.Command {
	var q api.ConfirmRequest
	c := &cobra.Command{
		Use: "confirm ID", Short: "Vouch for a row, so that it is told whole", Long: confirmHelp, Args: terminal.Takes(1, 1, "an id"),
		Example: "  cmemd show m41\n  cmemd confirm m41",
		RunE: func(c *cobra.Command, args []string) error {
			q.ID = args[0]
			return terminal.Answer(c.Context(), a, api.ConfirmRoute, q, showConfirmed)
		},
	}
	c.Flags().BoolVar(&q.Withdraw, "withdraw", false, "do not vouch for it any more")
	return c
}

func showConfirmed(a *terminal.App, done api.Confirmed) error {
	if done.Withdrawn {
		a.Printf("%s is not confirmed any more\n", a.ShownRow(done.ID, done.Handle))
		return nil
	}
	a.Printf("%s is confirmed\n", a.ShownRow(done.ID, done.Handle))
	return nil
}
