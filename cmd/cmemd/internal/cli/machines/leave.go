package machines

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/daemon"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

const leaveHelp = `Leave takes this machine out of its space. What others recorded is removed here; what this machine recorded stays, here and with
them. The daemon is restarted, so that nothing of others is searched any more. With --force it leaves even if the store cannot be
reached, so that the other machines do not learn of it.`

func newLeave(a *terminal.App) *cobra.Command {
	var q api.ClusterLeave
	yes, dryRun := false, false
	c := &cobra.Command{
		Use: "leave", Short: "Share this machine's memory no more", Long: leaveHelp, Args: terminal.Takes(0, 0, ""),
	}
	c.Flags().BoolVar(&q.Force, "force", false, "leave even if the store cannot be reached")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would be done")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cluster, err := joined(c.Context(), a)
		if err != nil && (!cluster.Joined || !q.Force) {
			return err
		}
		showLeaving(a, cluster)
		ok, err := a.Confirm(c.Context(), "Leave?", "left", dryRun, yes)
		if err != nil || !ok {
			return err
		}
		left, err := terminal.Work(c.Context(), a, "leaving", api.ClusterLeaveRoute, q)
		if err != nil {
			return terminal.Advise(err, "try again when the store answers; `cmemd leave --force` leaves without telling the others")
		}
		quiet := *a // the restart has nothing to add
		quiet.Out = io.Discard
		failed := daemon.Restart(c.Context(), &quiet) // which removes the copies
		return errors.Join(a.Show(left, func() { showLeft(a, left, isRevoked(cluster), failed == nil) }), failed)
	}
	return c
}

// showLeaving says what goes.
func showLeaving(a *terminal.App, c api.Cluster) {
	a.Infof("this machine would leave %s.", cmp.Or(terminal.VisibleLine(c.Where), "its space"))
	if c.Status == nil {
		return
	}
	for _, m := range c.Status.Machines {
		for _, log := range m.Logs {
			a.Infof("  what %s recorded goes from here: %s", terminal.VisibleLine(m.Name), number.Plural(log.Here, "record"))
		}
	}
	if n := c.Status.Own.Records; n > 0 {
		first := ": `cmemd flush` first"
		if isRevoked(c) { // it may send nothing
			first = ""
		}
		a.Infof("  %s of this machine %s not in the store yet, and will not be%s", number.Plural(n, "record"), number.IsOrAre(n), first)
	}
	showForgetting(a, *c.Status)
}

// isRevoked reports whether this machine knows that it was taken out by another one.
func isRevoked(c api.Cluster) bool {
	return c.Status != nil && slices.ContainsFunc(c.Status.Machines, func(m share.Machine) bool { return m.Self && m.Revoked })
}

// showForgetting says what this machine asked all to forget, and others did not do yet.
func showForgetting(a *terminal.App, st api.ClusterStatus) {
	open, waiting := 0, map[string]bool{}
	for _, f := range st.Forgets {
		if len(f.Waiting) == 0 || !slices.ContainsFunc(st.Machines, func(m share.Machine) bool { return m.Self && m.Name == f.By }) {
			continue
		}
		open++
		for _, name := range f.Waiting {
			waiting[name] = true
		}
	}
	if open > 0 {
		a.Infof("  %s of this machine to forget %s not done yet by %s, and will not be once it has left: wait until `cmemd status --cluster` names nobody",
			number.Plural(open, "request"), number.IsOrAre(open), terminal.VisibleLine(strings.Join(slices.Sorted(maps.Keys(waiting)), ", ")))
	}
}

// showLeft says what came of it; removed is whether the copies are removed already.
func showLeft(a *terminal.App, left api.ClusterLeft, revoked, removed bool) {
	end := number.IsOrAre(left.Removed) + " removed"
	if !removed {
		end = "will be removed as the daemon starts"
	}
	a.Printf("left; %s of other machines (%s) %s\n", number.Plural(left.Removed, "copy"), terminal.Size(left.Bytes), end)
	if !left.Notified && !revoked {
		a.Infof("the other machines do not know of it: `cmemd devices revoke` on one of them takes this machine out there")
	}
}
