package terminal

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func ShowHelp(c *cobra.Command, _ []string) error { return c.Help() }

// Group returns c with sub-commands. By itself it takes no arguments, and shows its help where it says nothing else to do.
func Group(c *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	c.Args = NoSuchCommand
	if c.RunE == nil {
		c.RunE = ShowHelp
	}
	c.AddCommand(subs...)
	return c
}

// Misused is a UsageError of command c.
func Misused(c *cobra.Command, format string, args ...any) error {
	return &UsageError{Message: VisibleLine(fmt.Sprintf(format, args...)), command: c.CommandPath()}
}

// MisusedFlag is a UsageError of command c for what reading its flags came to: of a number in words of ours.
func MisusedFlag(c *cobra.Command, err error) error {
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return Misused(c, "%s", err)
	}
	wants := "it must be a whole number"
	switch {
	case number.Func == "ParseBool":
		wants = "it must be true or false"
	case errors.Is(number, strconv.ErrRange):
		wants = "it is too large or too small a number"
	}
	return Misused(c, "%s%s", strings.TrimSuffix(err.Error(), number.Error()), wants)
}

// NoSuchCommand refuses arguments of a command that only has sub-commands.
func NoSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return Misused(c, "%s has no command %q: did you mean %s?", c.CommandPath(), args[0], strings.Join(near, " or "))
	}
	return Misused(c, "%s has no command %q", c.CommandPath(), args[0])
}

// Takes refuses fewer than least and more than most arguments, which help calls what; below 0 any number is taken. An argument of blanks
// alone is a variable of a script that was not set, and is refused too.
func Takes(least, most int, what string) cobra.PositionalArgs {
	count := TakesWords(least, most, what)
	return func(c *cobra.Command, args []string) error {
		if err := count(c, args); err != nil {
			return err
		}
		if slices.ContainsFunc(args, IsBlank) {
			return Misused(c, "%s was given an empty argument", c.CommandPath())
		}
		return nil
	}
}

// TakesWords is Takes for words of a text, of which some may be blank.
func TakesWords(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Misused(c, "%s needs %s", c.CommandPath(), what)
		case most == 0 && len(args) > 0:
			return Misused(c, "%s takes no arguments, got %q", c.CommandPath(), args[0])
		case most > 0 && len(args) > most:
			return Misused(c, "%s takes %s and no more, got %q too", c.CommandPath(), what, args[most])
		}
		return nil
	}
}

// IsBlank reports whether a text is empty, or blanks alone.
func IsBlank(text string) bool { return strings.TrimSpace(text) == "" }

// NotBlank has c refuse a flag of those named that was given and is empty: without it c would choose more than was meant.
func NotBlank(c *cobra.Command, flags ...string) {
	check(c, func() error { return RefuseBlank(c, flags...) })
}

// RefuseBlank is a UsageError of c where one of these flags was given and is empty.
func RefuseBlank(c *cobra.Command, flags ...string) error {
	for _, name := range flags {
		f := c.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		given := []string{f.Value.String()}
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			given = list.GetSlice()
		}
		if len(given) == 0 || slices.ContainsFunc(given, IsBlank) {
			return Misused(c, "--%s was given and is empty", name)
		}
	}
	return nil
}

// NotTogether has c refuse more than one of these flags.
func NotTogether(c *cobra.Command, flags ...string) {
	check(c, func() error {
		if given := givenOf(c, flags); len(given) > 1 {
			return Misused(c, "--%s does not go together with --%s", given[1], given[0])
		}
		return nil
	})
}

// NeedsOne has c refuse to run without any of these flags.
func NeedsOne(c *cobra.Command, flags ...string) {
	check(c, func() error {
		if len(givenOf(c, flags)) == 0 {
			return Misused(c, "%s needs --%s", c.CommandPath(), strings.Join(flags, " or --"))
		}
		return nil
	})
}

// givenOf are those of some flags that c was given.
func givenOf(c *cobra.Command, flags []string) (given []string) {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			given = append(given, name)
		}
	}
	return given
}

// A UsageError is a command line that cannot be carried out.
type UsageError struct {
	Message string
	command string // whose help tells more
}

func (e *UsageError) Error() string { return e.Message }
