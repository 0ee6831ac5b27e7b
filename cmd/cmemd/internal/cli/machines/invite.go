package machines

import (
	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

const inviteHelp = `Invite makes a code that lets one machine in, once, within 24 hours. No machine has to be awake when it is used. Whoever has the code
reads all that your machines recorded: give it to nobody else, and send it by no way that others read.`

func newInvite(a *terminal.App) *cobra.Command {
	var q api.ClusterInvite
	c := &cobra.Command{
		Use: "invite", Short: "Make a code that lets one more machine in", Long: inviteHelp, Args: terminal.Takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			i, err := terminal.Work(c.Context(), a, "inviting", api.ClusterInviteRoute, q)
			if err != nil {
				return err
			}
			return a.Show(i, func() { showInvitation(a, i) })
		},
	}
	c.Flags().StringVar(&q.For, "for", "", "what the machine that is to enter is called, unless it says --name")
	return c
}
