package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/cli/machines"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/cli/memory"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/cli/operate"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/daemon"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/doctor"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/providers"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/scenarios"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/setup"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/upgrade"
)

// The groups in which help shows the commands.
const (
	groupDaemon    = "daemon"
	groupMemory    = "memory"
	groupMachines  = "machines"
	groupInternals = "inside"
)

const rootHelp = `cmemd gives coding agents a memory that can be trusted and replayed.

Agents' hooks report what happens in a session; the daemon puts it in a log before it answers, an observer turns it into
memory, and later sessions are given what matters. Every memory leads back to the events it came from.

CMEMD_HOME, or --home, moves everything that cmemd keeps; ` + "`cmemd config show`" + ` lists the settings. Output is a table on a terminal, plain
columns elsewhere, JSON with --json. ` + "`cmemd help exit-codes`" + ` lists the exit codes.`

// newRoot returns the tree of all commands.
func newRoot(a *terminal.App) *cobra.Command {
	root := &cobra.Command{
		Use: "cmemd", Short: "A memory for coding agents", Long: rootHelp,
		SilenceErrors: true, SilenceUsage: true, Args: terminal.NoSuchCommand,
	}
	// cobra prints a version of another form than its own by text/template: with it the linker would keep all exported methods.
	version := root.Flags().BoolP("version", "v", false, "print the version")
	root.RunE = func(c *cobra.Command, args []string) error {
		if *version {
			a.Printf("cmemd %s\n", a.Version)
			return nil
		}
		return terminal.ShowHelp(c, args)
	}
	a.HelpJSON(root)
	root.PersistentFlags().BoolVar(&a.JSON, "json", false, "print JSON")
	root.PersistentFlags().StringVar(&a.HomeDir, "home", "", "the folder of all that cmemd keeps; it goes before CMEMD_HOME")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return terminal.RefuseBlank(c, "home") } // it would be another home's
	root.SetFlagErrorFunc(terminal.MisusedFlag)
	root.AddGroup(
		&cobra.Group{ID: groupDaemon, Title: "The daemon:"},
		&cobra.Group{ID: groupMemory, Title: "Memory:"},
		&cobra.Group{ID: groupMachines, Title: "Several machines:"},
		&cobra.Group{ID: groupInternals, Title: "What is behind it:"},
	)
	for group, commands := range commandsOf(a) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersion(a), providers.NewPlaybackHelp(), &cobra.Command{Use: "exit-codes", Short: "The exit codes of all commands", Long: terminal.ExitHelp()})
	strictHelp(root)
	strictCompletion(root)
	return root
}

// strictCompletion has the command of completions refuse what is no shell that it knows, as other groups of commands do.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil && c != root {
		c.Args, c.RunE = terminal.NoSuchCommand, terminal.ShowHelp
		for _, shell := range c.Commands() {
			shell.Args = terminal.Takes(0, 0, "")
		}
	}
}

// strictHelp has the help command refuse what is no command, as the commands themselves do.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil || help == root {
		return
	}
	help.Run, help.RunE = nil, func(_ *cobra.Command, args []string) error {
		c, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 && c.HasSubCommands() {
			return terminal.NoSuchCommand(c, rest)
		}
		c.InitDefaultHelpFlag()
		return c.Help()
	}
}

// commandsOf lists the sub-commands by group.
func commandsOf(a *terminal.App) map[string][]*cobra.Command {
	return map[string][]*cobra.Command{
		groupDaemon:    slices.Concat(daemon.Commands(a), doctor.Commands(a), operate.Commands(a), setup.Commands(a), upgrade.Commands(a), []*cobra.Command{scenarios.NewDemo(a)}),
		groupMemory:    memory.Commands(a),
		groupMachines:  machines.Commands(a),
		groupInternals: append(operate.InternalCommands(a), scenarios.NewReplay(a), providers.NewObserver(a)),
	}
}
