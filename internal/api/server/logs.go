package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/stream"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/projections/outcomes"
)

// statLog is a log that knows its figures, and fileLog one that can be copied as a file. The one in bbolt is both.
type (
	statLog interface {
		Stats(ctx context.Context) (eventlog.Stats, error)
	}
	fileLog interface {
		CopyTo(ctx context.Context, w io.Writer) (int64, error)
	}
)

// logs answers about the log itself.
type logs struct {
	*sources
	logger  *slog.Logger
	scratch curation.Scratch
}

func (s *logs) routes(to *dispatcher) []endpoint {
	return []endpoint{
		bind(to, api.LogStatsRoute, s.getLogStats),
		bind(to, api.RecordsRoute, s.getRecords),
		bindWork(to, api.VerifyRoute, s.getVerify),
		bindWork(to, api.CompareRoute, s.getCompare),
		bindStream(to, api.EventsRoute, s.getEvents, checkLastSeen),
		bindStream(to, api.LogExportRoute, s.getExport),
		bindStream(to, api.BackupRoute, s.getBackup),
	}
}

func (s *logs) getLogStats(ctx context.Context, _ api.NoQuery) (api.LogStats, error) {
	log, ok := s.own().(statLog)
	if !ok {
		return api.LogStats{}, notFound("this log keeps no figures")
	}
	return log.Stats(ctx)
}

func (s *logs) getRecords(ctx context.Context, q api.RecordsQuery) (api.Records, error) {
	if q.Own {
		return api.ReadRecords(ctx, s.own(), q)
	}
	return api.ReadRecords(ctx, s.Log, q)
}

// getExport writes the log as JSON lines. An export that is cut has no last line. That of a damaged log says what it lacks.
func (s *logs) getExport(w http.ResponseWriter, r *http.Request, q api.LogExportQuery) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	_, err := eventlog.Export(r.Context(), s.own(), stream.NewWriter(w), q.From)
	if gaps := new(eventlog.IncompleteError); errors.As(err, &gaps) {
		s.logger.Error("the log is damaged", "err", gaps)
		return nil // the last line says it
	}
	return err
}

// getBackup writes a copy of the log file. While several read theirs slowly others wait, and nothing else does: each copy takes as
// much room on the disk as the log. Who reads nothing for stream.Timeout is dropped, and the next one served.
func (s *logs) getBackup(w http.ResponseWriter, r *http.Request, _ api.NoQuery) error {
	log, ok := s.own().(fileLog)
	if !ok {
		return notFound("this log is no file; export it")
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	out := stream.NewWriter(w)
	if err := out.Extend(copyTimeout); err != nil {
		return err
	}
	_, err := log.CopyTo(r.Context(), out)
	return err
}

// copyTimeout is how long a whole copy of the log may take before its first byte goes out.
const copyTimeout = time.Hour

// getVerify checks the whole log, and the view of outcomes against it. What it finds is the result, not a failure.
func (s *logs) getVerify(context.Context, api.NoQuery) (task[api.Verified], error) {
	return func(ctx context.Context, progress func(done, total uint64)) (api.Verified, error) {
		v, err := curation.VerifyLog(ctx, s.own(), s.ledger, progress)
		switch {
		case err == nil && v.Damaged():
			s.logger.Error("the log is damaged", "position", v.Position, "err", v.Reason)
		case err == nil && len(v.Discrepancies) > 0:
			s.logger.Error("the balance does not add up", "discrepancies", len(v.Discrepancies)+v.More)
		}
		return v, err
	}, nil
}

// ledger is what the view of outcomes says, once it knows all that the log holds now, with how far that is in this machine's log.
func (s *logs) ledger(ctx context.Context) (outcomes.Ledger, error) {
	if err := s.caughtUp(ctx); err != nil {
		return outcomes.Ledger{}, err
	}
	l, err := s.Views.Ledger(ctx)
	if u, ok := s.Log.(interface {
		Before(events.Position) events.Position
	}); ok {
		l.Position = u.Before(l.Position)
	}
	return l, err
}

// getCompare sets the views beside those that the log leads to. What it finds is the result, not a failure.
func (s *logs) getCompare(context.Context, api.NoQuery) (task[api.Compared], error) {
	return func(ctx context.Context, progress func(done, total uint64)) (api.Compared, error) {
		c, err := curation.CompareViews(ctx, s.scratch, s.Log, s.own(), s.Views, s.Index, progress)
		if err == nil && !c.Well() {
			s.logger.Error("views are not what the log leads to", "differences", len(c.Differences)+c.More)
		}
		return c, err
	}, nil
}
