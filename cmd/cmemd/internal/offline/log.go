package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/curation"
)

// A Log is the log of a home without a daemon, opened for reading.
type Log struct {
	Bolt *eventlog.Bolt
	home string
}

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
	return &Log{bolt, home}, nil
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

// Invoke implements Source. VerifyRoute sets no views beside the log; CompareRoute does.
func (o *Log) Invoke(ctx context.Context, e api.Endpoint, query, answer any, progress func(api.Progress)) (err error) {
	switch e.Pattern() {
	case api.Endpoint(api.RecordsRoute).Pattern():
		*answer.(*api.Records), err = api.ReadRecords(ctx, o.Bolt, query.(api.RecordsQuery))
	case api.Endpoint(api.LogStatsRoute).Pattern():
		*answer.(*api.LogStats), err = o.Bolt.Stats(ctx)
	case api.Endpoint(api.VerifyRoute).Pattern():
		*answer.(*api.Verified), err = curation.VerifyLog(ctx, o.Bolt, nil, telling(progress))
	case api.Endpoint(api.CompareRoute).Pattern():
		*answer.(*api.Compared), err = compareViews(ctx, o.Bolt, o.home, telling(progress))
	default:
		err = fmt.Errorf("%w of a log without a daemon: %s", errors.ErrUnsupported, e.Path)
	}
	return err
}

// telling hands progress on, where somebody follows it.
func telling(progress func(api.Progress)) func(done, total uint64) {
	return func(done, total uint64) {
		if progress != nil {
			progress(api.Progress{Done: done, Total: total})
		}
	}
}
