package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// RecordsPage is how many records one answer has where a query names no number.
const RecordsPage = 100

// maxRecordBytes is after how many bytes of payloads an answer is long enough.
const maxRecordBytes = 16 << 20

// ReadRecords answers RecordsRoute from a log, with a daemon or without one.
func ReadRecords(ctx context.Context, log eventlog.Log, q RecordsQuery) (Records, error) {
	out := Records{Records: []LogRecord{}}
	var err error
	if out.Last, err = log.Last(ctx); err != nil {
		return out, err
	}
	bytes, limit := 0, cmp.Or(max(q.Limit, 0), RecordsPage)
	for r, err := range recordsFrom(ctx, log, q.Stream, cmp.Or(q.Cursor.At, q.From)) {
		if err != nil {
			return out, err
		}
		if len(out.Records) == limit || bytes > maxRecordBytes {
			out.Next, out.NextCursor = r.Position, RecordsRoute.PageAfter(q, Cursor{At: r.Position})
			break
		}
		out.Records = append(out.Records, RecordOf(r, q.Payload))
		if q.Payload {
			bytes += int(r.Size)
		}
	}
	return out, nil
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
	out := LogRecord{Header: r.Header, Chain: r.Chain, Erased: r.Erased}
	if !payload {
		return out
	}
	e, err := r.Event()
	if err == nil {
		out.Event, err = json.Marshal(e)
	}
	switch {
	case err == nil:
	case errors.Is(err, events.ErrErased):
		out.Problem = "erased"
	case errors.Is(err, events.ErrUnknownKind):
		out.Problem = "written by a newer program"
	default:
		out.Problem = "damaged"
	}
	return out
}
