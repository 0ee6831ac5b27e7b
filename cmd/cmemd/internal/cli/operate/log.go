package operate

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/cli/machines"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

func newLog(a *terminal.App) *cobra.Command {
	return terminal.Group(&cobra.Command{
		Use: "log", Short: "Read, check and copy the log itself",
		Long: "The log is the only truth there is; all else is made from it. These commands ask the daemon, or read the file\nwhere no daemon runs.",
	}, newLogTail(a), newLogCat(a), newLogVerify(a), newLogStats(a), newLogExport(a), newLogImport(a), newLogBackup(a), newLogSalvage(a), newLogAnew(a))
}

const verifyHelp = `Verify checks order, chain and payload of every record, and then counts anew, from the records alone, what became of every
input: captured = observed + skipped + dropped + pending + forgotten. A running daemon's views are set beside that. What a salvage did
not find is listed; it is no damage of this log. The exit code is 1 if the log is damaged or the balance does not add up; the error, and "ok" beside "reason" or "discrepancies" with
--json, say which.`

func newLogVerify(a *terminal.App) *cobra.Command {
	fleet := false
	c := &cobra.Command{
		Use: "verify", Short: "Check every record and the balance of the inputs; exit code 1 if something is wrong",
		Long: verifyHelp, Args: terminal.Takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if fleet {
				return machines.Verify(c.Context(), a)
			}
			return offline.WithLog(c.Context(), a, func(log offline.Source) error {
				v, err := terminal.Measured(a, "verifying", func(m *terminal.Meter) (api.Verified, error) {
					return api.VerifyRoute.Call(c.Context(), log, api.NoQuery{}, m.Progress)
				})
				if err != nil {
					return err
				}
				return a.Report(v, func(a *terminal.App) error { return showVerified(a, v) })
			})
		},
	}
	c.Flags().BoolVar(&fleet, "fleet", false, "all that machines share: signatures and links in the store, and the copies here")
	return c
}

func showVerified(a *terminal.App, v api.Verified) error {
	if v.Damaged() {
		return terminal.Advise(fmt.Errorf("the log is damaged %s: %s", v.Place(), v.Reason), terminal.SalvageStep)
	}
	a.Printf("the log is whole: %s checked\n", number.Plural(v.Records, "record"))
	showGaps(a, v)
	showBalance(a, v)
	if v.OK {
		return nil
	}
	return terminal.Advise(fmt.Errorf("the balance does not add up at %s", number.Plural(len(v.Discrepancies)+v.More, "place")), "%s", balanceStep(v))
}

// showGaps says what a salvage did not find.
func showGaps(a *terminal.App, v api.Verified) {
	if v.Lost > 0 {
		a.Printf("lost before a salvage: %s, at %s\n", number.Plural(v.Lost, "record"), events.SpansText(v.LostAt))
	}
	if v.Unread > 0 {
		a.Printf("without words since a salvage: %s, at %s\n", number.Plural(v.Unread, "record"), events.SpansText(v.UnreadAt))
	}
}

// showBalance prints what was counted anew, and whatever counts otherwise.
func showBalance(a *terminal.App, v api.Verified) {
	if b := v.Balance; b != nil {
		a.Printf("balance: %s\n", terminal.BalanceLine(api.Balance{Balance: *b}))
	}
	if v.Unchecked != "" {
		a.Printf("not checked: %s\n", v.Unchecked)
	}
	for _, d := range v.Discrepancies {
		a.Printf("  %s\n", terminal.VisibleLine(d.String()))
	}
	if v.More > 0 {
		a.Printf("  and %d more\n", v.More)
	}
}

// balanceStep says what to do about a balance that does not add up: views can be made anew, a log cannot.
func balanceStep(v api.Verified) string {
	for _, d := range v.Discrepancies {
		if d.In == api.InLog {
			return "nothing is lost: the log holds what happened; report this, with `cmemd log export`"
		}
	}
	return "the views are wrong, not the log: `cmemd projections rebuild outcomes` makes them anew"
}

func newLogStats(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Say how much the log holds", Args: terminal.Takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return offline.WithLog(c.Context(), a, func(log offline.Source) error {
				s, err := api.LogStatsRoute.Call(c.Context(), log, api.NoQuery{})
				if err != nil {
					return err
				}
				return a.Show(s, func() {
					a.Field("records", strconv.FormatUint(uint64(s.Last), 10)) // s.Records are those since it was opened
					a.Field("streams", strconv.Itoa(s.Streams))
					a.Field("file", terminal.Size(s.FileBytes))
					if s.FreeBytes > 0 {
						a.Field("unused", terminal.Size(s.FreeBytes))
					}
				})
			})
		},
	}
}
