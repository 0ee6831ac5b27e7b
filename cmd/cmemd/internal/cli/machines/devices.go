package machines

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/internal/api"
)

func newDevices(a *terminal.App) *cobra.Command {
	return terminal.Group(&cobra.Command{
		Use: "devices", Short: "List the machines that share memory, and take one out",
		RunE: func(c *cobra.Command, _ []string) error {
			cluster, err := joined(c.Context(), a)
			if err != nil {
				return err
			}
			return a.Show(cluster.Status.Machines, func() { showDevices(a, cluster.Status.Machines) })
		},
	}, newRevoke(a))
}

func showDevices(a *terminal.App, machines []share.Machine) {
	l := terminal.List{Head: []string{"NAME", "ID", "SEEN", "STATE"}}
	for _, m := range machines {
		l.Add(m.Name, shortID(m), seenWord(m), stateWord(m))
	}
	a.Print(l)
}

// shortID is enough of a machine's id to name it by.
func shortID(m share.Machine) string { return m.ID.String()[:12] }

const revokeHelp = `Revoke takes a machine out that was lost, stolen or sold. It gets no key of what is recorded from then on, and what it still sends is not
believed beyond what was read here. What it has read before, it keeps: nothing can be taken back from a disk that is elsewhere.

Where the store is a hub or another server, it still knows the way in: whoever has that machine can fill the store, or delete what is there, though
not read it. Give the hub another token: docs/machines.md says how.`

func newRevoke(a *terminal.App) *cobra.Command {
	yes, dryRun := false, false
	c := &cobra.Command{
		Use: "revoke NAME", Short: "Take another machine out for good", Long: revokeHelp,
		Args: terminal.Takes(1, 1, "a machine's name, or its id"),
		ValidArgsFunction: func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return otherNames(c.Context(), a), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would be done")
	c.RunE = func(c *cobra.Command, args []string) error {
		cluster, err := joined(c.Context(), a)
		if err != nil {
			return err
		}
		m, err := otherMachine(cluster.Status.Machines, args[0])
		if err != nil {
			return err
		}
		name := terminal.VisibleLine(m.Name)
		showRevoking(a, m, strings.Contains(cluster.Where, "://"))
		ok, err := a.Confirm(c.Context(), "Take "+name+" out for good?", "taken out", dryRun, yes)
		if err != nil || !ok {
			return err
		}
		done, err := terminal.Work(c.Context(), a, "revoking", api.ClusterRevokeRoute, api.ClusterRevoke{Name: m.ID.String()})
		if err != nil {
			return err
		}
		return a.ShowLine(done, "%s is taken out\n", terminal.VisibleLine(done.Name))
	}
	return c
}

// showRevoking says who would be taken out, and what that means. served is whether the store is a server, which the machine has a token of.
func showRevoking(a *terminal.App, m share.Machine, served bool) {
	a.Infof("%s would be taken out (id %s, seen %s): new keys for what follows, and codes that were not used yet let nobody in any more.",
		terminal.VisibleLine(m.Name), shortID(m), seenWord(m))
	a.Infof("What it has read already stays on its disk. Its own records that are here stay.")
	if served {
		a.Infof("It keeps the way into the store's server: whoever has it can fill the store, or delete what is there. `cmemd devices revoke --help` says more.")
	}
}

// idLetters is how much of an id names a machine, as the daemon has it.
const idLetters = 6

var (
	errNoDevice    = errors.New("no other machine is called so")
	errThisMachine = errors.New("this machine is called so")
	errGone        = errors.New("that machine is out already")
	errAmbiguous   = errors.New("several machines are called so")
)

// otherMachine is the one other machine that is called so, by its name, or by its id or the beginning of it.
func otherMachine(machines []share.Machine, name string) (found share.Machine, err error) {
	none, n := terminal.Advise(errNoDevice, "`cmemd devices` lists them"), 0
	for _, m := range machines {
		byID := len(name) >= idLetters && strings.HasPrefix(m.ID.String(), name)
		switch {
		case m.Name != name && !byID:
		case m.Self:
			none = terminal.Advise(errThisMachine, "`cmemd leave` takes it out")
		case !m.Gone.IsZero() && !errors.Is(none, errThisMachine):
			none = terminal.Advise(errGone, "`cmemd devices` says since when")
		case m.Gone.IsZero():
			found, n = m, n+1
		}
	}
	switch n {
	case 0:
		return found, none
	case 1:
		return found, nil
	}
	return found, terminal.Advise(errAmbiguous, "give the id, which `cmemd devices` shows")
}

// otherNames are the names of the other machines, for completion.
func otherNames(ctx context.Context, a *terminal.App) (names []string) {
	c, err := ask(ctx, a)
	if err != nil || c.Status == nil {
		return nil
	}
	for _, m := range c.Status.Machines {
		if !m.Self && m.Gone.IsZero() {
			names = append(names, m.Name)
		}
	}
	return names
}
