package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/setting"
)

const compareHelp = `Compare has two observers work through the newest sessions that are on record, each from the beginning, and shows side by side
what they wrote down, with what it cost, so that you can choose. An observer is the name of a provider, or NAME:MODEL. Where one
asks a model, the work is counted first, and you are asked before anything is sent.

What they write goes into this report alone: nothing of it becomes memory, the log is only read, and neither ` + "`cmemd usage`" + ` nor a
budget counts what it cost. Commit claims are not looked up. It ends with 1 if an observer could not go on.`

// compareFlags is what a comparison is asked for.
type compareFlags struct {
	sessions int
	yes      bool
}

// mostCompared is how many sessions one comparison may take.
const mostCompared = 100

func newCompare(a *terminal.App) *cobra.Command {
	f := compareFlags{}
	c := &cobra.Command{
		Use: "compare OBSERVER OBSERVER", Short: "Have two observers work on the same sessions, and show what each wrote", Long: compareHelp,
		Example: "  cmemd observer compare extractive claude-cli --sessions 3\n  cmemd observer compare openai:gpt-5-mini openai:gpt-5 --json",
		Args:    terminal.Takes(2, 2, "two observers"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return setting.ProviderNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().IntVar(&f.sessions, "sessions", 3, "how many of the newest sessions, at most 100")
	c.Flags().BoolVar(&f.yes, "yes", false, "ask models without a question")
	c.RunE = func(c *cobra.Command, names []string) error {
		if f.sessions < 1 || f.sessions > mostCompared {
			return terminal.Misused(c, "--sessions %d is not 1 to %d", f.sessions, mostCompared)
		}
		return compare(c.Context(), a, names, f)
	}
	return c
}

// compare has the observers of two names work on the newest sessions, and reports what came of it.
func compare(ctx context.Context, a *terminal.App, names []string, f compareFlags) error {
	ctx, stop := terminal.UntilHangup(ctx)
	defer stop()
	p, err := homedir.Of(a)
	if err != nil {
		return err
	}
	var report func() error
	err = p.WithScratch(ctx, func(ctx context.Context, dir string) (err error) {
		report, err = compareIn(ctx, dir, a, names, f)
		return err
	})
	switch {
	case errors.Is(err, curation.ErrWordsForgotten):
		return terminal.Advise(err, "start it again: it reads what is left")
	case err != nil:
		return err
	}
	return report()
}

// compareIn is compare with a folder for what the observers write. What it came to is shown by report.
func compareIn(ctx context.Context, dir string, a *terminal.App, names []string, f compareFlags) (report func() error, err error) {
	var both []*comparedObserver
	for i, name := range names {
		one, err := newComparedObserver(a, name, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return nil, err
		}
		defer one.built.Close()
		both = append(both, one)
	}
	var captured [][]events.Record
	err = offline.WithLog(ctx, a, func(log offline.Source) error {
		captured, err = newestSessions(ctx, log, f.sessions)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(captured) == 0 {
		return nil, fmt.Errorf("%w: no session has anything to observe", terminal.ErrNothing)
	}
	estimates, err := announce(ctx, a, both, captured)
	if err != nil {
		return nil, err
	}
	if len(estimates) > 0 {
		if ok, err := a.Confirm(ctx, "Ask?", "sent", false, f.yes); !ok {
			return func() error { return a.Show(unsent{Estimates: estimates}, func() {}) }, err
		}
	}
	return observeBoth(ctx, a, both, captured)
}

// observeBoth has each of the observers work on what was captured. What came of it is shown by report.
func observeBoth(
	ctx context.Context, a *terminal.App, both []*comparedObserver, captured [][]events.Record,
) (report func() error, err error) {
	out := newComparison(both, captured)
	var failed []error
	for i, one := range both {
		if err := one.observe(ctx, a, captured, out.rows(i)); err != nil {
			one.Failure = terminal.Describe(err)
			failed = append(failed, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return func() error {
		return a.Report(out, func(a *terminal.App) error {
			out.show(a)
			return terminal.Advise(errors.Join(failed...), "`cmemd observer test --provider NAME` says more of one")
		})
	}, nil
}

// newestSessions returns what was captured of the newest sessions that have anything to observe, the oldest of them first.
func newestSessions(ctx context.Context, log offline.Source, n int) ([][]events.Record, error) {
	last := map[events.StreamID]events.Position{}
	for r, err := range offline.Records(ctx, log) {
		if err != nil {
			return nil, err
		}
		if r.IsInput() {
			last[r.Stream] = r.Position
		}
	}
	streams := slices.SortedFunc(maps.Keys(last), func(a, b events.StreamID) int { return cmp.Compare(last[a], last[b]) })
	streams = streams[max(len(streams)-n, 0):]
	all := make([][]events.Record, len(streams))
	for r, err := range offline.Records(ctx, log) {
		if err != nil {
			return nil, err
		}
		if i := slices.Index(streams, r.Stream); i >= 0 && isCaptured(r.Kind) {
			all[i] = append(all[i], r)
		}
	}
	return all, nil
}

// unsent is the answer where nobody said yes.
type unsent struct {
	Sent      bool     `json:"sent"`      // false
	Estimates []string `json:"estimates"` // what it would have come to
}

// announce counts the work of those that ask a model, and says what it comes to.
func announce(ctx context.Context, a *terminal.App, both []*comparedObserver, captured [][]events.Record) (estimates []string, err error) {
	for _, c := range both {
		if !c.asksModel() {
			continue
		}
		line, err := c.estimate(ctx, captured)
		if err != nil {
			return nil, err
		}
		a.Infof("%s", line)
		estimates = append(estimates, line)
	}
	return estimates, nil
}
