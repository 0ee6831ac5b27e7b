package operate

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

const recheckHelp = `Recheck looks again for the commits that observations and summaries name, each in the repository of its session; without
an id or a flag, for those of all that are listed. What was found when they were recorded stands beside what is found now. A
commit that was there once and is gone, or that no branch or tag leads to any more, after an amend or a rebase say, makes no
lie of what was said; one that was not there and is now lifts the mark. A look that finds nothing out, because the repository
is gone or git does not answer, changes nothing.`

func newRecheck(a *terminal.App) *cobra.Command {
	var q api.RecheckRequest
	c := &cobra.Command{
		Use: "recheck [ID...]", Short: "Look again for the commits that memory names", Long: recheckHelp,
		Example: "  cmemd recheck --absent\n  cmemd recheck --since 2w --dry-run\n  cmemd recheck m41",
	}
	terminal.QueryFlags(a, c, &q)
	c.RunE = func(c *cobra.Command, ids []string) error {
		q.IDs = ids
		return terminal.Await(c.Context(), a, api.RecheckRoute, "checking", q, showRechecked)
	}
	return c
}

func showRechecked(a *terminal.App, found api.Rechecked) error {
	if found.Rows == 0 {
		return fmt.Errorf("%w: no memory that names a commit", terminal.ErrNothing)
	}
	printChanged(a, found)
	a.Printf("%s\n", recheckedLine(found))
	if len(found.Refused) > 0 {
		return terminal.Advise(fmt.Errorf("%s could not record what was found", number.Plural(len(found.Refused), "session")), "`cmemd logs` says more")
	}
	return nil
}

func printChanged(a *terminal.App, found api.Rechecked) {
	if len(found.Changed) == 0 {
		return
	}
	l := terminal.List{Head: []string{"ID", "COMMIT", "WAS", "NOW", "TITLE"}}
	for _, c := range found.Changed {
		now := string(c.Now)
		if c.Gone {
			now = "absent (rebased?)"
		}
		l.Add(a.ShownRow(c.ID, c.Handle), c.Claim, string(c.Was), now, c.Title)
	}
	a.Print(l)
	if found.More > 0 {
		a.Printf("and %d more\n", found.More)
	}
}

func recheckedLine(found api.Rechecked) string {
	line := fmt.Sprintf("%s of %s: %d verified, %d absent, %d unknown; %d changed", number.Plural(found.Claims, "commit"),
		number.Plural(found.Rows, "row"), found.Verified, found.Absent, found.Unknown, len(found.Changed)+found.More)
	if found.DryRun {
		line += ", and nothing was recorded"
	}
	return line
}
