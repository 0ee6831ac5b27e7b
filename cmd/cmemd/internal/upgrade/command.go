package upgrade

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

const upgradeHelp = `Upgrade knows by which way this cmemd came here (npm, Homebrew, go install, the install script, a package, an image, a
clone), shows the command by which that way brings a newer one, asks, and runs it. Then the new program takes the daemon's place:
sessions go on, and what hooks report meanwhile waits in the spool. What needs root, or would change files of a project, is only said.

Only the way's own tool goes to the network, and only when this command is run: nothing looks for new versions by itself. --check
has that tool say which version is the newest, and changes nothing.`

// Commands are those that bring a newer cmemd.
func Commands(a *terminal.App) []*cobra.Command { return []*cobra.Command{newUpgrade(a)} }

// An upgradeCommand is its flags.
type upgradeCommand struct{ dryRun, check, yes bool }

func newUpgrade(a *terminal.App) *cobra.Command {
	var f upgradeCommand
	c := &cobra.Command{
		Use: "upgrade", Short: "Bring a newer cmemd by the way this one came, and replace the daemon", Long: upgradeHelp,
		Args: terminal.Takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.dryRun && f.check {
				return terminal.Misused(c, "--dry-run and --check do not go together")
			}
			return f.run(c.Context(), a)
		},
	}
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only say what would be run")
	c.Flags().BoolVar(&f.check, "check", false, "only ask the way's own tool for the newest version")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	return c
}

// A shownUpgrade is what is said of an upgrade.
type shownUpgrade struct {
	Version string `json:"version"` // before
	Path    string `json:"path"`
	origin
	Newest    string         `json:"newest,omitempty"`    // as the way's tool says
	Available bool           `json:"available,omitempty"` // Newest is newer
	Ran       bool           `json:"ran"`                 // the commands were run
	After     string         `json:"after,omitempty"`     // the version of the program then
	Daemon    *startedDaemon `json:"daemon,omitempty"`    // what runs then
}

func (f upgradeCommand) run(ctx context.Context, a *terminal.App) error {
	m, err := here(a)
	if err != nil {
		return err
	}
	return f.runOn(ctx, a, m)
}

// runOn is run on a machine.
func (f upgradeCommand) runOn(ctx context.Context, a *terminal.App, m machine) error {
	home, err := a.Home()
	if err != nil {
		return err
	}
	s := shownUpgrade{Version: a.Version, Path: m.self, origin: originOf(ctx, m)}
	if f.check {
		return s.check(ctx, a, m)
	}
	if !a.JSON {
		s.showPlan(a)
	}
	if len(s.Commands) == 0 {
		err := a.Show(s, func() {})
		if f.dryRun || err != nil {
			return err
		}
		return a.MarkReported(terminal.Advise(errors.New("nothing was upgraded: that is for you to run"), "%s", s.Step))
	}
	ok, err := a.Confirm(ctx, "Run this?", "upgraded", f.dryRun, f.yes)
	if err != nil {
		return err
	}
	if ok {
		if err := s.carryOut(ctx, a, m, home); err != nil {
			return err
		}
	}
	return errors.Join(a.Show(s, func() { s.showDone(a) }), a.MarkReported(s.unchanged()))
}

// unchanged is an error where the commands ran, a newer version is there, and the program is not of it.
func (s shownUpgrade) unchanged() error {
	if !s.Ran || !s.Available {
		return nil
	}
	return terminal.Advise(fmt.Errorf("%s is still %s, and %s is there: %s did not bring it, or brought it elsewhere",
		s.program, terminal.VisibleLine(s.After), s.Newest, s.Commands[0][0]), "see what it said; `cmemd doctor` names other copies of cmemd")
}

// check asks the way's own tool which version is the newest.
func (s shownUpgrade) check(ctx context.Context, a *terminal.App, m machine) error {
	if len(s.newestCommand) == 0 {
		err := fmt.Errorf("%s has no command that says which version is the newest", s.Title)
		return terminal.Advise(err, "look at %s; this is %s", releases, s.Version)
	}
	ok, err := s.askNewest(ctx, m)
	if err != nil {
		return terminal.Advise(err, "try again, or look at %s", releases)
	}
	return a.Show(s, func() {
		switch {
		case s.Available:
			a.Printf("%s is there, and this is %s: `cmemd upgrade`\n", s.Newest, s.Version)
		case ok:
			a.Printf("this is %s; the newest release is %s\n", s.Version, s.Newest)
		default:
			a.Printf("the newest release is %s, and this is %s, of which nobody knows whether it is older\n", s.Newest, s.Version)
		}
	})
}

// askNewest notes the newest version, and whether it is newer than this one; ok is false where nobody knows that.
func (s *shownUpgrade) askNewest(ctx context.Context, m machine) (known bool, err error) {
	said, err := m.output(ctx, s.newestCommand...)
	if err != nil {
		return false, fmt.Errorf("%s does not say which version is the newest: %w", s.newestCommand[0], err)
	}
	s.Newest = terminal.VisibleLine(said)
	order, known := terminal.CompareVersions(s.Newest, s.Version)
	s.Available = known && order > 0
	return known, nil
}

func (s shownUpgrade) showPlan(a *terminal.App) {
	a.Field("version", s.Version)
	a.Field("program", s.Path)
	a.Field("came by", s.Title)
	if len(s.Commands) == 0 {
		a.Field("upgrade", s.Step)
		return
	}
	line := commandLine(s.Commands)
	if !s.restartsDaemon {
		line += "; then `cmemd start` with the new one"
	}
	a.Field("upgrade", line)
}

func (s shownUpgrade) showDone(a *terminal.App) {
	if !s.Ran {
		return
	}
	switch {
	case s.After != s.Version:
		a.Printf("upgraded from %s to %s\n", s.Version, terminal.VisibleLine(s.After))
	case s.Newest == s.Version:
		a.Printf("%s is the newest already\n", s.Version)
	case s.Newest == "":
		a.Printf("%s is still %s; %s says which version is the newest\n", terminal.VisibleLine(s.program), s.Version, releases)
	}
	if d := s.Daemon; d != nil {
		a.Printf("the daemon is %s, pid %d\n", terminal.VisibleLine(d.Version), d.PID)
	}
	a.Printf("`cmemd doctor` says whether agents have what this version gives them\n")
}

// carryOut runs the commands, has the new program replace the daemon, and notes what came of it. The daemon is left alone where a
// command fails.
func (s *shownUpgrade) carryOut(ctx context.Context, a *terminal.App, m machine, home string) error {
	if err := runAll(ctx, a, s.origin, home); err != nil {
		return terminal.Advise(err, "see what it said; the daemon that runs is as it was, and `cmemd upgrade` may be run again")
	}
	s.Ran = true
	if err := s.takeOver(ctx, a, m, home); err != nil || s.After != s.Version || len(s.newestCommand) == 0 {
		return err
	}
	if _, err := s.askNewest(ctx, m); err != nil { // it is still said what is there now
		a.Infof("%s", terminal.VisibleLine(err.Error()))
	}
	return nil
}

// takeOver has the program that the commands left replace the daemon, where they have not done so, and notes its version.
func (s *shownUpgrade) takeOver(ctx context.Context, a *terminal.App, m machine, home string) error {
	if s.restartsDaemon {
		st, err := a.Status(ctx)
		s.After, s.Daemon, s.program = st.Version, &startedDaemon{Version: st.Version, PID: st.PID}, "the daemon"
		return err
	}
	if len(s.binCommand) > 0 {
		if dir, err := m.output(ctx, s.binCommand...); err == nil && filepath.IsAbs(dir) {
			s.program = filepath.Join(dir, "cmemd")
		}
	}
	after, err := versionOf(ctx, s.program)
	if err != nil {
		return terminal.Advise(err, "`cmemd version` and `cmemd doctor` say what is there now; then `cmemd start`")
	}
	s.After = after
	s.Daemon, err = replaceDaemon(ctx, s.program, homedir.PathsOf(home).Home)
	return terminal.Advise(err, "`cmemd start` with the new program; hooks keep what they report in the spool meanwhile")
}
