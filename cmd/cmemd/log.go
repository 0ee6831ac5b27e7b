package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/api"
	"github.com/cmemd/cmemd/events"
)

// A logReader answers questions about a log: a daemon's client, or a log file that no daemon holds.
type logReader interface {
	// Records returns a stretch of the log.
	Records(ctx context.Context, q api.RecordsQuery) (api.Records, error)
	// LogStats returns what the log holds.
	LogStats(ctx context.Context) (api.LogStats, error)
	// Verify checks the whole log. A damaged one is no error.
	Verify(ctx context.Context, progress func(api.Progress)) (api.Verified, error)
}

// A logCopier writes a log elsewhere.
type logCopier interface {
	// Export writes the records from a position on as JSON lines.
	Export(ctx context.Context, w io.Writer, from events.Position) error
	// Backup writes a whole log file.
	Backup(ctx context.Context, w io.Writer) error
}

// A logSource is both.
type logSource interface {
	logReader
	logCopier
}

func newLog(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "log", Short: "Read, check and copy the log itself", Args: noSuchCommand, RunE: showHelp,
		Long: "The log is the only truth there is; all else is made from it. These commands ask the daemon, or read the file\nwhere no daemon runs.",
	}
	c.AddCommand(newLogTail(a), newLogCat(a), newLogVerify(a), newLogStats(a), newLogExport(a), newLogImport(a), newLogBackup(a))
	return c
}

func newLogVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Check every record: order, chains, payloads; exit code 1 if one is not what it says",
		Args: takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withLog(c.Context(), func(log logSource) error {
				m := a.meter("verifying", 0, false)
				v, err := log.Verify(c.Context(), func(p api.Progress) { m.set(p.Done, p.Total) })
				m.end()
				if err != nil {
					return err
				}
				return a.showVerified(v)
			})
		},
	}
}

func (a *app) showVerified(v api.Verified) error {
	if a.json {
		if err := a.printJSON(v); err != nil {
			return err
		}
	}
	if v.OK {
		if !a.json {
			a.printf("the log is whole: %s checked\n", plural(v.Records, "record"))
		}
		return nil
	}
	return a.told(advise(fmt.Errorf("the log is damaged at position %d (%s): %s", v.Position, v.Stream, v.Reason),
		"keep the file, and put a backup in its place; `cmemd log export` gives what can still be read"))
}

func newLogStats(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Say how much the log holds", Args: takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withLog(c.Context(), func(log logSource) error {
				s, err := log.LogStats(c.Context())
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(s)
				}
				a.field("records", strconv.FormatUint(uint64(s.Records), 10))
				a.field("streams", strconv.Itoa(s.Streams))
				a.field("file", size(s.FileBytes))
				a.field("unused", size(s.FreeBytes))
				return nil
			})
		},
	}
}

// withLog calls do with the daemon's log, or with the file where no daemon runs.
func (a *app) withLog(ctx context.Context, do func(logSource) error) error {
	return a.ask(func(client *api.Client) error {
		err := alive(ctx, client, aliveWait)
		switch {
		case err == nil:
			return do(client)
		case !errors.Is(err, api.ErrNotRunning):
			return err
		}
		home, err := a.home()
		if err != nil {
			return err
		}
		file, err := openOffline(home)
		if err != nil {
			return err
		}
		return errors.Join(do(file), file.close())
	})
}
