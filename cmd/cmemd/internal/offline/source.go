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

// A Source is a log: a daemon's client, or a log file that no daemon holds.
type Source interface {
	// Invoke answers the routes of api that read a log: RecordsRoute, LogStatsRoute and VerifyRoute.
	api.Invoker
	// Export writes the records from a position on as JSON lines.
	Export(ctx context.Context, w io.Writer, from events.Position) error
	// Backup writes a whole log file.
	Backup(ctx context.Context, w io.Writer) error
}

// WithLog calls do with the daemon's log, or with the file where no daemon runs.
func WithLog(ctx context.Context, a *terminal.App, do func(Source) error) error {
	return a.Ask(func(client *client.Client) error {
		err := terminal.Alive(ctx, client, terminal.AliveWait)
		switch {
		case err == nil:
			return do(client)
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
