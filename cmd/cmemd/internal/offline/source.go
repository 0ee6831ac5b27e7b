package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// A Source is a log: a daemon's client, or a log file that no daemon holds.
type Source interface {
	// Invoke answers the routes of api that read a log: RecordsRoute, LogStatsRoute, VerifyRoute and CompareRoute.
	api.Invoker
	// Export writes the records from a position on as JSON lines. What it could not read a file returns as *eventlog.IncompleteError, and a
	// daemon writes at the end; see the function Export.
	Export(ctx context.Context, w io.Writer, from events.Position) error
	// Backup writes a whole log file.
	Backup(ctx context.Context, w io.Writer) error
}

// WithLog calls do with the daemon's log, or with the file where no daemon runs.
func WithLog(ctx context.Context, a *terminal.App, do func(Source) error) error {
	return a.WithClient(func(client *client.Client) error {
		err := client.Alive(ctx)
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
		return withFile(ctx, home, config.LogOf(a), do)
	})
}

// withFile calls do with the log of a home. A daemon that starts meanwhile is given it, and do goes on with what that answers.
func withFile(ctx context.Context, home string, cfg eventlog.Config, do func(Source) error) error {
	file, err := Open(home, cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { file.giveWhenWanted(ctx) })
	err = do(file)
	cancel()
	watching.Wait()
	return errors.Join(err, file.Close())
}

// Records reads the whole log from its first record: straight from a file, or from what a daemon exports.
func Records(ctx context.Context, log Source) iter.Seq2[events.Record, error] {
	if file, ok := log.(*Log); ok {
		return file.all(ctx, 1)
	}
	return exported(ctx, log)
}

// Export has a log write its records from a position on, and returns *eventlog.IncompleteError where some of them could not be read.
func Export(ctx context.Context, log Source, w io.Writer, from events.Position) error {
	out := lastLine{to: w}
	if err := log.Export(ctx, &out, from); err != nil {
		return err
	}
	var end eventlog.ExportEnd
	if err := json.Unmarshal(out.line, &end); err != nil {
		return fmt.Errorf("the end of the export: %w", err)
	}
	return end.Err()
}

// lastLine remembers the last line that is written to it.
type lastLine struct {
	to    io.Writer
	line  []byte
	ended bool
}

// Write implements io.Writer.
func (l *lastLine) Write(b []byte) (int, error) {
	for part := range bytes.Lines(b) {
		if l.ended {
			l.line = l.line[:0]
		}
		l.line = append(l.line, part...)
		l.ended = part[len(part)-1] == '\n'
	}
	return l.to.Write(b)
}
