package operate

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/durable"
)

func newToken(a *terminal.App) *cobra.Command {
	return terminal.Group(&cobra.Command{
		Use: "token", Short: "Show or change the token of the loopback address",
		Long: "HTTP on the loopback address asks for a token; who uses the socket, as hooks and commands do, needs none.",
	},
		&cobra.Command{
			Use: "show", Short: "Print the token", Args: terminal.Takes(0, 0, ""),
			RunE: func(*cobra.Command, []string) error {
				p, err := homedir.Made(a)
				if err != nil {
					return err
				}
				token, err := homedir.LoadToken(p.Token)
				if err != nil {
					return err
				}
				return printToken(a, token)
			},
		},
		&cobra.Command{
			Use: "rotate", Short: "Make another token; who uses the old one is refused at once", Args: terminal.Takes(0, 0, ""),
			Long: "Rotate makes another token. A daemon that runs takes it at once, and ends what is connected with the old one. Browsers that were\n" +
				"let in to the page are let in no more: `cmemd ui` opens it anew.\n" +
				"What was given the old one, as HTTP hooks are, has to be given the new one: `cmemd install` does that.",
			RunE: func(c *cobra.Command, _ []string) error { return rotateToken(a, c) },
		},
	)
}

// rotateToken has the daemon change the token, or does so where none runs.
func rotateToken(a *terminal.App, c *cobra.Command) error {
	p, err := homedir.Made(a)
	if err != nil {
		return err
	}
	err = a.WithClient(func(client *client.Client) error { return client.RotateToken(c.Context()) })
	if errors.Is(err, api.ErrNotRunning) {
		_, err = homedir.MakeToken(p.Token)
		err = cmp.Or(err, durable.Remove(p.Viewers))
	}
	if err != nil {
		return err
	}
	token, err := homedir.LoadToken(p.Token)
	if err != nil {
		return err
	}
	a.Infof("the token was changed; `cmemd install` gives HTTP hooks the new one")
	return printToken(a, token)
}

func printToken(a *terminal.App, token string) error {
	return a.ShowLine(map[string]string{"token": token}, "%s\n", token)
}
