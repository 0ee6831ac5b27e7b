package operate

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

const apiHelp = `Api prints what the daemon that runs can be asked over HTTP, as a document of OpenAPI 3.1: paths, parameters, bodies, answers and
who may ask. Over the socket in CMEMD_HOME no token is needed; ` + "`cmemd token show`" + ` prints the one of the loopback address:

  curl -H "Authorization: Bearer $(cmemd token show)" http://127.0.0.1:37911/v1/status`

func newAPI(a *terminal.App) *cobra.Command {
	return terminal.Asking(a, &cobra.Command{
		Use: "api", Short: "Print what the daemon can be asked over HTTP (OpenAPI 3.1)", Long: apiHelp,
	}, api.OpenAPIRoute, nil, func(a *terminal.App, document json.RawMessage) error { return a.PrintJSON(document) })
}
