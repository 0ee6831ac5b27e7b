package operate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

func newProjections(a *terminal.App) *cobra.Command {
	return terminal.Group(&cobra.Command{Use: "projections", Short: "List, inspect and rebuild the views over the log"},
		newViewList(a), newViewInspect(a), newViewRebuild(a))
}

func newViewList(a *terminal.App) *cobra.Command {
	return terminal.Asking(a, &cobra.Command{Use: "list", Short: "List the views"}, api.ProjectionsRoute, nil, showViews)
}

func showViews(a *terminal.App, views []api.View) error {
	l := terminal.List{Head: []string{"NAME", "VERSION", "ROWS", "BYTES", "CHECKPOINT", "BEHIND"}}
	for _, v := range views {
		l.Add(v.Name, strconv.Itoa(v.Version), strconv.Itoa(v.Rows), terminal.Size(v.Bytes),
			strconv.FormatUint(uint64(v.Checkpoint), 10), behind(v)+terminal.VisibleLine(madeBy(v)))
	}
	a.Print(l)
	return nil
}

func behind(v api.View) string {
	if v.Rebuilding {
		return strconv.FormatUint(v.Lag, 10) + " (rebuilding)"
	}
	return strconv.FormatUint(v.Lag, 10)
}

// madeBy says of vectors what made them, and how many rows have none; of other views nothing.
func madeBy(v api.View) string {
	if v.Model == "" {
		return ""
	}
	line := fmt.Sprintf("; by %s, %d missing", v.Model, v.Missing)
	if v.Refused > 0 {
		line += fmt.Sprintf(", %d refused", v.Refused)
	}
	return line
}

func newViewInspect(a *terminal.App) *cobra.Command {
	var q api.InspectQuery
	c := &cobra.Command{
		Use: "inspect NAME [KEY]", Short: "Lay a view open: the entries whose key is, or begins with, KEY",
		Args: terminal.Takes(1, 2, "a view's name and at most one key"),
	}
	terminal.QueryFlags(a, c, &q)
	c.RunE = func(c *cobra.Command, args []string) error {
		q.Name, q.Key = args[0], strings.Join(args[1:], "")
		return terminal.Answer(c.Context(), a, api.ProjectionRoute, q, func(a *terminal.App, found api.Inspection) error {
			return showInspection(a, found, q.Key)
		})
	}
	return c
}

func showInspection(a *terminal.App, found api.Inspection, key string) error {
	if len(found.Entries) == 0 && key != "" {
		return fmt.Errorf("%w: %s has no entry %q", terminal.ErrNothing, found.Name, key)
	}
	a.Heading("%s", terminal.VisibleLine(viewLine(found.Info)))
	if len(found.Entries) == 0 {
		a.Printf("%s\n", noEntries(found.Info))
		return nil
	}
	return printEntries(a, found)
}

// viewLine says on one line what a view is and how far it has come.
func viewLine(v api.View) string {
	return fmt.Sprintf("%s: version %d, %s, %s, checkpoint %d, %s behind", v.Name, v.Version, number.Plural(v.Rows, "row"), terminal.Size(v.Bytes),
		v.Checkpoint, behind(v)) + madeBy(v)
}

// noEntries says why a view that was asked for all of its entries shows none.
func noEntries(v api.View) string {
	if v.Rows > 0 {
		return "its rows cannot be listed: `cmemd search` asks it"
	}
	return "it is empty"
}

func printEntries(a *terminal.App, found api.Inspection) error {
	l := terminal.List{Head: []string{"TABLE", "KEY", "VALUE"}}
	for _, e := range found.Entries {
		value, err := json.Marshal(e.Value)
		if err != nil {
			return err
		}
		l.Add(e.Table, e.Key, string(bytes.TrimSpace(value)))
	}
	a.Print(l)
	if found.More {
		a.Infof("there are more: `--limit %d` or a longer key", 2*len(found.Entries))
	}
	return nil
}

func newViewRebuild(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "rebuild [NAME...]", Short: "Make views anew from the log; without names all but the vectors",
		Long: "Rebuild makes views anew from the log. The old ones answer until the new ones are whole; nothing is lost.\n\n" +
			"Vectors are made anew only where they are named: each row is sent to the endpoint again, and searches go by words,\n" +
			"and by those that have come, meanwhile.",
		RunE: func(c *cobra.Command, names []string) error {
			return terminal.Await(c.Context(), a, api.RebuildRoute, "rebuilding", api.RebuildRequest{Names: names}, func(a *terminal.App, done api.Rebuilt) error {
				a.Printf("rebuilt %s up to position %d\n", terminal.VisibleLine(strings.Join(done.Views, ", ")), done.Position)
				return nil
			})
		},
	}
}
