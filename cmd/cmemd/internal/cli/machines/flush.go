package machines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

const flushHelp = `Flush returns once all that this machine has recorded is in the store, from where the others take it: the last step before a disk goes, as
in CI. Where that does not come about in time it says what is missing, and ends with 1; nothing is lost by that while the disk stays.`

func newFlush(a *terminal.App) *cobra.Command {
	wait := 30 * time.Second
	c := &cobra.Command{
		Use: "flush", Short: "Wait until all that was recorded here is in the store", Long: flushHelp, Args: terminal.Takes(0, 0, ""),
		Example: "  cmemd flush --wait 30s",
	}
	c.Flags().DurationVar(&wait, "wait", wait, "for how long")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if wait <= 0 {
			return terminal.Misused(c, "--wait %s: it must be above 0", wait)
		}
		return flush(c.Context(), a, wait)
	}
	return c
}

func flush(ctx context.Context, a *terminal.App, wait time.Duration) error {
	if _, err := joined(ctx, a); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	done, err := terminal.Work(limited, a, "flushing", api.ClusterFlushRoute, api.NoQuery{})
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return errUnflushed(ctx, a, wait)
	}
	if err != nil {
		return err
	}
	return a.ShowLine(done, "all is in the store, up to record %d\n", done.Position)
}

// errUnflushed says what is not in the store, and why.
func errUnflushed(ctx context.Context, a *terminal.App, wait time.Duration) error {
	err := fmt.Errorf("not all is in the store after %s", wait)
	if c, asked := ask(ctx, a); asked == nil && c.Status != nil {
		err = fmt.Errorf("%w: %s %s missing", err, number.Plural(c.Status.Own.Records, "record"), number.IsOrAre(c.Status.Own.Records))
	}
	return terminal.Advise(err, "`cmemd status --cluster` says why; what is missing is in this machine's log, and goes out when the store answers")
}
