package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/agents/spool"
)

const installHelp = `Install puts cmemd into coding agents: their hooks, and memory as tools (MCP). Without a name it finds the agents of this
machine. It first shows what it would change, and asks; without a terminal it only shows, unless --yes is given, which names
each file on a line. --dry-run shows all.

Settings keep their order, comments and line ends; what was there before is kept, and ` + "`cmemd uninstall`" + ` brings it back. A
second run changes nothing, but what a newer cmemd does otherwise. Settings that cannot be read are left as they are.

Claude Code gets a plugin, by its own commands; with --settings, or where ` + "`claude`" + ` is not on the PATH, entries in its settings
file. Claude Desktop, Visual Studio Code and Zed do not say in which project they work: install asks which ones they may
reach, or takes --projects, and writes that down as the setting mcp_projects. --http has its hooks post to the daemon, which saves starting a program but loses what happens while none runs. Codex
runs hooks only once you trust them there: what it says of that is shown.`

const uninstallHelp = `Uninstall takes cmemd out of coding agents; without a name, out of all that it is in. It shows what would change, and asks.
A file that nobody has changed since gets back the bytes that it had before; from another one exactly the entries of cmemd
go. Claude Code, told to forget a plugin, writes such a file in its own way. What is remembered stays.`

func newInstall(a *terminal.App) *cobra.Command {
	var f installCommand
	c := &cobra.Command{
		Use: "install [AGENT...]", Short: "Put cmemd into the agents of this machine", Long: installHelp, ValidArgsFunction: completeAgents,
		Example: "  cmemd install\n  cmemd install claude-code codex --yes\n  cmemd install cursor --print",
		RunE: func(c *cobra.Command, names []string) error {
			f.projectsGiven = c.Flags().Changed("projects")
			return installAgent(a, c, names, f)
		},
	}
	f.flags(c)
	flags := c.Flags()
	flags.BoolVar(&f.print, "print", false, "only print the entries, without the token, for those who put them in by hand")
	flags.BoolVar(&f.settings, "settings", false, "Claude Code: its settings file, and no plugin")
	flags.BoolVar(&f.http, "http", false, "Claude Code: hooks post to the daemon, where it can do so")
	flags.BoolVar(&f.noMCP, "no-mcp", false, "no memory as tools")
	flags.StringSliceVar(&f.projects, "projects", nil, "projects that agents may reach by their tools beside the one that they work in: folders or names; * is all")
	return c
}

func newUninstall(a *terminal.App) *cobra.Command {
	f := installCommand{remove: true}
	c := &cobra.Command{
		Use: "uninstall [AGENT...]", Short: "Take cmemd out of agents again", Long: uninstallHelp, ValidArgsFunction: completeAgents,
		RunE: func(c *cobra.Command, names []string) error { return installAgent(a, c, names, f) },
	}
	f.flags(c)
	return c
}

func (f *installCommand) flags(c *cobra.Command) {
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only show what would change")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
}

func completeAgents(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, agent := range install.Agents() {
		if !slices.Contains(given, agent.Name) {
			names = append(names, agent.Name+"\t"+agent.Title)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func installAgent(a *terminal.App, c *cobra.Command, names []string, f installCommand) error {
	agents, err := agentsNamed(c, names)
	if err != nil {
		return err
	}
	x, err := newInstallation(a, f)
	if err != nil {
		return err
	}
	x.agentsGiven = len(names) > 0
	if !x.agentsGiven && !f.remove {
		agents = slices.DeleteFunc(agents, func(one install.Agent) bool { return !one.Found(x.machine) })
	}
	if len(agents) == 0 {
		return terminal.Advise(fmt.Errorf("%w: no agent on this machine", terminal.ErrNothing), "name one: %s", strings.Join(agentNames(), ", "))
	}
	if f.print {
		return x.print(agents)
	}
	if !f.dryRun {
		unlock, err := x.lock(c.Context())
		if err != nil {
			return err
		}
		defer unlock()
	}
	return x.run(c.Context(), agents)
}

func agentNames() (names []string) {
	for _, one := range install.Agents() {
		names = append(names, one.Name)
	}
	return names
}

// agentsNamed are the agents of those names, each once; all without one.
func agentsNamed(c *cobra.Command, names []string) (agents []install.Agent, err error) {
	if len(names) == 0 {
		return install.Agents(), nil
	}
	for i, name := range names {
		one, known := install.ByName(name)
		if !known {
			return nil, terminal.Misused(c, "no agent %q: %s", name, strings.Join(agentNames(), ", "))
		}
		if !slices.Contains(names[:i], name) {
			agents = append(agents, one)
		}
	}
	return agents, nil
}

// lock keeps others from installing at the same time.
func (x *installation) lock(ctx context.Context) (unlock func(), err error) {
	if err := homedir.PathsOf(x.options.Home).MakeHome(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(x.store.Dir, 0o700); err != nil {
		return nil, terminal.Advise(err, "let CMEMD_HOME name a folder that this user may write to")
	}
	f, err := homedir.LockBeside(ctx, filepath.Join(x.store.Dir, "records"))
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil // it was only there to be held
}

// run plans, shows, asks and carries out.
func (x *installation) run(ctx context.Context, agents []install.Agent) error {
	shown := []*shownInstall{}
	for _, agent := range agents {
		p, err := x.plan(agent)
		if err == nil && p.Nothing() && x.flags.remove && !x.agentsGiven {
			continue
		}
		shown = append(shown, x.show(agent, p, err))
	}
	if !x.app.JSON {
		printInstalls(x.app, shown, x.flags.yes && !x.flags.dryRun)
	}
	agreed := !x.flags.dryRun
	if slices.ContainsFunc(shown, (*shownInstall).planned) {
		ok, err := x.app.Confirm(ctx, "Change this?", "changed", x.flags.dryRun, x.flags.yes)
		if err != nil {
			return err
		}
		if ok && !x.flags.remove {
			err = x.prepareHome(ctx)
		}
		if err != nil {
			return err
		}
		if agreed = ok; ok {
			x.carryOut(ctx, shown)
		}
	} else if x.flags.yes && !x.flags.remove && !x.flags.dryRun { // programs may lie elsewhere by now: that takes a yes as well
		if err := x.prepareHome(ctx); err != nil {
			return err
		}
	}
	if agreed {
		if err := x.openProjects(ctx, shown); err != nil {
			return err
		}
	}
	if !x.flags.remove && !x.flags.dryRun {
		x.addTrust(ctx, shown)
	}
	err := x.report(shown)
	if x.flags.remove {
		x.showLeftovers(ctx, shown)
	}
	return err
}

// prepareHome lays down what hooks, and the daemons that they start, need to find.
func (x *installation) prepareHome(ctx context.Context) error {
	if err := keepProgram(ctx, x.app, x.options.Home, x.copyFrom); err != nil {
		return err
	}
	if err := spool.LayKey(x.options.Home, x.app.Now()); err != nil { // else the first hook would withhold what it is given
		return err
	}
	return homedir.RecordPrograms(x.options.Home, x.options.Program.Cmemd)
}

// plan says what is to be done with one agent.
func (x *installation) plan(agent install.Agent) (install.Plan, error) {
	if x.flags.remove {
		return agent.Uninstall(x.machine, x.options, x.store)
	}
	return agent.Install(x.machine, x.options, x.store)
}

// carryOut applies what is planned, and writes down what came of it.
func (x *installation) carryOut(ctx context.Context, shown []*shownInstall) {
	client := func(ctx context.Context, c install.Command) error { return runClient(ctx, x.app, c) }
	for _, s := range shown {
		if !s.planned() || ctx.Err() != nil {
			continue
		}
		s.State = installDone
		if x.flags.remove {
			s.State = installRemoved
		}
		if err := x.store.Apply(ctx, s.plan, client, x.app.Now()); err != nil {
			s.State, s.Error = installFailed, terminal.Describe(err)
		}
	}
}

// print prints what the agents would be given, but the token: what is printed is kept in many places.
func (x *installation) print(agents []install.Agent) error {
	x.options.Settings = true // a plugin is no entry
	type printed struct {
		Agent string `json:"agent"`
		Path  string `json:"path"`
		Text  string `json:"text"`
	}
	all := []printed{}
	for _, agent := range agents {
		files, err := agent.Whole(x.machine, x.options)
		if err != nil {
			return err
		}
		for _, f := range files {
			all = append(all, printed{agent.Name, f.Path, string(f.Text)})
		}
	}
	if slices.ContainsFunc(all, func(p printed) bool { return strings.Contains(p.Text, "Bearer "+noToken) }) {
		x.app.Infof("put what `cmemd token show` prints in the place of %s", noToken)
	}
	if x.app.JSON {
		return x.app.PrintJSON(all)
	}
	for _, p := range all {
		x.app.Heading("%s: %s", p.Agent, terminal.VisibleLine(p.Path))
		x.app.Printf("%s\n", terminal.Visible(p.Text))
	}
	return nil
}
