package operate

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/projections/outcomes"
)

const outcomesHelp = `Outcomes lists inputs, the latest first, and on standard error the balance. An input is dropped for the reason of the output
(no_xml, malformed, missing_summary), or without one: poison, refused, overflow, crowded, expired. What was dropped is kept:
` + "`cmemd reobserve`" + ` asks about it again. How a dropped output begins stands below; --turn shows all that a turn answered.`

func newOutcomes(a *terminal.App) *cobra.Command {
	var q api.OutcomesQuery
	c := &cobra.Command{
		Use: "outcomes", Short: "List what became of every input: nothing is lost without being counted",
		Long:    outcomesHelp,
		Example: "  cmemd outcomes --outcome dropped\n  cmemd outcomes --outcome pending --since 1h\n  cmemd outcomes --reason crowded --project shop",
		Args:    terminal.Takes(0, 0, ""),
	}
	terminal.QueryFlags(a, c, &q)
	terminal.OneOf(c, "class", outputClasses()...)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return terminal.AdviseNames(terminal.Answer(c.Context(), a, api.OutcomesRoute, q, showOutcomes), q.Turn, q.Session)
	}
	return c
}

// outputClasses are the classes of an output.
func outputClasses() []observer.Class {
	return []observer.Class{observer.ClassIdle, observer.ClassXML, observer.ClassProse}
}

func showOutcomes(a *terminal.App, found api.Outcomes) error {
	if len(found.Inputs) == 0 {
		return fmt.Errorf("%w: no such inputs", terminal.ErrNothing)
	}
	l := terminal.List{Head: []string{"POSITION", "KIND", "WHEN", "OUTCOME", "REASON", "PROVIDER", "SESSION", "TURN"}}
	for _, in := range found.Inputs {
		l.Add(strconv.FormatUint(uint64(in.Position), 10), string(in.Kind), terminal.Moment(in.At), string(in.Outcome), reasonOf(in),
			found.Turns[in.Turn].Provider, a.ShownSession(in.Session), optionalID(a, in))
	}
	a.Print(l)
	showSaid(a, found)
	a.Infof("%s", terminal.BalanceLine(found.Balance))
	if found.Next > 0 {
		a.Infof("`--before %d` shows those before", found.Next)
	}
	return nil
}

// showSaid shows what was answered: the beginning of what was dropped, and all of what the turn said that was asked for.
func showSaid(a *terminal.App, found api.Outcomes) {
	shown := map[events.ID]bool{}
	for _, in := range found.Inputs {
		said := found.Turns[in.Turn]
		if shown[in.Turn] || in.Outcome != outcomes.Dropped || said.Preview.IsZero() || !said.Output.IsZero() {
			continue
		}
		if len(shown) == 0 {
			a.Printf("\n%s\n", "What was dropped begins:")
		}
		shown[in.Turn] = true
		a.Printf("  %s  %s\n", a.ShownID(in.Turn), terminal.VisibleLine(said.Preview.RawText()))
	}
	for id, said := range found.Turns {
		if !said.Output.IsZero() { // of one turn at most
			a.Printf("\n%s answered, in %s:\n%s\n", a.ShownID(id), number.Plural(said.Output.Len(), "byte"), terminal.Visible(said.Output.RawText()))
		}
	}
}

func reasonOf(in api.Input) string {
	switch {
	case in.Reobserve:
		return "to be observed again"
	case in.Class != "":
		return in.Class + "/" + in.Reason
	}
	return in.Reason
}

func optionalID(a *terminal.App, in api.Input) string {
	if in.Turn == (events.ID{}) || in.Outcome == outcomes.Pending {
		return ""
	}
	return a.ShownID(in.Turn)
}
