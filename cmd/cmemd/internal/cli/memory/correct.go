package memory

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

const correctHelp = `Correct saves a text in the place of a memory that is wrong: an observation, a summary, or one that was saved. That is
neither found nor given any more; ` + "`cmemd why`" + ` and ` + "`cmemd show`" + ` lead from each to the other, and ` + "`cmemd undo`" + ` takes the
correction back. Project, type, concepts and files are those of the memory that is corrected, unless they are given.`

func newCorrect(a *terminal.App) *cobra.Command {
	var m api.Memory
	c := &cobra.Command{
		Use: "correct ID TEXT|-", Short: "Put what is true in the place of a memory that is wrong", Long: correctHelp,
		Args:    terminal.TakesWords(2, -1, "an id, and a text or - for standard input"),
		Example: "  cmemd correct m41 \"Releases are cut on Wednesdays\"",
	}
	c.Flags().StringVar(&m.Title, "title", "", "in one line; else the beginning of the text")
	c.Flags().StringVar(&m.Type, "type", "", "another type than the corrected one's")
	c.Flags().StringSliceVar(&m.Concepts, "concept", nil, "other concepts than the corrected one's; may be given again")
	c.Flags().StringSliceVar(&m.Files, "file", nil, "other files than the corrected one's; may be given again")
	terminal.WhenFlag(a, c, &m.At, "at", "when it was true")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if m.Supersedes = args[0]; terminal.IsBlank(m.Supersedes) { // a text that corrects nothing is one that is saved
			return terminal.Misused(c, "the id of what is wrong is empty")
		}
		if m.Text, err = textOf(a, args[1:]); err != nil {
			return err
		}
		return save(c.Context(), a, m)
	}
	return c
}

const undoHelp = `Undo takes a saved memory back: it is neither found nor given any more. Undo of a correction lets what it had corrected
stand again. Undone once more, all is as before. Nothing is erased: that is what ` + "`cmemd forget`" + ` is for.`

func newUndo(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "undo ID", Short: "Take back what was saved or corrected by hand", Long: undoHelp, Args: terminal.Takes(1, 1, "an id"),
		RunE: func(c *cobra.Command, args []string) error {
			return terminal.Answer(c.Context(), a, api.UndoRoute, api.IDQuery{ID: strings.TrimSpace(args[0])}, showUndone)
		},
	}
}

func showUndone(a *terminal.App, done api.Undone) error {
	for _, id := range done.Withdrawn {
		a.Printf("%s is taken back\n", id)
	}
	for _, id := range done.Restored {
		a.Printf("%s stands again\n", id)
	}
	return nil
}
