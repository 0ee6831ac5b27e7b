package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/sleep"
)

// A Log is the log of a home without a daemon, opened for reading. It is given to a daemon that starts, and what is asked goes on
// through that daemon.
type Log struct {
	Bolt   *eventlog.Bolt
	home   string
	daemon *client.Client // asked once the log was given away
}

// Open opens the log of home; where cfg keeps room free, a copy of it takes none of that. A log that is not there is terminal.ErrNothing;
// one that another process holds is a *eventlog.LockedError, and one that was lost homedir.ErrLogLost.
func Open(home string, cfg eventlog.Config) (*Log, error) {
	p := homedir.PathsOf(home)
	if err := p.CheckLog(); err != nil {
		return nil, err
	}
	bolt, err := eventlog.OpenReadOnly(p.Log, cfg)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NoLogYet(home)
	}
	if err != nil {
		return nil, p.AdviseNewer(err)
	}
	return &Log{Bolt: bolt, home: home, daemon: client.Dial(home)}, nil
}

// NoLogYet is the error of what needs a log in a home that never had one.
func NoLogYet(home string) error {
	return terminal.Advise(fmt.Errorf("%w: there is no log in %s yet", terminal.ErrNothing, home), "`cmemd start` makes one")
}

// Close lets the file go.
func (o *Log) Close() error {
	o.daemon.Close()
	return o.Bolt.Close()
}

const (
	givePause = 25 * time.Millisecond // between two looks whether a daemon wants the log
	giveWait  = 15 * time.Second      // in which a daemon that was given the log answers
)

// giveWhenWanted gives the log to a daemon that wants it, which it looks for until ctx is done.
func (o *Log) giveWhenWanted(ctx context.Context) {
	look := time.NewTicker(givePause)
	defer look.Stop()
	for !homedir.PathsOf(o.home).LogWanted() {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
	_ = o.Bolt.Close() // what reads it says why it ends
}

// isGiven reports whether err is that of reading a log that was given away, and waits for the daemon that has it. Next is err, or why
// that daemon cannot be asked.
func (o *Log) isGiven(ctx context.Context, err error) (given bool, next error) {
	if !errors.Is(err, eventlog.ErrClosed) {
		return false, err
	}
	limited, cancel := context.WithTimeout(ctx, giveWait)
	defer cancel()
	for {
		there := o.daemon.Alive(limited)
		if there == nil {
			return true, nil
		}
		if sleep.For(limited, givePause) != nil {
			return false, terminal.Advise(fmt.Errorf("a daemon that starts was given the log, and does not answer: %w", there), "`cmemd logs` says why; then try again")
		}
	}
}

// all yields the records from a position on; what was not read before the log was given away comes from the daemon.
func (o *Log) all(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		given := false
		for r, err := range o.Bolt.All(ctx, from) {
			if given, err = o.isGiven(ctx, err); given {
				break
			}
			if !yield(r, err) {
				return
			}
			from = r.Position + 1
		}
		if !given {
			return
		}
		for r, err := range exported(ctx, o.daemon) { // what begins in the middle cannot be checked
			if (err != nil || r.Position >= from) && !yield(r, err) {
				return
			}
		}
	}
}

// exporter is a log that can be exported: that of a daemon, in all but tests.
type exporter interface {
	Export(ctx context.Context, w io.Writer, from events.Position) error
}

// exported reads the records of an export while it is written. Nothing of it goes on when the sequence is left.
func exported(ctx context.Context, log exporter) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		in, out := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			out.CloseWithError(log.Export(ctx, out, 1))
		}()
		for r, err := range eventlog.ReadExport(ctx, in) {
			if !yield(r, err) {
				break
			}
		}
		cancel()
		in.Close()
		<-done
	}
}

// Export implements Source.
func (o *Log) Export(ctx context.Context, w io.Writer, from events.Position) error {
	_, err := eventlog.Export(ctx, exportedLog{o.Bolt, o}, w, from)
	return err
}

// exportedLog is a log that goes on where it was given away.
type exportedLog struct {
	*eventlog.Bolt
	log *Log
}

// All implements eventlog.Log.
func (w exportedLog) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return w.log.all(ctx, from)
}

// Backup implements Source. Nothing is written before a copy is whole.
func (o *Log) Backup(ctx context.Context, w io.Writer) error {
	_, err := o.Bolt.CopyTo(ctx, w)
	given, err := o.isGiven(ctx, err)
	if given {
		return o.daemon.Backup(ctx, w)
	}
	if errors.Is(err, syscall.EROFS) { // the copy is made beside the log
		err = terminal.Advise(err, "`cmemd log salvage --out FILE` writes a log to another disk without writing to the one of the home")
	}
	return err
}

// Invoke implements Source. VerifyRoute sets no views beside the log; CompareRoute does.
func (o *Log) Invoke(ctx context.Context, e api.Endpoint, query, answer any, progress func(api.Progress)) error {
	given, err := o.isGiven(ctx, o.read(ctx, e, query, answer, progress))
	if given {
		return o.daemon.Invoke(ctx, e, query, answer, progress)
	}
	return err
}

func (o *Log) read(ctx context.Context, e api.Endpoint, query, answer any, progress func(api.Progress)) (err error) {
	switch e.Pattern() {
	case api.Endpoint(api.RecordsRoute).Pattern():
		*answer.(*api.Records), err = api.ReadRecords(ctx, o.Bolt, query.(api.RecordsQuery))
	case api.Endpoint(api.LogStatsRoute).Pattern():
		*answer.(*api.LogStats), err = o.Bolt.Stats(ctx)
	case api.Endpoint(api.VerifyRoute).Pattern():
		*answer.(*api.Verified), err = curation.VerifyLog(ctx, o.Bolt, nil, progressReporter(progress))
	case api.Endpoint(api.CompareRoute).Pattern():
		*answer.(*api.Compared), err = compareViews(ctx, o.Bolt, o.home, progressReporter(progress))
	default:
		err = fmt.Errorf("%w of a log without a daemon: %s", errors.ErrUnsupported, e.Path)
	}
	return err
}

// progressReporter hands progress on, where somebody follows it.
func progressReporter(progress func(api.Progress)) func(done, total uint64) {
	return func(done, total uint64) {
		if progress != nil {
			progress(api.Progress{Done: done, Total: total})
		}
	}
}
