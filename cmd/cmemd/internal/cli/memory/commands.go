package memory

import (
	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// Commands are the commands by which memory is found, kept, corrected, erased, shared between folders, taken in and written elsewhere.
func Commands(a *terminal.App) []*cobra.Command {
	return []*cobra.Command{
		newSearch(a), newTimeline(a), newShow(a), newWhy(a), newSessions(a), newContext(a), newSave(a), newCorrect(a), newUndo(a), newConfirm(a),
		newForget(a), newProject(a), newIngest(a), newImport(a), newWatch(a), newExport(a),
	}
}
