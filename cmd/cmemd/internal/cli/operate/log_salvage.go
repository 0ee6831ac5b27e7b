package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/salvage"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/memory/erasure"
	"github.com/cmemd/cmemd/internal/number"
)

const salvageHelp = `Salvage makes a new log of every record that can still be read of a damaged one, also where the pages above it are gone, where the file
was cut or where pages lie over each other. The daemon must not run; the damaged file is not changed.

Positions stay: where a record is lost a placeholder stands, which ` + "`cmemd log verify`" + ` lists. A record whose words alone are damaged stays
without them. What was forgotten stays forgotten. The last record of the new log says what it was made of.

--in-place puts the new log where the damaged one is and keeps that beside it as log.db.damaged-TIME, and the views, which may hold the
last copy of what is lost, as views/views.db.aside-TIME; the daemon makes them anew. It shows first what it would do, and asks. What is
kept so is yours to remove: ` + "`cmemd forget`" + ` does not reach it.`

// salvageFlags are the flags of the command.
type salvageFlags struct {
	from, out    string
	inPlace, yes bool
}

func newLogSalvage(a *terminal.App) *cobra.Command {
	var f salvageFlags
	c := &cobra.Command{
		Use: "salvage", Short: "Make a new log of what can still be read of a damaged one; the daemon must not run",
		Long: salvageHelp, Args: terminal.Takes(0, 0, ""),
		Example: "  cmemd log salvage --in-place\n  cmemd log salvage --from damaged.db --out salvaged.db",
	}
	c.Flags().StringVar(&f.from, "from", "", "the damaged file; without it the log of CMEMD_HOME")
	c.Flags().StringVar(&f.out, "out", "", "the file to make")
	c.Flags().BoolVar(&f.inPlace, "in-place", false, "put the new log in the place of the damaged one, which stays beside it")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	terminal.NotTogether(c, "in-place", "out")
	terminal.NotTogether(c, "in-place", "from")
	terminal.NeedsOne(c, "in-place", "out")
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c.Context(), a) }
	return c
}

// salvageReport is the answer of the command.
type salvageReport struct {
	Source   string        `json:"source"`
	Out      string        `json:"out,omitempty"`    // the log that was made; empty: none
	Kept     []string      `json:"kept,omitempty"`   // what was put aside
	Done     bool          `json:"done"`             // a log was made
	Reason   string        `json:"reason,omitempty"` // why none was
	Whole    bool          `json:"whole"`            // of the records nothing is lost and nothing was changed
	Last     uint64        `json:"last"`             // position, lost records included
	Records  uint64        `json:"records"`          // that are there
	Erased   uint64        `json:"erased"`           // of them, because they were forgotten
	Unread   uint64        `json:"unread"`           // of them, those whose words are lost
	UnreadAt []events.Span `json:"unread_at,omitempty"`
	Lost     uint64        `json:"lost"`
	LostAt   []events.Span `json:"lost_at,omitempty"`
	Relaid   uint64        `json:"relaid"`             // with another version or chain than before
	BadDisk  int64         `json:"bad_disk,omitempty"` // bytes that the disk could not read
}

func (f salvageFlags) run(ctx context.Context, a *terminal.App) error {
	p, err := homedir.Of(a)
	if err != nil {
		return err
	}
	if f.from == "" {
		f.from = p.Log
		if err := mustNotRun(ctx, a); err != nil {
			return err
		}
	}
	if f.inPlace && isWhole(ctx, a, p.Log) {
		return a.ShowLine(salvageReport{Source: p.Log, Whole: true, Reason: "the log is whole: there is nothing to salvage"}, "%s is whole: there is nothing to salvage\n", terminal.VisibleLine(p.Log))
	}
	if _, err := os.Lstat(f.out); f.out != "" && err == nil {
		return terminal.Advise(fmt.Errorf("%s is there already", f.out), "name another file")
	}
	file, err := eventlog.OpenLocked(f.from, time.Second)
	if errors.Is(err, os.ErrNotExist) && f.from == p.Log {
		return cmp.Or(p.CheckLog(), offline.NoLogYet(p.Home))
	}
	if err != nil {
		return err
	}
	defer file.Close()
	return f.salvage(ctx, a, p, file)
}

// isWhole reports whether a log can be opened and verified. Any error is left to who looks closer.
func isWhole(ctx context.Context, a *terminal.App, path string) bool {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return false
	}
	log, err := eventlog.OpenReadOnly(path, eventlog.Config{})
	if err != nil {
		return false
	}
	m := a.Meter("verifying", 0, false)
	err = eventlog.Verify(ctx, log, m.Set)
	m.End()
	return errors.Join(err, log.Close()) == nil
}

// salvage reads the damaged file, shows what came of it, and makes a log of that.
func (f salvageFlags) salvage(ctx context.Context, a *terminal.App, p homedir.Paths, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	cfg := salvage.Config{Name: f.from, MinFree: config.LogOf(a).MinFree}
	cfg.Forgotten = erasure.Awaited(filepath.Join(filepath.Dir(f.from), filepath.Base(p.Forget)))
	s, err := terminal.Measured(a, "reading", func(m *terminal.Meter) (*salvage.Salvage, error) {
		cfg.Progress = func(done, total int64) { m.Set(uint64(done), uint64(total)) }
		return salvage.Read(ctx, file, info.Size(), cfg)
	})
	if err != nil {
		return err
	}
	if s.Last == 0 {
		return terminal.Advise(fmt.Errorf("no record can be read in %s", f.from), "keep the file, and put a backup in its place")
	}
	answer := salvageReport{
		Source: f.from, Whole: s.Whole(), Last: uint64(s.Last), Records: s.Records, Erased: s.Erased, Unread: s.Unread.Count,
		UnreadAt: s.Unread.List, Lost: s.Lost.Count, LostAt: s.Lost.List, Relaid: s.Moved, BadDisk: s.BadDisk,
	}
	if !a.JSON {
		showSalvaged(a, answer)
	}
	if !f.inPlace {
		answer.Out, answer.Done = f.out, true
		err := writeLog(ctx, a, s, filepath.Base(f.from), f.out, func(fresh string) error { return putAt(fresh, f.out) })
		return errors.Join(err, showWritten(a, answer, err))
	}
	ok, err := a.Confirm(ctx, "Put what can be read in the place of the damaged log, which stays beside it?", "changed", false, f.yes)
	if err != nil {
		return err
	}
	if answer.Done = ok; ok {
		answer.Out, answer.Kept, err = replaceLog(ctx, a, p, s)
	} else {
		answer.Reason = "nothing was changed, as nobody confirmed it: give --yes"
	}
	return errors.Join(err, showWritten(a, answer, err))
}

// putAt gives a whole file its name, on disk when it returns.
func putAt(fresh, path string) error {
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// writeLog makes the new log beside path, and has it put there by put.
func writeLog(ctx context.Context, a *terminal.App, s *salvage.Salvage, source, path string, put func(fresh string) error) error {
	dir, err := eventlog.CopyFolder(path)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fresh := filepath.Join(dir, "log")
	m := a.Meter("writing", int64(s.Last), false)
	err = s.Write(ctx, fresh, source, m.Set)
	if m.End(); err != nil {
		return err
	}
	return put(fresh)
}

// replaceLog puts the new log in the place of the damaged one. What was made of that goes first: it would go on as if nothing was lost.
func replaceLog(ctx context.Context, a *terminal.App, p homedir.Paths, s *salvage.Salvage) (out string, kept []string, err error) {
	damaged, views := durable.NameAt(p.Log, homedir.DamagedMark, a.Now()), filepath.Join(p.Views, "views.db")
	kept = []string{damaged}
	err = writeLog(ctx, a, s, filepath.Base(damaged), p.Log, func(fresh string) error {
		switch aside, err := durable.SetAside(views, a.Now()); {
		case err == nil:
			kept = append(kept, aside)
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
		err := errors.Join(os.RemoveAll(p.Index), os.RemoveAll(p.Vectors), erasure.Rescan(p.Forget))
		if err != nil {
			return err
		}
		return salvage.Replace(p.Log, fresh, damaged)
	})
	if err == nil {
		_, err = spool.New(p.Home).Retry() // what the damage kept the daemon from taking
	}
	return p.Log, kept, err
}

func showSalvaged(a *terminal.App, s salvageReport) {
	a.Heading("%s", terminal.VisibleLine(s.Source))
	a.Field("readable", fmt.Sprintf("%d of %s", s.Records, number.Plural(s.Last, "record")))
	if s.Lost > 0 {
		a.Field("lost", fmt.Sprintf("%d, at %s", s.Lost, events.SpansText(s.LostAt)))
	}
	if s.Unread > 0 {
		a.Field("without words", fmt.Sprintf("%d, at %s", s.Unread, events.SpansText(s.UnreadAt)))
	}
	if s.Erased > 0 {
		a.Field("forgotten", fmt.Sprint(s.Erased))
	}
	if s.BadDisk > 0 {
		a.Field("the disk", terminal.Size(s.BadDisk)+" could not be read")
	}
}

// showWritten says what was made, unless that ended with err.
func showWritten(a *terminal.App, s salvageReport, err error) error {
	if err != nil {
		return nil
	}
	return a.Show(s, func() {
		if s.Out != "" {
			a.Printf("wrote %s\n", terminal.VisibleLine(s.Out))
		}
		for _, path := range s.Kept {
			a.Printf("kept %s\n", terminal.VisibleLine(path))
		}
		if len(s.Kept) > 0 {
			a.Printf("what was kept is not reached by `cmemd forget`: remove it when you need it no more\n")
		}
	})
}
