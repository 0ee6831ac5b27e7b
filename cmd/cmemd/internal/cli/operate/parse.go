package operate

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/setting"
)

// maxOutput bounds what is read as one output; the log takes none that is longer.
const maxOutput = events.MaxPayload

func newParse(a *terminal.App) *cobra.Command {
	turn := ""
	c := &cobra.Command{
		Use: "parse --turn KIND", Short: "Say what an observer's output on standard input means, as JSON",
		Long: "Parse applies the output contract to standard input and prints {disposition, reason, class, observations, summary}.\n" +
			"It needs no daemon and records nothing.",
		Example: "  cmemd parse --turn observation < output.txt",
		Args:    terminal.Takes(0, 0, ""),
	}
	c.Flags().StringVar(&turn, "turn", "", "what was asked for: observation or summary")
	terminal.OneOf(c, "turn", events.TurnObservation, events.TurnSummary)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if turn == "" {
			return terminal.Misused(c, "%s needs --turn observation or --turn summary", c.CommandPath())
		}
		text, err := io.ReadAll(io.LimitReader(a.In, maxOutput+1))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		if len(text) > maxOutput {
			return fmt.Errorf("standard input is longer than %s, the longest output that is recorded", setting.FormatBytes(maxOutput))
		}
		return a.PrintJSON(observer.Parse(string(text), events.TurnKind(turn), observer.CodeMode().TypeIDs()))
	}
	return c
}
