package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/transient"
)

func newLogExport(a *terminal.App) *cobra.Command {
	var from uint64
	force := false
	c := &cobra.Command{
		Use: "export [FILE]", Short: "Write the log as JSON lines, which import takes back exactly",
		Long: "Export writes a line a record. It goes on past records that are damaged, names them in the export and at its end, and ends with\n1 then; the export is there all the same.",
		Args: terminal.Takes(0, 1, "one file"),
	}
	c.Flags().Uint64Var(&from, "from", 1, "the first position; only a whole export can be imported")
	c.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	c.RunE = func(c *cobra.Command, args []string) error {
		return offline.WithLog(c.Context(), a, func(log offline.Source) error {
			var gaps *eventlog.IncompleteError
			write := func(w io.Writer) error {
				err := offline.Export(c.Context(), log, w, events.Position(from))
				if errors.As(err, &gaps) {
					return nil // the file is what can be had
				}
				return err
			}
			var err error
			if len(args) == 0 || args[0] == "-" {
				err = write(a.Out)
			} else {
				err = offline.CopyTo(a, args[0], force, write)
			}
			if err != nil || gaps == nil {
				return err
			}
			return terminal.Advise(gaps, "the export has all else, and `cmemd log import` takes it; `cmemd log salvage` finds more in the file itself")
		})
	}
	return c
}

func newLogBackup(a *terminal.App) *cobra.Command {
	force := false
	c := &cobra.Command{
		Use: "backup FILE", Short: "Write a whole, checked copy of the log file while the daemon goes on",
		Long: "Backup writes a log file that can be put in the log's place. What was forgotten is not in it.",
		Args: terminal.Takes(1, 1, "one file"),
	}
	c.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	c.RunE = func(c *cobra.Command, args []string) error {
		return offline.WithLog(c.Context(), a, func(log offline.Source) error {
			return offline.CopyTo(a, args[0], force, func(w io.Writer) error { return log.Backup(c.Context(), w) })
		})
	}
	return c
}

func newLogImport(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "import FILE|-", Short: "Take an export back into an empty log; the daemon must not run",
		Args: terminal.Takes(1, 1, "one file, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			in, total, err := offline.OpenImport(a, args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			m := a.Meter("importing", total, true)
			records, err := importInto(c.Context(), a, m.Reader(in))
			m.End()
			var gaps *eventlog.IncompleteError
			if err != nil && !errors.As(err, &gaps) {
				return err
			}
			shown := a.ShowLine(map[string]uint64{"records": records}, "imported %s\n", number.Plural(records, "record"))
			return errors.Join(err, shown)
		},
	}
}

// importInto fills the log of this home from an export. The log stays empty unless the export was taken to its end. What the export lacked
// is an *eventlog.IncompleteError.
func importInto(ctx context.Context, a *terminal.App, in io.Reader) (records uint64, err error) {
	if err := mustNotRun(ctx, a); err != nil {
		return 0, err
	}
	p, err := homedir.Made(a)
	if err != nil {
		return 0, err
	}
	cfg := config.LogOf(a)
	switch lost := p.CheckLog(); {
	case errors.Is(lost, homedir.ErrLogLost): // no daemon starts here, and an empty log would have one begin anew
		return importBeside(ctx, p.Log, cfg, in)
	case lost != nil:
		return 0, lost
	}
	held, err := eventlog.Open(p.Log, cfg) // keeps a daemon out until the end
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	last, err := held.Last(ctx)
	if err != nil {
		return 0, err
	}
	if last != 0 {
		return 0, terminal.Advise(fmt.Errorf("%w: %s has %s", eventlog.ErrNotEmpty, p.Log, number.Plural(last, "record")),
			"import into another home: CMEMD_HOME=/new/home cmemd log import ...")
	}
	return importBeside(ctx, p.Log, cfg, in)
}

// importBeside makes a log of an export and puts it in the place of the empty one at path.
func importBeside(ctx context.Context, path string, cfg eventlog.Config, in io.Reader) (uint64, error) {
	dir, err := eventlog.CopyFolder(path)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	fresh := filepath.Join(dir, "log")
	to, err := eventlog.Open(fresh, cfg)
	if err != nil {
		return 0, err
	}
	records, err := eventlog.Import(ctx, to, in)
	if gaps, ok := errors.AsType[*eventlog.IncompleteError](err); ok {
		err = terminal.Advise(gaps, "all else was imported; `cmemd log verify` lists the gaps")
		return records, errors.Join(err, to.Close(), putAt(fresh, path))
	}
	err = errors.Join(err, to.Close())
	switch {
	case err != nil && transient.Is(err): // nothing is wrong with the export
		return 0, err
	case err != nil:
		return 0, terminal.Advise(err, "nothing was imported; export it anew with `cmemd log export`")
	}
	return records, putAt(fresh, path)
}

// mustNotRun returns an error if a daemon answers.
func mustNotRun(ctx context.Context, a *terminal.App) error {
	return a.WithClient(func(client *client.Client) error {
		switch err := client.Alive(ctx); {
		case errors.Is(err, api.ErrNotRunning):
			return nil
		case errors.Is(err, api.ErrNoAnswer):
			return err
		}
		return terminal.Advise(errors.New("the daemon is running, and the log is its own"), "stop it with `cmemd stop`")
	})
}
