package operate

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/relay"
)

// newHook returns the command that main takes past everything else. It is reached by command lines that are not quite
// right, and still ends with 0: a hook never breaks its agent.
func newHook(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "hook [--home DIR] AGENT", Short: "Carry one hook payload from standard input to the daemon; always exit code 0",
		Long: "Hook is what an agent's hook runs: cmemd-hook does the same and starts sooner. What the daemon does not take is kept\n" +
			"in the spool until it does. It says nothing but the daemon's reply to the agent.\n\n" +
			"Agents: " + strings.Join(agents.Names(), ", ") + ". Raw is for whoever has none of them:\n" +
			`{"event": "start" | "prompt" | "tool" | "stop" | "compact" | "end", "session": "...", "cwd": "/...", ...}`,
		Example: "  echo '{\"event\":\"prompt\",\"session\":\"s1\",\"cwd\":\"/src/shop\",\"text\":\"fix the parser\"}' | cmemd hook raw",
		Args:    cobra.ArbitraryArgs, DisableFlagParsing: true, ValidArgs: agents.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			call, ok := relay.ReadCall(args)
			switch {
			case ok:
				relay.Main(call, a.Version)
			case len(args) == 1 && (args[0] == "--help" || args[0] == "-h"):
				return c.Help()
			default:
				fmt.Fprintln(a.Err, "usage: cmemd hook [--home DIR] AGENT < payload")
			}
			return nil
		},
	}
}
