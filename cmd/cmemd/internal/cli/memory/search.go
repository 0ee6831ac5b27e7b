package memory

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

func newSearch(a *terminal.App) *cobra.Command {
	var q api.SearchQuery
	c := &cobra.Command{
		Use: "search WORDS...", Short: "Find memory by any of its words",
		Long: "Search finds observations, summaries, saved memories and prompts that hold any of the words, the best first.\n" +
			"Without words it lists the newest.",
		Example: "  cmemd search flaky checkout test\n  cmemd search --project shop --type bugfix --since 2w\n" +
			"  cmemd search --file internal/cart.go --sort oldest\n  cmemd search --facets lock",
	}
	terminal.QueryFlags(a, c, &q)
	c.RunE = func(c *cobra.Command, args []string) error {
		q.Text = strings.Join(args, " ")
		return terminal.Answer(c.Context(), a, api.SearchRoute, q, func(a *terminal.App, found api.SearchResults) error {
			return showResults(a, found, q)
		})
	}
	return c
}

func showResults(a *terminal.App, found api.SearchResults, q api.SearchQuery) error {
	if found.Note != "" {
		a.Infof("%s", terminal.VisibleLine(found.Note))
	}
	printResults(a, found)
	if len(found.Results) == 0 {
		return fmt.Errorf("%w for %q", terminal.ErrNothing, q.Text)
	}
	if shown := q.Offset + len(found.Results); shown < found.Total {
		a.Infof("%d of %d; `--offset %d` shows more, `cmemd show ID` shows one whole", shown, found.Total, shown)
	}
	return nil
}
