package terminal

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
)

// A helpDocument is the help of a command for programs.
type helpDocument struct {
	Command  string        `json:"command"`
	Usage    string        `json:"usage"`
	Help     string        `json:"help"`
	Commands []helpEntry   `json:"commands,omitempty"`
	Flags    string        `json:"flags,omitempty"` // one a line, as help for people shows them
	Codes    []exitMeaning `json:"exit_codes"`
}

// A helpEntry is a sub-command in a line.
type helpEntry struct {
	Name string `json:"name"`
	Help string `json:"help"`
}

// HelpJSON has every command below root print its help as JSON where that is asked for.
func (a *App) HelpJSON(root *cobra.Command) {
	prose := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if !a.JSON {
			prose(c, args)
			return
		}
		if err := a.PrintJSON(helpOf(c)); err != nil {
			a.Complain(fmt.Errorf("print help: %w", err)) // help has no other way to fail
		}
	})
}

func helpOf(c *cobra.Command) helpDocument {
	d := helpDocument{Command: c.CommandPath(), Usage: c.UseLine(), Help: c.Long, Codes: exitMeanings()}
	d.Help = cmp.Or(d.Help, c.Short)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			d.Commands = append(d.Commands, helpEntry{sub.Name(), sub.Short})
		}
	}
	d.Flags = c.LocalFlags().FlagUsages() + c.InheritedFlags().FlagUsages()
	return d
}
