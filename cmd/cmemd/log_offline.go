package main

import (
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
	"github.com/cmemd/cmemd/internal/api/server"
)

// recordsPage is how many records one question returns if it names no number.
const recordsPage = 100

// An offlineLog is the log of a home without a daemon, opened for reading.
type offlineLog struct{ bolt *eventlog.Bolt }

// openOffline opens the log of home. One that is not there is errNothing; one that another process holds is a
// *eventlog.LockedError.
func openOffline(home string) (*offlineLog, error) {
	bolt, err := eventlog.OpenReadOnly(homedir.PathsOf(home).Log, eventlog.Config{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, terminal.Advise(fmt.Errorf("%w: there is no log in %s yet", terminal.ErrNothing, home), "`cmemd start` makes one")
	}
	if err != nil {
		return nil, err
	}
	return &offlineLog{bolt}, nil
}

func (o *offlineLog) close() error { return o.bolt.Close() }

// LogStats implements logReader.
func (o *offlineLog) LogStats(ctx context.Context) (api.LogStats, error) { return o.bolt.Stats(ctx) }

// Export implements logCopier.
func (o *offlineLog) Export(ctx context.Context, w io.Writer, from events.Position) error {
	_, err := eventlog.Export(ctx, o.bolt, w, from)
	return err
}

// Backup implements logCopier.
func (o *offlineLog) Backup(ctx context.Context, w io.Writer) error {
	_, err := o.bolt.CopyTo(ctx, w)
	return err
}

// Verify implements logReader. There are no views to set beside the log.
func (o *offlineLog) Verify(ctx context.Context, progress func(api.Progress)) (api.Verified, error) {
	return server.VerifyLog(ctx, o.bolt, nil, func(done, total uint64) { progress(api.Progress{Done: done, Total: total}) })
}

// Records implements logReader.
func (o *offlineLog) Records(ctx context.Context, q api.RecordsQuery) (api.Records, error) {
	last, err := o.bolt.Last(ctx)
	if err != nil {
		return api.Records{}, err
	}
	if q.Limit <= 0 {
		q.Limit = recordsPage
	}
	out := api.Records{Last: last, Records: []api.LogRecord{}}
	for r, err := range o.from(ctx, q) {
		if err != nil {
			return out, err
		}
		if r.Position < q.From {
			continue
		}
		if len(out.Records) == q.Limit {
			out.Next = r.Position
			break
		}
		out.Records = append(out.Records, logRecord(r, q.Payload))
	}
	return out, nil
}

func (o *offlineLog) from(ctx context.Context, q api.RecordsQuery) iter.Seq2[events.Record, error] {
	if q.Stream != "" {
		return o.bolt.Stream(ctx, q.Stream, 1)
	}
	return o.bolt.All(ctx, q.From)
}

// logRecord is r for people, with what happened if payload asks for it.
func logRecord(r events.Record, payload bool) api.LogRecord {
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
