package offline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/curation"
)

// RecordsPage is how many records one question returns if it names no number.
const RecordsPage = 100

// A Log is the log of a home without a daemon, opened for reading.
type Log struct{ Bolt *eventlog.Bolt }

// Open opens the log of home. One that is not there is terminal.ErrNothing; one that another process holds is a
// *eventlog.LockedError.
func Open(home string) (*Log, error) {
	bolt, err := eventlog.OpenReadOnly(homedir.PathsOf(home).Log, eventlog.Config{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, terminal.Advise(fmt.Errorf("%w: there is no log in %s yet", terminal.ErrNothing, home), "`cmemd start` makes one")
	}
	if err != nil {
		return nil, err
	}
	return &Log{bolt}, nil
}

// Close lets the file go.
func (o *Log) Close() error { return o.Bolt.Close() }

// Export implements Source.
func (o *Log) Export(ctx context.Context, w io.Writer, from events.Position) error {
	_, err := eventlog.Export(ctx, o.Bolt, w, from)
	return err
}

// Backup implements Source.
func (o *Log) Backup(ctx context.Context, w io.Writer) error {
	_, err := o.Bolt.CopyTo(ctx, w)
	return err
}

// Invoke implements Source. There are no views to set beside the log.
func (o *Log) Invoke(ctx context.Context, e api.Endpoint, query, answer any, progress func(api.Progress)) (err error) {
	switch e.Pattern() {
	case api.Endpoint(api.RecordsRoute).Pattern():
		*answer.(*api.Records), err = o.records(ctx, query.(api.RecordsQuery))
	case api.Endpoint(api.LogStatsRoute).Pattern():
		*answer.(*api.LogStats), err = o.Bolt.Stats(ctx)
	case api.Endpoint(api.VerifyRoute).Pattern():
		*answer.(*api.Verified), err = curation.VerifyLog(ctx, o.Bolt, nil, func(done, total uint64) {
			if progress != nil {
				progress(api.Progress{Done: done, Total: total})
			}
		})
	default:
		err = fmt.Errorf("%w of a log without a daemon: %s", errors.ErrUnsupported, e.Path)
	}
	return err
}

// records is a stretch of the log.
func (o *Log) records(ctx context.Context, q api.RecordsQuery) (api.Records, error) {
	last, err := o.Bolt.Last(ctx)
	if err != nil {
		return api.Records{}, err
	}
	asked := q
	q.Limit = cmp.Or(max(q.Limit, 0), RecordsPage)
	q.From = cmp.Or(q.Cursor.At, q.From)
	out := api.Records{Last: last, Records: []api.LogRecord{}}
	for r, err := range o.from(ctx, q) {
		if err != nil {
			return out, err
		}
		if r.Position < q.From {
			continue
		}
		if len(out.Records) == q.Limit {
			out.Next, out.NextCursor = r.Position, api.RecordsRoute.PageAfter(asked, api.Cursor{At: r.Position})
			break
		}
		out.Records = append(out.Records, LogRecord(r, q.Payload))
	}
	return out, nil
}

func (o *Log) from(ctx context.Context, q api.RecordsQuery) iter.Seq2[events.Record, error] {
	if q.Stream != "" {
		return o.Bolt.Stream(ctx, q.Stream, 1)
	}
	return o.Bolt.All(ctx, q.From)
}

// LogRecord is r for people, with what happened if payload asks for it.
func LogRecord(r events.Record, payload bool) api.LogRecord {
	out := api.LogRecord{Header: r.Header, Chain: r.Chain, Erased: r.Erased}
	if !payload {
		return out
	}
	event, err := r.Event()
	if err == nil {
		out.Event, err = json.Marshal(event)
	}
	if err != nil && !r.Erased {
		out.Problem = err.Error()
	}
	return out
}
