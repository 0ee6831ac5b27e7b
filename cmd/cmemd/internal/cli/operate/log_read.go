package operate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// A recordFilter is what both readers of the log take.
type recordFilter struct {
	stream      string
	kinds       []string
	withPayload bool
}

func (f *recordFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.stream, "stream", "", "one stream: session/UUID, provider/NAME, daemon")
	c.Flags().StringSliceVar(&f.kinds, "kind", nil, "one kind, such as tool_used; may be given again")
	c.Flags().BoolVar(&f.withPayload, "payload", false, "with what happened")
}

// check refuses a kind that no record can be of.
func (f *recordFilter) check(c *cobra.Command) error {
	for _, kind := range f.kinds {
		if _, known := events.Kind(kind).Traits(); !known {
			return terminal.Misused(c, "--kind %s: there is no such kind of event; `cmemd log tail` shows the kinds of the last ones", kind)
		}
	}
	return nil
}

func (f *recordFilter) wants(r api.LogRecord) bool {
	return len(f.kinds) == 0 || slices.Contains(f.kinds, string(r.Kind))
}

func newLogCat(a *terminal.App) *cobra.Command {
	var f recordFilter
	limit := 0
	c := &cobra.Command{
		Use: "cat [FROM[-TO]]", Short: "Print records of the log, the oldest first",
		Example: "  cmemd log cat 1200-1300\n  cmemd log cat --stream daemon\n  cmemd log cat 42-42 --payload --json",
		Args:    terminal.Takes(0, 1, "one position or range"),
	}
	f.flags(c)
	c.Flags().IntVarP(&limit, "limit", "n", 0, "how many at most; 0: all")
	c.RunE = func(c *cobra.Command, args []string) error {
		from, to, ok := parseRange(strings.Join(args, ""))
		if limit < 0 {
			return terminal.Misused(c, "--limit %d: it must be 0 or more", limit)
		}
		if !ok {
			return terminal.Misused(c, "%q is no position and no range such as 1200-1300", strings.Join(args, ""))
		}
		if err := f.check(c); err != nil {
			return err
		}
		return offline.WithLog(c.Context(), a, func(log offline.Source) error {
			shown := 0
			for r, err := range pages(c.Context(), log, f, from) {
				if err != nil {
					return err
				}
				if r.Position > to || limit > 0 && shown == limit {
					break
				}
				shown++
				if err := showRecord(a, r); err != nil {
					return err
				}
			}
			if shown == 0 {
				return fmt.Errorf("%w: no such records", terminal.ErrNothing)
			}
			return nil
		})
	}
	return c
}

// parseRange reads "", "12", "12-" and "12-34" as the first and last position meant.
func parseRange(text string) (from, to events.Position, ok bool) {
	const end = 1<<64 - 1
	if text == "" {
		return 1, end, true
	}
	low, high, isRange := strings.Cut(text, "-")
	a, err := strconv.ParseUint(low, 10, 64)
	if err != nil || a == 0 {
		return 0, 0, false
	}
	if !isRange || high == "" {
		return events.Position(a), end, true
	}
	b, err := strconv.ParseUint(high, 10, 64)
	return events.Position(a), events.Position(b), err == nil && a <= b
}

// pages yields the records from a position on that f wants, asking for them page by page.
func pages(ctx context.Context, log api.Invoker, f recordFilter, from events.Position) iter.Seq2[api.LogRecord, error] {
	q := api.RecordsQuery{From: from, Limit: 1000, Stream: events.StreamID(f.stream), Payload: f.withPayload}
	if f.withPayload {
		q.Limit = api.RecordsPage // a payload may be large
	}
	return func(yield func(api.LogRecord, error) bool) {
		for {
			page, err := api.RecordsRoute.Call(ctx, log, q)
			if err != nil {
				yield(api.LogRecord{}, err)
				return
			}
			for _, r := range page.Records {
				if f.wants(r) && !yield(r, nil) {
					return
				}
			}
			if page.Next == 0 {
				return
			}
			q.From = page.Next
		}
	}
}

func newLogTail(a *terminal.App) *cobra.Command {
	var f recordFilter
	var n int
	var follow bool
	c := &cobra.Command{
		Use: "tail", Short: "Print the last records of the log, and with -f those that come", Args: terminal.Takes(0, 0, ""),
	}
	f.flags(c)
	c.Flags().IntVarP(&n, "lines", "n", 20, "how many")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until interrupted; needs the daemon")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if n < 0 {
			return terminal.Misused(c, "--lines %d: it must be 0 or more", n)
		}
		if err := f.check(c); err != nil {
			return err
		}
		if !follow {
			return offline.WithLog(c.Context(), a, func(log offline.Source) error { return tail(c.Context(), a, log, f, n, nil) })
		}
		ctx, stop := terminal.UntilClosed(c.Context(), a.Out)
		defer stop()
		return a.Stream(ctx, func(client *client.Client) error { return followRecords(ctx, a, client, f, n) })
	}
	return c
}

// tail prints the last n records that f wants, and sets last, unless nil, to the position up to which it looked.
func tail(ctx context.Context, a *terminal.App, log api.Invoker, f recordFilter, n int, last *events.Position) error {
	head, err := api.RecordsRoute.Call(ctx, log, api.RecordsQuery{From: 1, Limit: 1})
	if err != nil {
		return err
	}
	if last != nil {
		*last = head.Last
	}
	from := events.Position(1)
	if f.stream == "" && len(f.kinds) == 0 && head.Last > events.Position(n) {
		from = head.Last - events.Position(n) + 1
	}
	var ring []api.LogRecord
	for r, err := range pages(ctx, log, f, from) {
		if err != nil {
			return err
		}
		if r.Position > head.Last || n == 0 {
			break
		}
		if len(ring) == n {
			ring = ring[1:]
		}
		ring = append(ring, r)
	}
	for _, r := range ring {
		if err := showRecord(a, r); err != nil {
			return err
		}
	}
	return nil
}

func followRecords(ctx context.Context, a *terminal.App, client *client.Client, f recordFilter, n int) error {
	var last events.Position
	err := tail(ctx, a, client, f, n, &last)
	if err == nil {
		q := api.EventsQuery{
			After: last, Tail: last == 0, Stream: events.StreamID(f.stream), Kinds: strings.Join(f.kinds, ","), Payload: f.withPayload,
		}
		err = client.Events(ctx, q, func(r api.LogRecord) error { return showRecord(a, r) })
	}
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// showRecord prints one record on one line, and below it what happened, if that is there.
func showRecord(a *terminal.App, r api.LogRecord) error {
	if a.JSON {
		return a.PrintJSONLine(r)
	}
	a.Printf("%8d  %s  %-20s  %s\n", r.Position, r.RecordedAt.Local().Format("2006-01-02 15:04:05.000"), r.Kind,
		terminal.VisibleLine(fmt.Sprintf("%s@%d, %d bytes%s", r.Stream, r.Version, r.Size, marks(r))))
	switch {
	case r.Problem != "":
		a.Printf("          %s\n", terminal.VisibleLine(r.Problem))
	case len(r.Event) > 0:
		a.Printf("          %s\n", terminal.VisibleLine(string(r.Event)))
	}
	return nil
}

func marks(r api.LogRecord) string {
	text := ""
	switch {
	case r.Withheld:
		text += ", withheld"
	case r.Erased:
		text += ", erased"
	}
	if r.Unobserved {
		text += ", unobserved"
	}
	return text
}
