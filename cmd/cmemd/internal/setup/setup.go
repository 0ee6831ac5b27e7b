package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/programs"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/api"
)

const setupHelp = `Setup has cmemd work on this machine, in one go. It shows on three lines what it would change, and asks. Each step is also a
command of its own, and a second run does what is not done yet.

  copies cmemd to where it stays, if it lies in npm's folders, in go's cache or in the folder for temporary files
  puts it into the agents of this machine          cmemd install
  starts the daemon                                cmemd start
  takes in old sessions, the newest first          cmemd ingest --all --background
  asks once whether a model may observe            cmemd config set provider NAME
  shows what a session here would be given         cmemd context

Without a terminal it only shows; --yes does it without a question, and no model is asked for: the built-in observer needs none.`

// Commands are those that put cmemd into agents and into the system, and take it out again.
func Commands(a *terminal.App) []*cobra.Command {
	return []*cobra.Command{newSetup(a), newInstall(a), newUninstall(a), newService(a)}
}

func newSetup(a *terminal.App) *cobra.Command {
	yes, switches := false, false
	c := &cobra.Command{
		Use: "setup", Short: "Have cmemd work on this machine: agents, daemon, old sessions", Long: setupHelp, Args: terminal.Takes(0, 0, ""),
		Example: "  npx cmemd setup\n  cmemd setup --yes",
		RunE: func(c *cobra.Command, _ []string) error {
			if switches {
				return switchObserver(c.Context(), a)
			}
			return setUp(c.Context(), a, yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&switches, switchFlag, false, "wait until all is observed, then have the model observe that was chosen")
	_ = c.Flags().MarkHidden(switchFlag) // it is there
	return c
}

// setUp does one step after the other. What one cannot do is said, and ends it: the next run goes on there.
func setUp(ctx context.Context, a *terminal.App, yes bool) error {
	x, err := newInstallation(a, installCommand{yes: yes})
	if err != nil {
		return err
	}
	s := &setupRun{installation: x, report: setupReport{Agents: []*shownInstall{}, Next: []string{}}}
	s.agents = slices.DeleteFunc(install.Agents(), func(one install.Agent) bool { return !one.Found(x.machine) })
	s.planAll()
	s.showPlan(ctx)
	if ok, err := s.agree(ctx); !ok {
		return errors.Join(err, s.print())
	}
	for _, step := range []func(context.Context) error{s.change, s.start, s.takeSessions, s.askModel, s.showContext} {
		err := step(ctx)
		if ctx.Err() != nil {
			return terminal.Advise(terminal.ErrInterrupted, "what is done stays, and `cmemd setup` goes on; `cmemd status` says what still goes on in the background")
		}
		if err != nil {
			return err
		}
	}
	s.showNext(ctx)
	failed := s.failure(s.shown)
	s.report.Done = failed == nil
	return errors.Join(s.print(), a.MarkReported(failed))
}

// planAll plans what is to be done with each agent, and with the programs.
func (s *setupRun) planAll() {
	s.shown = []*shownInstall{}
	for _, agent := range s.agents {
		p, err := s.plan(agent)
		s.shown = append(s.shown, s.show(agent, p, err))
	}
	s.report.Agents = s.shown
	if s.copyFrom == "" {
		return
	}
	way, _ := programs.TransientWay(s.copyFrom)
	to := programs.Dir(s.options.Home)
	s.report.Programs = &placement{Way: way, From: filepath.Dir(s.copyFrom), To: to, Copy: []string{}, Newer: programs.Newer(s.copyFrom, s.options.Home, s.app.Version)}
	if s.report.Programs.Newer != "" {
		return
	}
	s.report.Programs.Copy = append(s.report.Programs.Copy, programs.Differing(s.copyFrom, s.options.Home)...)
	if old, err := programs.ReadSource(to); err == nil && old.Version != s.app.Version {
		s.report.Programs.Replaces = old.Version
	}
}

// print prints the report as JSON, where that is wanted.
func (s *setupRun) print() error {
	if !s.app.JSON {
		return nil
	}
	return s.app.PrintJSON(s.report)
}

// change copies the programs and puts cmemd into the agents. It looks again first: others may have been quicker.
func (s *setupRun) change(ctx context.Context) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.planAll()
	if err := s.prepareHome(ctx); err != nil {
		return terminal.Advise(err, "%s", noHomeStep(err))
	}
	s.carryOut(ctx, s.shown)
	if err := s.openProjects(ctx, s.shown); err != nil {
		return err
	}
	s.addTrust(ctx, s.shown)
	for _, one := range s.shown {
		if one.State == installRefused {
			s.app.Infof("%s: %s", one.Agent, terminal.Visible(one.Error))
		}
	}
	s.showResults(s.shown)
	return nil
}

// noHomeStep says what to do about a home that nothing can be written to.
func noHomeStep(err error) string {
	if next := terminal.NextStep(err); next != "" {
		return next
	}
	var at *fs.PathError
	if errors.Is(err, syscall.ENOTDIR) && errors.As(err, &at) {
		return fmt.Sprintf("move %s away: a folder belongs in its place", terminal.VisibleLine(at.Path))
	}
	return "let CMEMD_HOME name a folder that this user may write to"
}

// showContext shows what a session that starts in this folder would be given.
func (s *setupRun) showContext(ctx context.Context) error {
	s.awaitObserved(ctx)
	cwd, err := os.Getwd()
	if err != nil { // a folder that was removed
		return nil
	}
	err = s.app.Query(ctx, func(ctx context.Context, to api.Invoker) error {
		answer, err := api.ContextRoute.Call(ctx, to, api.ContextQuery{Cwd: cwd})
		s.report.Context = &answer
		return err
	})
	if err != nil || s.app.JSON {
		return err
	}
	if s.report.Context.Text == "" {
		s.app.Printf("memory    none of %s yet: the first session here makes some\n", terminal.VisibleLine(cwd))
		return nil
	}
	s.app.Heading("What the next session in %s is given:", terminal.VisibleLine(cwd))
	s.app.Printf("%s\n", terminal.Visible(s.report.Context.Text))
	return nil
}

// showNext says what a person can do now.
func (s *setupRun) showNext(ctx context.Context) {
	next := []string{"start an agent and work as ever: what it does is remembered, and given to the next session"}
	if line := s.pathLine(ctx); line != "" {
		next = append(next, line)
	}
	if _, err := s.machine.LookPath("git"); err != nil {
		next = append(next, "install git, and commits that agents speak of are looked up")
	}
	next = append(next, "`cmemd status` says what was captured, `cmemd search WORDS` finds it, `cmemd doctor` says what is not well")
	s.report.Next = next
	if s.app.JSON {
		return
	}
	s.app.Heading("Next:")
	for _, line := range next {
		s.app.Printf("  %s\n", terminal.VisibleLine(line))
	}
}

// pathLine says how the shell finds the program that agents use; empty: it does, or finds the one that this is a copy of.
func (s *setupRun) pathLine(ctx context.Context) string {
	path := s.options.Program.Cmemd
	found, err := onPath("cmemd")
	switch {
	case err == nil && (isSameFile(found, path) || s.isOriginal(ctx, found)):
		return ""
	case err == nil:
		return fmt.Sprintf("your shell finds another cmemd, %s; agents use %s: `cmemd doctor` says of which versions they are, and what to do", found, path)
	}
	return "let your shell find cmemd: " + exportPath(filepath.Dir(path)) + "; with the same line in the file that your shell reads at its start, new shells find it too"
}

// exportPath is the line for a shell that puts a folder on the PATH.
func exportPath(dir string) string {
	return `export PATH="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(dir) + `:$PATH"`
}

// isOriginal reports whether the program at path came by the way by which those came that the home keeps, and is of this version: a package
// manager has put it on the PATH, and what agents use is a copy of it.
func (s *setupRun) isOriginal(ctx context.Context, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || filepath.Dir(s.options.Program.Cmemd) != programs.Dir(s.options.Home) {
		return false
	}
	way, passing := programs.TransientWay(real)
	kept, err := programs.ReadSource(programs.Dir(s.options.Home))
	if !passing || err != nil || kept.Way != way {
		return false
	}
	version, err := programs.AskVersion(ctx, path, programs.CommandVersion)
	return err == nil && version == s.app.Version
}

// onPath is the first program of that name on the PATH that stays there; npx puts one before all that does not.
func onPath(name string) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, name+programs.Ext(os.Args[0]))
		info, err := os.Stat(path)
		if _, passing := programs.TransientWay(path); err != nil || passing || !filepath.IsAbs(path) || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		return path, nil
	}
	return "", os.ErrNotExist
}

func isSameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
