package operate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/number"
)

const reobserveHelp = `Reobserve asks the observer again about inputs whose answers came to nothing, or were not good. The conditions hold all
together. What is answered takes the place of what the same inputs gave before: that stays in the log, is neither found nor
injected any more, and ` + "`cmemd why`" + ` leads to it.

An answer that comes to nothing takes no memory away. What was kept or skipped before stays so; what was dropped is dropped
still, now by the new turn and for its reason: inputs that are asked about together share their answer. A blank answer takes
no memory away either; its inputs count as skipped.

The work is the daemon's: an interrupt ends the waiting, not the work.`

// A reobserveCommand is the flags of the command.
type reobserveCommand struct {
	q      api.ReobserveRequest
	noWait bool
}

func newReobserve(a *terminal.App) *cobra.Command {
	var r reobserveCommand
	c := &cobra.Command{
		Use: "reobserve", Short: "Ask again about what came to nothing, or was not answered well", Long: reobserveHelp,
		Example: "  cmemd reobserve --dropped --dry-run\n  cmemd reobserve --dropped\n  cmemd reobserve --turn 01a1fa47-2048-7378",
		Args:    terminal.Takes(0, 0, ""),
	}
	terminal.QueryFlags(a, c, &r.q)
	terminal.NotBlank(c, "turn", "session", "project", "class", "reason", "since", "until")
	c.Flags().BoolVar(&r.noWait, "no-wait", false, "do not wait for the answers")
	terminal.OneOf(c, "class", outputClasses()...)
	terminal.MustComplete(c, "provider", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return configuredProviders(a), cobra.ShellCompDirectiveNoFileComp
	})
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if q := r.q; !q.Dropped && q.Turn+q.Session+q.Project+q.Class+q.Reason == "" && q.Since.IsZero() && q.Until.IsZero() {
			return terminal.Misused(c, "say what to ask about again: --dropped, --turn, --session, --project, --class, --reason, --since or --until")
		}
		return a.Stream(c.Context(), func(client *client.Client) error { return reobserve(c.Context(), a, client, r) })
	}
	return c
}

// configuredProviders lists those whom the settings name.
func configuredProviders(a *terminal.App) []string {
	l, err := config.ForHome(a)
	if err != nil {
		return nil
	}
	return l.ConfiguredProviders()
}

// reobserve says what it is about to ask for, asks, and waits for the answers.
func reobserve(ctx context.Context, a *terminal.App, client api.Invoker, r reobserveCommand) error {
	dry := r.q
	dry.DryRun = true
	plan, err := api.ReobserveRoute.Call(ctx, client, dry, nil)
	if err != nil {
		return terminal.AdviseNames(err, r.q.Turn, r.q.Session)
	}
	if plan.Inputs+plan.Asked == 0 {
		return a.Report(plan, func(*terminal.App) error {
			return fmt.Errorf("%w: no inputs to be asked about again", terminal.ErrNothing)
		})
	}
	if r.q.DryRun {
		return a.Show(plan, func() { showPlan(a, plan) })
	}
	a.Infof("%s", planLine(plan))
	if !r.noWait {
		return awaitReobserved(ctx, a, client, r.q, plan.Inputs+plan.Asked)
	}
	done, err := api.ReobserveRoute.Call(ctx, client, r.q, nil)
	if err != nil {
		return err
	}
	return a.Report(done, func(a *terminal.App) error { return showReobserved(a, done) })
}

func awaitReobserved(ctx context.Context, a *terminal.App, client api.Invoker, q api.ReobserveRequest, inputs int) error {
	q.Wait = true
	m := a.Meter("observing again", int64(inputs), false)
	asked := false
	done, err := api.ReobserveRoute.Call(ctx, client, q, func(p api.Progress) {
		asked = true
		m.Set(p.Done, p.Total)
	})
	m.End()
	switch {
	case ctx.Err() != nil:
		return reportInterrupted(ctx, a, client, err)
	case err != nil && asked:
		return terminal.Advise(fmt.Errorf("nobody waits for the answers any more: %w", err),
			"what was asked for is on record and need not be asked for again: it is answered once the daemon runs; `cmemd start` "+
				"starts it, `cmemd status` counts what is still to be observed again")
	case err != nil:
		return err
	}
	return a.Report(done, func(a *terminal.App) error { return showReobserved(a, done) })
}

// leaveWait is how long the daemon may take to tell somebody who goes what it goes on with.
const leaveWait = 2 * time.Second

// interruptedWait is what an interrupted wait answers with in JSON.
type interruptedWait struct {
	Interrupted bool `json:"interrupted"`
	Reobserve   int  `json:"reobserve"` // inputs still to be observed again, whoever asked
}

// reportInterrupted says to who waits no longer what goes on without them. Where nothing does, it is interrupted.
func reportInterrupted(ctx context.Context, a *terminal.App, client api.Invoker, interrupted error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWait)
	defer cancel()
	s, err := api.StatusRoute.Call(ctx, client, api.NoQuery{})
	if err != nil || s.Inputs.Reobserve == 0 {
		return interrupted
	}
	return a.Show(interruptedWait{true, s.Inputs.Reobserve}, func() {
		a.Infof("the daemon goes on: %s still to be observed again, as `cmemd status` says", number.Plural(s.Inputs.Reobserve, "input"))
	})
}

// planLine says on one line what is asked for.
func planLine(p api.Reobserved) string {
	line := fmt.Sprintf("asking again about %s of %s, in about %s: %s", number.Plural(p.Inputs, "input"), number.Plural(p.Sessions, "session"),
		number.Plural(p.Turns, "turn"), terminal.Size(p.Bytes))
	if p.Tokens > 0 {
		line += fmt.Sprintf(", about %s", number.Plural(p.Tokens, "token"))
	}
	if p.Asked > 0 {
		line += fmt.Sprintf("; %d more were asked for before", p.Asked)
	}
	if p.More {
		line += "; that is as much as is taken at once: run it again for the rest"
	}
	return line
}

func showPlan(a *terminal.App, p api.Reobserved) {
	a.Field("inputs", fmt.Sprint(p.Inputs))
	if p.Asked > 0 {
		a.Field("asked before", number.Plural(p.Asked, "input")+", not answered yet and not asked for twice")
	}
	a.Field("sessions", fmt.Sprint(p.Sessions))
	a.Field("turns", fmt.Sprintf("about %d", p.Turns))
	a.Field("provider", strings.TrimSpace(p.Provider+" "+p.Model))
	a.Field("bytes", terminal.Size(p.Bytes))
	a.Field("tokens", fmt.Sprintf("about %d (%s)", p.Tokens, p.Estimate))
	if p.USD > 0 {
		a.Field("cost", "about "+terminal.Dollars(p.USD))
	}
	if p.More {
		a.Field("more", "there are more than one request takes: run it again for the rest")
	}
	a.Infof("nothing was asked: without --dry-run it is")
}

// showReobserved says what became of a request. Answers that are held up are an error: somebody waited for them.
func showReobserved(a *terminal.App, done api.Reobserved) error {
	a.Printf("%s\n", terminal.VisibleLine(reobservedLine(done)))
	for _, r := range done.Refused {
		a.Infof("session %s was left out: %s", r.Session, terminal.VisibleLine(r.Detail))
	}
	switch {
	case len(done.Stopped) > 0:
		return terminal.Advise(fmt.Errorf("the rest has to wait: %s", strings.Join(done.Stopped, "; ")),
			"nothing is lost: it is answered when that is over; `cmemd status` counts what is still to be observed again")
	case len(done.Refused) > 0:
		return terminal.Advise(fmt.Errorf("%s took no request", number.Plural(len(done.Refused), "session")), "`cmemd logs` says more")
	}
	return nil
}

func reobservedLine(done api.Reobserved) string {
	line := number.Plural(done.Inputs, "input") + " asked for again"
	n := done.Answers
	if n == nil {
		return line
	}
	line += fmt.Sprintf(": %d observed, %d skipped", n.Observed, n.Skipped)
	if n.Blank > 0 {
		line += fmt.Sprintf(", %d blank (skipped; what was there before stands)", n.Blank)
	}
	if n.Dropped > 0 {
		line += fmt.Sprintf(", %d came to nothing again", n.Dropped)
	}
	if n.Waiting > 0 {
		line += fmt.Sprintf(", %d not answered yet", n.Waiting)
	}
	return line
}
