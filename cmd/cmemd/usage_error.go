package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

// misused is a usageError of command c.
func misused(c *cobra.Command, format string, args ...any) error {
	return &usageError{message: visibleLine(fmt.Sprintf(format, args...)), command: c.CommandPath()}
}

// noSuchCommand refuses arguments of a command that only has sub-commands.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return misused(c, "%s has no command %q: did you mean %s?", c.CommandPath(), args[0], strings.Join(near, " or "))
	}
	return misused(c, "%s has no command %q", c.CommandPath(), args[0])
}

// takes refuses fewer than least and more than most arguments, which help calls what; below 0 any number is taken.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return misused(c, "%s needs %s", c.CommandPath(), what)
		case most == 0 && len(args) > 0:
			return misused(c, "%s takes no arguments, got %q", c.CommandPath(), args[0])
		case most > 0 && len(args) > most:
			return misused(c, "%s takes %s and no more, got %q too", c.CommandPath(), what, args[most])
		}
		return nil
	}
}

// A usageError is a command line that cannot be carried out.
type usageError struct {
	message string
	command string // whose help tells more
}

func (e *usageError) Error() string { return e.message }
