package machines

import (
	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// Commands are the commands about machines that share memory.
func Commands(a *terminal.App) []*cobra.Command {
	return []*cobra.Command{newJoin(a), newInvite(a), newDevices(a), newLeave(a), newFlush(a), newHub(a)}
}
