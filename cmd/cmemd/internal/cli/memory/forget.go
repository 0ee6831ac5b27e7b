package memory

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/cli/machines"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/number"
)

const forgetHelp = `Forget erases for good: what is named, what the observer answered about it, and every memory that was made of it. It first
shows what would go, and asks. Without a terminal it only shows, unless --yes is given. The conditions hold all together.

When it is done, the words are in no file of CMEMD_HOME: the log, the views and the search index are written anew. What
stays is structure: that something was there, when, in which session and folder, and how long it was; ` + "`cmemd log verify`" + ` still
holds. Not reached are backups and exports that you made, and the agents' own transcripts.

What is named by id goes with what it was made of: a prompt with the work that it asked for, an observation with the inputs
of its turn, a memory with its corrections. --query looks for a text literally, letter case aside, in all that was captured and
not only in memory; inputs that do not hold it stay, and ` + "`cmemd reobserve`" + ` makes new memory of them.

Only you forget, in a terminal of yours. What an agent wants forgotten, in its shell or by its tools, is kept as a request: it is in no
search and in nothing that sessions are given, and nothing is erased, until you --approve or --refuse it, or thirty days have passed.`

// A forgetCommand is the flags of the command.
type forgetCommand struct {
	q   api.ForgetRequest
	yes bool

	listOpen        bool
	approve, refuse string // the name or id of a request
}

func newForget(a *terminal.App) *cobra.Command {
	var f forgetCommand
	c := &cobra.Command{
		Use: "forget [ID...]", Short: "Erase memory for good, with all that it was made of", Long: forgetHelp,
		Example: "  cmemd forget m41\n  cmemd forget --requests\n  cmemd forget --approve f57\n  cmemd forget --approve all\n  cmemd forget --refuse all\n  cmemd forget --query \"hunter2\"\n  cmemd forget --session 4f1c --yes\n  cmemd forget --project shop --since 2026-01-31 --until 2026-02-01 --dry-run",
	}
	terminal.QueryFlags(a, c, &f.q)
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&f.listOpen, "requests", false, "list what agents asked to forget, and you have not answered")
	c.Flags().StringVar(&f.approve, "approve", "", "erase what an agent asked to forget, by the name of the request; all: every one, after they were shown")
	c.Flags().StringVar(&f.refuse, "refuse", "", "show again what an agent asked to forget, by the name of the request; all: every one, after they were shown")
	terminal.NotBlank(c, "query", "session", "project", "since", "until", "approve", "refuse")
	terminal.NotTogether(c, "requests", "approve", "refuse")
	c.RunE = func(c *cobra.Command, ids []string) (err error) {
		f.q.IDs = ids
		if f.listOpen || f.approve+f.refuse != "" {
			return f.answer(c, a)
		}
		if f.q.ChoosesNothing() {
			return terminal.Misused(c, "say what to forget: an id, --query, --session, --project, --since or --until")
		}
		return a.Stream(c.Context(), func(client *client.Client) error { return forget(c.Context(), a, client, f) })
	}
	return c
}

// forget shows what would go, asks, and has it erased.
func forget(ctx context.Context, a *terminal.App, client api.Invoker, f forgetCommand) error {
	plan, err := api.ForgetPlanRoute.Call(ctx, client, f.q.Plan(), nil)
	if err != nil {
		return terminal.AdviseNames(err, "", f.q.Session)
	}
	if plan.Records+plan.Spooled == 0 {
		why := "nothing that could be forgotten"
		if plan.Unfinished {
			why += "; what was forgotten before is not gone from all files yet: `cmemd status` says when it is"
		}
		return a.Report(plan, func(*terminal.App) error { return fmt.Errorf("%w: %s", terminal.ErrNothing, why) })
	}
	f.q.Through = plan.Position
	return f.erase(ctx, a, plan, func(m *terminal.Meter) (api.Forgotten, error) {
		return api.ForgetRoute.Call(ctx, client, f.q, m.Progress)
	})
}

// erase shows what would go, asks, and has it erased by do.
func (f forgetCommand) erase(ctx context.Context, a *terminal.App, plan api.ForgetPlan, do func(*terminal.Meter) (api.Forgotten, error)) error {
	if a.JSON && (f.q.DryRun || !f.yes) {
		return a.PrintJSON(plan)
	}
	if !a.JSON {
		showForgetPlan(a, plan)
	}
	switch ok, err := a.Confirm(ctx, "Erase all of this for good?", "forgotten", f.q.DryRun, f.yes); {
	case err != nil:
		return err
	case !ok:
		return nil
	}
	done, err := terminal.Measured(a, "forgetting", do)
	if err != nil {
		return terminal.Advise(err, "what was begun is tried again until it is done: `cmemd status` says when it is")
	}
	return a.Report(done, func(a *terminal.App) error { return showForgotten(a, done) })
}

func showForgetPlan(a *terminal.App, p api.ForgetPlan) {
	a.Heading("what would go")
	a.Field("records", fmt.Sprintf("%d, %s: %s", p.Records, terminal.Size(p.Bytes), kindCounts(p.Kinds)))
	if p.Spooled > 0 {
		a.Field("files", number.Plural(p.Spooled, "payload")+" that hooks kept or that were put aside")
	}
	showUnopened(a, p.Unopened)
	a.Printf("\n")
	for _, sh := range p.Sessions {
		name := "saved by hand"
		if !sh.Session.IsZero() {
			name = strings.TrimSpace(fmt.Sprintf("session %s %s %s", a.ShownSession(sh.Session), sh.Agent, sh.Project))
		}
		a.Printf("  %s: %s\n", terminal.VisibleLine(name), number.Plural(sh.Records, "record"))
	}
	showSamples(a, "for instance", p.Sample)
	if len(p.Stays) > 0 {
		showSamples(a, fmt.Sprintf("what stays, though some of it was made of that (%d): it does not say it, or other memory was made of it too", p.Kept), p.Stays)
	}
	a.Printf("\n")
}

func showSamples(a *terminal.App, head string, list []api.ForgetSample) {
	if len(list) == 0 {
		return
	}
	a.Printf("\n")
	a.Heading("%s", head)
	for _, s := range list {
		id := ""
		if s.ID != (events.ID{}) {
			id = a.ShownRow(s.ID, s.Handle) + " "
		}
		a.Printf("  %-8d  %s  %s  %s%s\n", s.Position, terminal.Moment(s.At), cmp.Or(recordWord(s.Kind), string(s.Kind)), id, terminal.VisibleLine(s.Text))
	}
}

// kindCounts says how many there are of each kind, the most first.
func kindCounts(kinds map[events.Kind]int) string {
	var parts []string
	for _, k := range terminal.MostFirst(kinds) {
		if word := recordWord(k); word != "" {
			parts = append(parts, number.Plural(kinds[k], word))
		} else {
			parts = append(parts, fmt.Sprintf("%d %s", kinds[k], k))
		}
	}
	return strings.Join(parts, ", ")
}

// recordWord is what a person calls a record of a kind; empty for a kind that has no such word.
func recordWord(k events.Kind) string {
	return map[events.Kind]string{
		events.KindPromptSubmitted: "prompt", events.KindToolUsed: "tool use", events.KindAgentStopped: "last message",
		events.KindAgentSaid:        "remark",
		events.KindContextCompacted: "compaction", events.KindTurnReceived: "observer answer", events.KindTurnFailed: "failed turn",
		events.KindOutputDropped: "dropped output", events.KindOutputSkipped: "skipped output",
		events.KindObservationParsed: "observation", events.KindSummaryParsed: "summary", events.KindMemorySaved: "saved memory",
		events.KindPreferenceStated: "preference",
		events.KindClaimChecked:     "recheck",
	}[k]
}

// showUnopened names the files beside the log of which nobody can tell whether they are meant.
func showUnopened(a *terminal.App, names []string) {
	if len(names) > 0 {
		a.Field("unopened", number.Plural(len(names), "payload")+" in the spool, whose key is lost: "+strings.Join(names, ", "))
	}
}

func butAside(aside []homedir.AsideFile) string {
	if len(aside) == 0 {
		return ""
	}
	return ", but for what was set aside and is yours to remove"
}

func showForgotten(a *terminal.App, done api.Forgotten) error {
	if done.Request != nil || done.Others > 0 {
		showRequested(a, done)
		return nil
	}
	if done.Position == 0 && done.Spooled+done.Asked+len(done.Refused) == 0 {
		a.Printf("forgotten: nothing; what fits is gone by now, or, of an agent's command, of another project than this folder's\n")
		return nil
	}
	line := fmt.Sprintf("forgotten: %s of %s", number.Plural(done.Records, "record"), number.Plural(done.Sessions, "session"))
	if done.Asked > 0 {
		line += ", and " + number.Plural(done.Asked, "record") + " of other machines"
	}
	if done.Spooled > 0 {
		line += ", " + number.Plural(done.Spooled, "file")
	}
	aside := homedir.AsideFiles(a)
	gone := "their words are in no file of this home any more"
	if done.Unread > 0 {
		gone = "their words are gone from all that could be read"
	}
	a.Printf("%s; %s%s\n", line, gone, butAside(aside))
	for _, f := range aside {
		a.Field("aside", f.Path+": "+f.What)
	}
	showUnopened(a, done.Unopened)
	if done.Elsewhere != nil {
		a.Printf("%s\n", machines.ElsewhereLine(*done.Elsewhere, a.Now()))
	}
	a.Infof("backups and exports that you made, and the agents' own transcripts, are yours to look after")
	if done.Unread > 0 {
		return terminal.Advise(fmt.Errorf("the log is damaged: %s could not be read, and may say it too", number.Plural(done.Unread, "record")),
			"once `cmemd log salvage` has saved them, forget again")
	}
	if len(done.Refused) > 0 {
		return terminal.Advise(fmt.Errorf("%s could not be asked to forget", number.Plural(len(done.Refused), "session")),
			"it is tried again, and `cmemd status` says when it is done; `cmemd logs` says more")
	}
	return nil
}
