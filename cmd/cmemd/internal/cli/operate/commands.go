package operate

import (
	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// Commands are the commands about the daemon's files and settings.
func Commands(a *terminal.App) []*cobra.Command {
	return []*cobra.Command{newUI(a), newLogs(a), newConfig(a), newIgnore(a), newToken(a), newSpool(a), newHook(a), newMan(a)}
}

// InternalCommands are the commands about what stands behind memory: the log, the views, the observer and what it made of each
// input.
func InternalCommands(a *terminal.App) []*cobra.Command {
	return []*cobra.Command{newOutcomes(a), newUsage(a), newGain(a), newReobserve(a), newRecheck(a), newProvider(a), newLog(a), newProjections(a), newParse(a), newAPI(a)}
}
