package daemon

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
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
	p, err := homedir.Made(a)
	if err != nil {
		return err
	}
	l, err := config.ForHome(a)
	if err != nil { // before anything is stopped
		return err
	}
	return a.WithClient(func(client *client.Client) error {
		if l, err = adoptVariables(ctx, a, p, l); err != nil {
			return err
		}
		release, err := holdStart(ctx, p)
		if err != nil {
			return err
		}
		defer release()
		s, err := restartLocked(ctx, a, client, p, l)
		if err != nil {
			return err
		}
		return a.Show(s, func() { s.Print(a) })
	})
}

// restartLocked is Restart once nobody else starts a daemon. One that the system's service runs is left to it.
func restartLocked(ctx context.Context, a *terminal.App, client *client.Client, p homedir.Paths, l *config.Loaded) (s Started, err error) {
	s.Logs = p.LogFile
	if client.Alive(ctx) == nil {
		byService, err := s.replaceByService(ctx, a, p, "")
		if err != nil {
			return s, err
		}
		if byService {
			s.Stopped = "" // it is not said of a restart, which is of the same one most often
			return s, s.await(ctx, a, client)
		}
	}
	if _, err := Stop(ctx, client, p, false); err != nil {
		return s, err
	}
	return startLocked(ctx, a, client, p, l, "")
}
