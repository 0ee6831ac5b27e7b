package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// RecordsPage is how many records one answer has where a query names no number.
const RecordsPage = 100

// maxRecordBytes is after how many bytes of payloads an answer is long enough.
const maxRecordBytes = 16 << 20

// maxScanned is how many records are passed over for one page: a tenth of a second.
const maxScanned = 100_000

// ReadRecords answers RecordsRoute from a log, with a daemon or without one.
func ReadRecords(ctx context.Context, log eventlog.Log, q RecordsQuery) (out Records, err error) {
	out.Records = []LogRecord{}
	if out.Last, err = log.Last(ctx); err != nil {
		return out, err
	}
	if out.Log, err = eventlog.ID(ctx, log); err != nil {
		return out, err
	}
	q.Limit = cmp.Or(max(q.Limit, 0), RecordsPage)
	if q.Before != 0 {
		return out, out.readBack(ctx, log, q)
	}
	from := cmp.Or(q.Cursor.At, q.From)
	if from == 0 && !q.At.IsZero() {
		if from, err = recordedSince(ctx, log, out.Last, q.At); err != nil || from > out.Last {
			return out, err
		}
	}
	return out, out.read(ctx, log, q, from)
}

// recordedSince is the position of the first record that was recorded at a time or later; behind last where none was.
func recordedSince(ctx context.Context, log eventlog.Log, last events.Position, at time.Time) (events.Position, error) {
	var err error
	n := sort.Search(int(last), func(i int) bool {
		r, failed := log.Get(ctx, events.Position(i+1))
		err = cmp.Or(err, failed)
		return failed != nil || !r.RecordedAt.Before(at)
	})
	return events.Position(n + 1), err
}

// read fills in a page from a position on.
func (out *Records) read(ctx context.Context, log eventlog.Log, q RecordsQuery, from events.Position) error {
	bytes, scanned, admits := 0, 0, Admits(q.Stream, q.Kinds)
	for r, err := range recordsFrom(ctx, log, q.Stream, from) {
		if err != nil {
			return err
		}
		if len(out.Records) == q.Limit || bytes > maxRecordBytes || scanned == maxScanned {
			out.Next, out.NextCursor = r.Position, RecordsRoute.PageAfter(q, Cursor{At: r.Position})
			break
		}
		scanned++
		if !admits(r.Header) {
			continue
		}
		out.Records = append(out.Records, RecordOf(r, q.Payload))
		if q.Payload {
			bytes += int(r.Size)
		}
	}
	return nil
}

// readBack fills in the page that ends before a position. Positions have no holes, so that it is looked for in stretches.
func (out *Records) readBack(ctx context.Context, log eventlog.Log, q RecordsQuery) error {
	end, admits := min(q.Before, out.Last+1), Admits(q.Stream, q.Kinds)
	for scanned := 0; end > 1 && len(out.Records) < q.Limit && scanned < maxScanned; {
		begin := end - min(end-1, events.Position(max(q.Limit, RecordsPage)))
		found, err := recordsBetween(ctx, log, begin, end, admits, q.Payload)
		if err != nil {
			return err
		}
		scanned += int(end - begin)
		found = found[max(0, len(found)-(q.Limit-len(out.Records))):]
		if end = begin; len(found)+len(out.Records) == q.Limit {
			end = found[0].Position
		}
		out.Records = append(found, out.Records...)
	}
	if end > 1 {
		out.Prev = end
	}
	return nil
}

// recordsBetween are the records of a stretch that admits chooses.
func recordsBetween(
	ctx context.Context, log eventlog.Log, begin, end events.Position, admits func(events.Header) bool, payload bool,
) (found []LogRecord, err error) {
	for r, err := range log.All(ctx, begin) {
		if err != nil || r.Position >= end {
			return found, err
		}
		if admits(r.Header) {
			found = append(found, RecordOf(r, payload))
		}
	}
	return found, nil
}

// Admits tells which records are of a stream and of kinds, with commas between; where one is empty, all are.
func Admits(stream events.StreamID, kinds string) func(events.Header) bool {
	list := strings.Split(kinds, ",")
	return func(h events.Header) bool {
		return (stream == "" || h.Stream == stream) && (kinds == "" || slices.Contains(list, string(h.Kind)))
	}
}

// recordsFrom yields the records from a position on, of one stream or of all.
func recordsFrom(ctx context.Context, log eventlog.Log, stream events.StreamID, from events.Position) iter.Seq2[events.Record, error] {
	if stream == "" {
		return log.All(ctx, from)
	}
	return func(yield func(events.Record, error) bool) {
		for r, err := range log.Stream(ctx, stream, 1) {
			if err == nil && r.Position < from {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// RecordOf is r for people and their tools, with what happened if payload asks for it.
func RecordOf(r events.Record, payload bool) LogRecord {
	out := LogRecord{Header: r.Header, Chain: r.Chain, Erased: r.Erased, Withheld: r.Withheld}
	if !payload {
		return out
	}
	e, err := r.Event()
	if err == nil {
		out.Event, err = json.Marshal(e)
	}
	switch {
	case err == nil:
	case r.Withheld:
		out.Problem = "withheld"
	case errors.Is(err, events.ErrErased):
		out.Problem = "erased"
	case errors.Is(err, events.ErrUnknownKind):
		out.Problem = "written by a newer program"
	default:
		out.Problem = "damaged"
	}
	return out
}
