package terminal

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// QueryFlags gives c a flag for each field of query, which points to a struct, that has help, and has c refuse what such a field
// may not be: words first, then numbers, then times.
func QueryFlags(a *App, c *cobra.Command, query any) {
	fields := api.Fields(query)
	for _, f := range fields {
		textFlag(c, f)
	}
	for _, f := range fields {
		numberFlag(a, c, f)
	}
	for _, f := range fields {
		if at, ok := f.At.(*time.Time); ok {
			WhenFlag(a, c, at, f.Name, f.Help)
		}
	}
}

// textFlag is the flag of a text, of a list of texts, or of what is so or not.
func textFlag(c *cobra.Command, f api.Field) {
	text := reflect.ValueOf(f.At)
	switch {
	case f.Name == "project":
		ProjectFlag(c, f.At.(*string), f.Help)
	case f.Several:
		list, at := c.Flags().StringSlice(f.Name, nil, f.Help), f.At.(*string)
		check(c, func() error { *at = strings.Join(*list, ","); return nil })
	case text.Elem().Kind() == reflect.String:
		c.Flags().StringVar(text.Convert(reflect.TypeFor[*string]()).Interface().(*string), f.Name, f.Default, f.Help)
	case text.Elem().Kind() == reflect.Bool:
		c.Flags().BoolVar(f.At.(*bool), f.Name, false, f.Help)
	}
	if f.Words != nil {
		OneOf(c, f.Name, f.Words...)
	}
}

// numberFlag is the flag of a number, or of a position in the log or the time that may stand for it.
func numberFlag(a *App, c *cobra.Command, f api.Field) {
	switch at := f.At.(type) {
	case *events.Position:
		c.Flags().Uint64Var((*uint64)(at), f.Name, 0, f.Help)
	case *api.Moment:
		momentFlag(a, c, at, f)
	case *int:
		standard, _ := strconv.Atoi(f.Default)
		short := ""
		if f.Name == "limit" {
			short = "n"
		}
		c.Flags().IntVarP(at, f.Name, short, standard, f.Help)
		if f.Default != "" {
			UpTo(c, f.Name, f.Most)
			return
		}
		check(c, func() error { return notNegative(c, f, *at) })
	case **int:
		n := c.Flags().Int(f.Name, 0, f.Help)
		check(c, func() error {
			if !c.Flags().Changed(f.Name) {
				return nil
			}
			*at = n
			return notNegative(c, f, *n)
		})
	}
}

// notNegative is a UsageError of c where n, which the flag of a field says, is less than 0 or more than the field may be.
func notNegative(c *cobra.Command, f api.Field, n int) error {
	if n < 0 || f.Most > 0 && n > f.Most {
		return Misused(c, "--%s %d: it must be from 0 to %d", f.Name, n, f.Most)
	}
	return nil
}

// momentFlag is the flag of a position of the log from 1 on, or of a time.
func momentFlag(a *App, c *cobra.Command, at *api.Moment, f api.Field) {
	text := c.Flags().String(f.Name, "", f.Help+": 2h, 3d, 2w ago, 2026-01-31, or RFC 3339")
	check(c, func() (err error) {
		*at, err = parseMoment(c, f.Name, *text, a.Now())
		return err
	})
}

// parseMoment reads what a flag says; empty is now. The error is a UsageError of c.
func parseMoment(c *cobra.Command, flag, text string, now time.Time) (api.Moment, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if text == "" || err == nil && n > 0 {
		return api.Moment{Position: events.Position(n)}, nil
	}
	at, ok := ParseWhen(text, now)
	if !ok || err == nil { // 0 is no time ago here
		return api.Moment{}, Misused(c, "--%s %q is no position from 1 on, and no time: write 3d for so long ago, 2026-01-31, or RFC 3339", flag, text)
	}
	return api.Moment{Time: at}, nil
}
