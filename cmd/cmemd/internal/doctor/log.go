package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/refusal"
)

// quickRecords is how many of the newest records the quick check reads: what a crash or a bad disk may have hit.
const quickRecords = 1000

// checkLog looks at the newest records: that they follow each other, and that each stream's chain goes on in them.
func checkLog(ctx context.Context, x *examination) []finding {
	const mend = "`cmemd log verify` checks every record; " + terminal.SalvageStep
	if s := x.status; s != nil && s.Damage != nil {
		return []finding{faulty(terminal.SalvageStep, "%s", refusal.DamagedAt(s.Damage.Position))}
	}
	n := 0
	last, err := x.newest(ctx, quickRecords, func(log offline.Source, records []api.LogRecord) error {
		n = len(records)
		if err := follows(records); err != nil {
			return err
		}
		if file, ok := log.(*offline.Log); ok {
			return errors.Join(headsAre(ctx, file, records), payloadsAre(ctx, file, records))
		}
		return nil // the daemon holds its heads to the records at every append, and reads payloads all the time
	})
	var locked *eventlog.LockedError
	switch {
	case errors.Is(err, terminal.ErrNothing):
		return []finding{note("`cmemd start` makes one", "there is none yet")}
	case errors.Is(err, eventlog.ErrClosed):
		return []finding{unknown("a daemon that starts has just taken it")}
	case errors.Is(err, homedir.ErrLogLost), errors.Is(err, homedir.ErrLogAway), errors.Is(err, eventlog.ErrNewerFormat):
		return []finding{faulty(terminal.NextStep(err), "%s", terminal.Describe(err))}
	case errors.As(err, &locked):
		return []finding{unknown("%s", terminal.Describe(err))}
	case errors.Is(err, events.ErrCorrupt), errors.Is(err, errChain):
		return []finding{faulty(mend, "%s", terminal.Describe(err))}
	case err != nil && x.status == nil && !errors.Is(x.daemon, api.ErrNotRunning):
		return []finding{unknown("the daemon has it, and does not answer")}
	case err != nil:
		return []finding{faulty(mend, "%s", terminal.Describe(err))}
	}
	return []finding{healthy("%s", orderLine(last, n))}
}

// orderLine says how much of a log that ends at last was looked at.
func orderLine(last events.Position, n int) string {
	line := fmt.Sprintf("position %d; the last %d records are in order", last, n)
	if n == 1 {
		line = fmt.Sprintf("position %d; its one record is in order", last)
	}
	if before := int(last) - n; before > 0 {
		line += fmt.Sprintf("; the %d before them were not looked at: `cmemd log verify` does", before)
	}
	return line
}

// newest hands the n newest records of this machine's log, wherever it is open, to use, and returns the position of the last.
func (x *examination) newest(ctx context.Context, n int, use func(offline.Source, []api.LogRecord) error) (last events.Position, err error) {
	if errors.Is(x.daemon, api.ErrNoAnswer) { // asked once already
		return 0, x.daemon
	}
	ctx, cancel := context.WithTimeout(ctx, terminal.AnswerWait)
	defer cancel()
	err = offline.WithLog(ctx, x.app, func(log offline.Source) error {
		head, err := api.RecordsRoute.Call(ctx, log, api.RecordsQuery{From: 1, Limit: 1, Own: true})
		if err != nil {
			return err
		}
		from := events.Position(1)
		if last = head.Last; last > events.Position(n) {
			from = last - events.Position(n) + 1
		}
		got, err := api.RecordsRoute.Call(ctx, log, api.RecordsQuery{From: from, Limit: n, Own: true})
		if err != nil {
			return err
		}
		return use(log, got.Records)
	})
	return last, err
}

// newestRecord is when the log's newest record was recorded; zero if there is none.
func (x *examination) newestRecord() (at time.Time, err error) {
	_, err = x.newest(context.Background(), 1, func(_ offline.Source, records []api.LogRecord) error {
		if len(records) > 0 {
			at = records[len(records)-1].RecordedAt
		}
		return nil
	})
	return at, err
}

// errChain is a record that does not follow the one before it.
var errChain = errors.New("the log is damaged")

// follows reports whether records, which are neighbours, follow each other: positions without a gap, times that do not go
// back, and in each stream versions, back-pointers and chains. The first record of a stream is taken as it is, unless the
// stream begins with it.
func follows(records []api.LogRecord) error {
	streams := map[events.StreamID]api.LogRecord{}
	for i, r := range records {
		if i > 0 && (r.Position != records[i-1].Position+1 || r.RecordedAt.Before(records[i-1].RecordedAt)) {
			return fmt.Errorf("%w: record %d does not follow %d", errChain, r.Position, records[i-1].Position)
		}
		before, known := streams[r.Stream]
		if known || r.Version == 1 {
			if r.Version != before.Version+1 || r.Previous != before.Position || r.Chain != events.NextChain(before.Chain, r.Header) {
				return fmt.Errorf("%w: record %d does not continue %s", errChain, r.Position, r.Stream)
			}
		}
		streams[r.Stream] = r
	}
	return nil
}

// headsAre reports whether the log's own word of where its streams end is what the newest records say.
func headsAre(ctx context.Context, o *offline.Log, records []api.LogRecord) error {
	ends := map[events.StreamID]api.LogRecord{}
	for _, r := range records {
		ends[r.Stream] = r
	}
	for _, r := range records {
		if ends[r.Stream].Position != r.Position {
			continue
		}
		version, last, err := o.Bolt.Head(ctx, r.Stream)
		if err != nil {
			return err
		}
		if version != r.Version || last != r.Position {
			return fmt.Errorf("%w: %s is said to end at %d, and ends at %d", errChain, r.Stream, last, r.Position)
		}
	}
	return nil
}

// payloadsAre reports whether the newest payloads are those that their headers name.
func payloadsAre(ctx context.Context, o *offline.Log, records []api.LogRecord) error {
	if len(records) == 0 {
		return nil
	}
	for r, err := range o.Bolt.All(ctx, records[0].Position) {
		if err != nil {
			return err
		}
		if err := r.Check(); err != nil {
			return err
		}
	}
	return nil
}
