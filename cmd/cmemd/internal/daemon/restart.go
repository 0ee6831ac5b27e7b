package daemon

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api/client"
)

func newRestart(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "restart", Short: "Stop the daemon and start it anew", Args: terminal.Takes(0, 0, ""),
		Long: "Restart ends the daemon in order and starts one in the background; one is started where none runs, too. Sessions go on: what hooks\n" +
			"report meanwhile waits in the spool.",
		RunE: func(c *cobra.Command, _ []string) error { return Restart(c.Context(), a) },
	}
}

// Restart stops the daemon of this home, if one runs, and starts one.
func Restart(ctx context.Context, a *terminal.App) error {
	p, err := homedir.Of(a)
	if err != nil {
		return err
	}
	return a.Ask(func(client *client.Client) error {
		if _, err := Stop(ctx, client, p, false); err != nil {
			return err
		}
		return start(ctx, a, client)
	})
}
