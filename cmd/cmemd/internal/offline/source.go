package offline

import (
	"context"
	"errors"
	"io"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// A Reader answers questions about a log: a daemon's client, or a log file that no daemon holds.
type Reader interface {
	// Records returns a stretch of the log.
	Records(ctx context.Context, q api.RecordsQuery) (api.Records, error)
	// LogStats returns what the log holds.
	LogStats(ctx context.Context) (api.LogStats, error)
	// Verify checks the whole log. A damaged one is no error.
	Verify(ctx context.Context, progress func(api.Progress)) (api.Verified, error)
}

// A Copier writes a log elsewhere.
type Copier interface {
	// Export writes the records from a position on as JSON lines.
	Export(ctx context.Context, w io.Writer, from events.Position) error
	// Backup writes a whole log file.
	Backup(ctx context.Context, w io.Writer) error
}

// A Source is both.
type Source interface {
	Reader
	Copier
}

// Daemon is the Source that a daemon is.
type Daemon struct{ *client.Client }

// Records implements Reader.
func (d Daemon) Records(ctx context.Context, q api.RecordsQuery) (api.Records, error) {
	return api.RecordsRoute.Call(ctx, d, q)
}

// LogStats implements Reader.
func (d Daemon) LogStats(ctx context.Context) (api.LogStats, error) {
	return api.LogStatsRoute.Call(ctx, d, api.NoQuery{})
}

// Verify implements Reader.
func (d Daemon) Verify(ctx context.Context, progress func(api.Progress)) (api.Verified, error) {
	return api.VerifyRoute.Call(ctx, d, api.NoQuery{}, progress)
}

// WithLog calls do with the daemon's log, or with the file where no daemon runs.
func WithLog(ctx context.Context, a *terminal.App, do func(Source) error) error {
	return a.Ask(func(client *client.Client) error {
		err := terminal.Alive(ctx, client, terminal.AliveWait)
		switch {
		case err == nil:
			return do(Daemon{client})
		case !errors.Is(err, api.ErrNotRunning):
			return err
		}
		home, err := a.Home()
		if err != nil {
			return err
		}
		file, err := Open(home)
		if err != nil {
			return err
		}
		return errors.Join(do(file), file.Close())
	})
}
