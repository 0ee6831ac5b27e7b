package terminal

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// check has c look at what was given before it runs, after all that it looks at already.
func check(c *cobra.Command, good func() error) {
	earlier := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if earlier != nil {
			if err := earlier(c, args); err != nil {
				return err
			}
		}
		return good()
	}
}

// WhenFlag gives c a flag that is a time: at is that time once c runs, and zero if the flag was not given.
func WhenFlag(a *App, c *cobra.Command, at *time.Time, name, doc string) {
	text := c.Flags().String(name, "", doc+": 2h, 3d, 2w ago, 2026-01-31, or RFC 3339")
	check(c, func() error {
		if *text == "" {
			return nil
		}
		var ok bool
		if *at, ok = ParseWhen(*text, a.Now()); !ok {
			return Misused(c, "--%s %q is no time: write 2h, 3d or 2w for so long ago, 2026-01-31, or RFC 3339", name, *text)
		}
		return nil
	})
}

// OneOf has c refuse a value of a flag, or one of several, that is neither empty nor one of allowed. A shell completes these.
func OneOf[T ~string](c *cobra.Command, flag string, allowed ...T) {
	var words []string
	for _, w := range allowed {
		words = append(words, string(w))
	}
	MustComplete(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	check(c, func() error {
		value := c.Flags().Lookup(flag).Value
		given := []string{value.String()}
		if list, ok := value.(interface{ GetSlice() []string }); ok {
			given = list.GetSlice()
		}
		for _, v := range given {
			if v != "" && !slices.Contains(words, v) {
				return Misused(c, "--%s %q is none of %s", flag, v, strings.Join(words, ", "))
			}
		}
		return nil
	})
}

// UpTo has c refuse a number for a flag that is not from 1 to most.
func UpTo(c *cobra.Command, flag string, most int) {
	check(c, func() error {
		if n, err := c.Flags().GetInt(flag); err != nil || n < 1 || n > most {
			return Misused(c, "--%s %d: it must be from 1 to %d", flag, n, most)
		}
		return nil
	})
}

// MustComplete adds what a shell can complete a flag of c with.
func MustComplete(c *cobra.Command, flag string, with cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, with); err != nil {
		panic(err) // a flag that does not exist
	}
}
