package operate

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/projections/outcomes"
)

const outcomesHelp = `Outcomes lists inputs, the latest first, and on standard error the balance. An input is dropped for the reason of the output
(no_xml, malformed, missing_summary), or without one: poison, refused, overflow, crowded, expired. What was dropped is kept:
` + "`cmemd reobserve`" + ` asks about it again.`

func newOutcomes(a *terminal.App) *cobra.Command {
	var q api.OutcomesQuery
	c := &cobra.Command{
		Use: "outcomes", Short: "List what became of every input: nothing is lost without being counted",
		Long:    outcomesHelp,
		Example: "  cmemd outcomes --outcome dropped\n  cmemd outcomes --outcome pending --since 1h\n  cmemd outcomes --reason crowded --project shop",
		Args:    terminal.Takes(0, 0, ""),
	}
	c.Flags().StringVar(&q.Outcome, "outcome", "", "observed, skipped, dropped, pending, forgotten")
	c.Flags().StringVar(&q.Class, "class", "", "of a dropped output: idle, xml, prose")
	c.Flags().StringVar(&q.Reason, "reason", "", "why it was skipped or dropped")
	c.Flags().StringVar(&q.Kind, "kind", "", "tool_used, context_compacted, agent_stopped")
	c.Flags().StringVar(&q.Turn, "turn", "", "what a turn was asked about: its id, or the beginning of it")
	c.Flags().StringVar(&q.Session, "session", "", "its id, ours or the agent's")
	terminal.ProjectFlag(c, &q.Project, "of a project's sessions", "")
	c.Flags().Uint64Var((*uint64)(&q.Before), "before", 0, "only those before this position of the log: the next page")
	c.Flags().IntVarP(&q.Limit, "limit", "n", 100, "how many, at most 10,000")
	terminal.OneOf(c, "outcome", outcomes.Observed, outcomes.Skipped, outcomes.Dropped, outcomes.Pending, outcomes.Forgotten)
	terminal.OneOf(c, "kind", events.KindToolUsed, events.KindContextCompacted, events.KindAgentStopped)
	terminal.OneOf(c, "class", outputClasses()...)
	terminal.UpTo(c, "limit", api.Most(q, "limit"))
	terminal.WhenFlag(a, c, &q.Since, "since", "recorded since")
	terminal.WhenFlag(a, c, &q.Until, "until", "recorded until")
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
	a.Say("%s", terminal.BalanceLine(found.Balance))
	if found.Next > 0 {
		a.Say("`--before %d` shows those before", found.Next)
	}
	return nil
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
