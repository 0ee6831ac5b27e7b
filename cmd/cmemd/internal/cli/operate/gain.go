package operate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/projections/rows"
)

const gainHelp = `Gain says of each project what memory its sessions were given, what of it they followed, and what the memory cost.

INJECTED counts rows, each once a session, and TOKENS about what they took of the agents' contexts. ABOUT FILES are those of them that
are about a file (a summary is about what its session had changed), and TOUCHED those of which the session read or changed such a file
later. Where a row was injected because a file was about to be read, only a change counts. ASKED FOR are the injected rows that the
session fetched whole later, by a tool or by ` + "`cmemd show`" + ` or ` + "`cmemd why`" + `. FOLLOWED are those that were touched or
asked for. Below stand the rows that most sessions followed. COST is what the turns of all sessions of the project cost, as in
` + "`cmemd usage`" + `.

These are counts of what is on record. A file may have been touched for another reason, and a row may have helped without it: there is
no rate here, and no money that was saved.`

func newGain(a *terminal.App) *cobra.Command {
	return terminal.Asking(a, &cobra.Command{
		Use: "gain", Short: "Say what memory agents were given, what of it they followed, and what it cost",
		Long:    gainHelp,
		Example: "  cmemd gain --since 7d\n  cmemd gain --project shop --limit 50",
	}, api.GainRoute, nil, showGain)
}

func showGain(a *terminal.App, found api.Gain) error {
	if len(found.Projects) == 0 {
		return fmt.Errorf("%w: nothing was injected into any session", terminal.ErrNothing)
	}
	l := terminal.List{Head: []string{"PROJECT", "SESSIONS", "INJECTED", "TOKENS", "ABOUT FILES", "TOUCHED", "ASKED FOR", "FOLLOWED", "COST"}}
	for _, p := range found.Projects {
		cells := []string{p.Project}
		for _, n := range []int{p.Sessions, p.Injected, p.Tokens, p.WithFiles, p.Touched, p.Asked, p.Followed} {
			cells = append(cells, strconv.Itoa(n))
		}
		l.Add(append(cells, terminal.CostOf(p.Observer))...)
	}
	a.Print(l)
	a.Printf("\n")
	l = terminal.List{Head: []string{"ROW", "WHAT", "INJECTED", "FOLLOWED", "TITLE", "TOUCHED"}}
	for _, r := range found.Rows {
		l.Add(a.ShownRow(r.ID, r.Handle), rows.What(r.Kind, r.Type), strconv.Itoa(r.Injected), strconv.Itoa(r.Followed), r.Title, strings.Join(r.Touched, ", "))
	}
	a.Print(l)
	if found.Omitted > 0 {
		a.Infof("%s more, which are in the sums: `--limit` shows them", number.Plural(found.Omitted, "row"))
	}
	return nil
}
