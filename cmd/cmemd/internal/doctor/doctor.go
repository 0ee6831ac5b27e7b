package doctor

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

const doctorHelp = `Doctor looks at all that cmemd stands on, and says of each thing whether it is well, and if not what mends it.
It ends with 1 if something is wrong. Without a daemon it looks at what there is. --deep proves that the home is whole: each record
is what its hash says, each view and the search index are what the log leads to when they are made anew in a temporary folder, what
was forgotten is in no page of the log. What --deep costs with models is counted nowhere, neither
in ` + "`cmemd usage`" + ` nor in a budget; where the day's budget is used up, it asks no model that costs. --bundle writes what it found to a file that can be
sent to somebody who helps: a .tar.gz of numbers, settings and logs, without secrets and without a word that an agent said.`

// Commands are those that say how a daemon does, and what is not well.
func Commands(a *terminal.App) []*cobra.Command {
	return []*cobra.Command{newDoctor(a), newStatus(a)}
}

func newDoctor(a *terminal.App) *cobra.Command {
	deep, bundle := false, ""
	c := &cobra.Command{
		Use: "doctor", Short: "Say what is wrong and what mends it; exit code 1 if something is", Args: terminal.Takes(0, 0, ""),
		Long: doctorHelp,
	}
	c.Flags().BoolVar(&deep, "deep", false, "read all there is, search once, and ask each configured model once too, which may cost something")
	c.Flags().StringVar(&bundle, "bundle", "", "write what was found to this new file, a .tar.gz")
	c.RunE = func(c *cobra.Command, _ []string) error {
		x, err := examine(c.Context(), a)
		if err != nil {
			return err
		}
		x.deep = deep
		found := x.diagnose(c.Context(), checks())
		if bundle != "" {
			if err := x.writeBundle(c.Context(), found, bundle); err != nil {
				return err
			}
		}
		if err := a.Show(found, func() { showDiagnosis(a, found) }); err != nil {
			return err
		}
		return a.MarkReported(found.err())
	}
	return c
}

// checks lists them in the order in which they are shown: what others stand on comes first. A new check is a function and
// a line here.
func checks() []check {
	return append([]check{
		{name: "home", run: checkHome}, {name: "settings", run: checkSettings, okDetail: "they can be used"},
		{name: "variables", run: checkEnvironment, okDetail: "the daemon takes none that matters"},
		{name: "disk", run: checkDisk}, {name: "clock", run: checkClock}, {name: "git", run: checkGit},
		{name: "daemon", run: checkDaemon}, {name: "socket", run: checkSocket}, {name: "address", run: checkAddress, daemon: true},
		{name: "version", run: checkVersion}, {name: "programs", run: checkPrograms, okDetail: "they are of one version"},
		{name: "log", run: checkLog}, {name: "aside", run: checkAside},
		{name: "views", run: checkViews, daemon: true}, {name: "vectors", run: checkVectors},
		{name: "inputs", run: checkInputs, daemon: true}, {name: "spool", run: checkSpool, okDetail: "nothing is waiting"},
		{name: "hooks", run: checkHooks, okDetail: "none was left without an answer"}, {name: "agents", run: checkAgents},
		{name: "provider", run: checkProvider}, {name: "model", run: checkModels}, {name: "budget", run: checkBudget},
		{name: "machines", run: checkMachines}, {name: "observer", run: checkObserver, daemon: true}, {name: "search", run: checkSearch},
	}, invariants()...)
}

func (x *examination) diagnose(ctx context.Context, checks []check) diagnosis {
	d := diagnosis{OK: true, Home: x.paths.Home}
	for _, c := range checks {
		for _, found := range c.examine(ctx, x) {
			found.Name = c.name
			d.OK = d.OK && found.State != stateWrong
			d.Checks = append(d.Checks, found)
		}
	}
	return d
}

func showDiagnosis(a *terminal.App, d diagnosis) {
	for _, c := range d.Checks {
		a.Printf("%-8s %-9s %s\n", c.State, c.Name, terminal.VisibleLine(a.ShownNotice(c.Detail)))
		if c.Mend != "" {
			a.Printf("%-8s %-9s mend: %s\n", "", "", terminal.VisibleLine(a.ShownNotice(c.Mend)))
		}
	}
}
