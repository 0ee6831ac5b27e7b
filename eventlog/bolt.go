package eventlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/filelock"
)

// Bolt is a log in a bbolt file. It implements Restorer. Only one process can have it open for writing.
type Bolt struct {
	*feed
	path     string
	cfg      Config
	readOnly bool
	pageSize int
	swap     sync.RWMutex // keeps db and file from being exchanged while they are read; the writer alone exchanges them
	db       *bbolt.DB
	file     *os.File // the one that db has open
	heads    headCache
	recent   recent
	writer   *writer
	copying  *semaphore.Weighted // has room for the one CopyTo or Compact that copies the file
	sending  *semaphore.Weighted // has room for each CopyTo, from its beginning on
	close    func() error
	wedged   atomic.Bool // a fault in Begin left bbolt's own locks held: nobody can read, write or close any more
}

// Open opens the log at path, or makes a new one where there is no file or an empty one; its folder must exist. It
// starts the goroutine that writes; Close ends it. Within cfg.Timeout it returns *LockedError (errors.Is ErrLocked) if
// another process has the file; else ErrNotLog, *NewerFormatError (ErrNewerFormat), or *CorruptError
// (events.ErrCorrupt) for a file that is damaged so that it cannot be used; Verify finds what is not found here. What a
// process that was killed in CopyTo left beside the file is removed.
func Open(path string, cfg Config) (*Bolt, error) {
	b, err := open(path, cfg, false)
	if err != nil {
		return nil, err
	}
	go b.writer.run() // Close waits for it
	return b, nil
}

// OpenReadOnly opens the log at path for reading, as long as no process has it open for writing. Many can at once.
// Appends and erasures return ErrReadOnly; Follow never sees anything new. The errors are those of Open, and
// fs.ErrNotExist.
func OpenReadOnly(path string, cfg Config) (*Bolt, error) {
	b, err := open(path, cfg, true)
	if err != nil {
		return nil, err
	}
	b.writer.queue.close(ErrReadOnly)
	close(b.writer.stopped)
	return b, nil
}

func open(path string, cfg Config, readOnly bool) (*Bolt, error) {
	cfg = cfg.withDefaults()
	if real, err := filepath.EvalSymlinks(path); err == nil { // what is written anew takes the place of the file, and not of a link to it
		path = real
	}
	db, file, err := openFile(path, cfg, readOnly)
	if err != nil {
		return nil, err
	}
	b := &Bolt{path: path, cfg: cfg, readOnly: readOnly, db: db, file: file, pageSize: db.Info().PageSize, copying: semaphore.NewWeighted(1),
		sending: semaphore.NewWeighted(maxSent)}
	b.close = sync.OnceValue(b.shut)
	w, err := newWriter(b)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("eventlog: open %s: %w", path, err), db.Close())
	}
	b.writer, b.feed = w, newFeed(w.last)
	if !readOnly {
		removeCopies(path)
	}
	return b, nil
}

// Close implements Log.
func (b *Bolt) Close() error { return b.close() }

func (b *Bolt) shut() error {
	b.writer.queue.close(ErrClosed)
	if b.wedged.Load() { // the writer may wait for ever
		b.end(ErrClosed)
		return filelock.Release(b.file)
	}
	<-b.writer.stopped
	b.end(ErrClosed)
	if b.writer.wedged { // a panic left bbolt's lock held: it cannot be closed, only let go of
		return filelock.Release(b.file)
	}
	if err := b.db.Close(); err != nil {
		return fmt.Errorf("eventlog: close %s: %w", b.path, err)
	}
	return nil
}

// failWhenDamaged ends the log for err, a fault in the beginning of a transaction, as where the file was cut to nothing while it was open.
func (b *Bolt) failWhenDamaged(err error) error {
	b.wedged.Store(true)
	if info, e := b.file.Stat(); e == nil && info.Size() < int64(2*b.pageSize) {
		err = corruptf(0, "", "%s was cut to %d bytes while it was open", b.path, info.Size())
	}
	err = fmt.Errorf("%w: %w", ErrFailed, b.noteError(err))
	b.writer.queue.close(err)
	b.end(err)
	return err
}

// Path is the file the log is kept in, which a link may lead to.
func (b *Bolt) Path() string { return b.path }

// Done is closed when the log has failed or is closed; Err then says which.
func (b *Bolt) Done() <-chan struct{} { return b.done }

// Err is nil while the log is open, then ErrClosed, or an error that is ErrFailed and has the cause.
func (b *Bolt) Err() error { return b.endErr() }

// Append implements Log.
func (b *Bolt) Append(ctx context.Context, stream events.StreamID, expected events.Version, drafts ...events.Draft) ([]events.Record, error) {
	sealed, size, err := seal(ctx, b.cfg.Codec, stream, drafts)
	if err != nil {
		return nil, err
	}
	if len(drafts) == 0 {
		return nil, b.endErr()
	}
	var records []events.Record
	err = b.writer.do(ctx, &request{grows: size, change: func(t *batch) (err error) {
		records, err = t.append(stream, expected, sealed, b.cfg.Now())
		return b.noteError(err)
	}})
	return records, err
}

// Restore implements Restorer.
func (b *Bolt) Restore(ctx context.Context, records ...events.Record) error {
	if err := checkPayloads(ctx, records); err != nil {
		return err
	}
	var size int64
	for _, r := range records {
		if r.IsMoved() {
			return fmt.Errorf("eventlog: restore %d: %w", r.Position, events.ErrMoved)
		}
		size += int64(r.PayloadSize() + events.MaxHeader)
	}
	return b.writer.do(ctx, &request{grows: size, change: func(t *batch) error {
		return t.restore(records)
	}})
}

// Erase implements Log. The bytes stay in unused pages of the file until Compact, or until they are written over.
func (b *Bolt) Erase(ctx context.Context, at ...events.Position) error {
	return b.strip(ctx, at, events.Record.Erase)
}

// Withhold is Erase of payloads that the log's owner keeps, in a copy of that log; see events.Record. Programs that know no such records
// refuse the file from then on.
func (b *Bolt) Withhold(ctx context.Context, at ...events.Position) error {
	return b.strip(ctx, at, events.Record.Withhold)
}

func (b *Bolt) strip(ctx context.Context, at []events.Position, how func(events.Record) events.Record) error {
	if len(at) == 0 {
		return b.endErr()
	}
	return b.writer.do(ctx, &request{change: func(t *batch) error {
		b.writer.erased = true
		return b.noteError(t.strip(at, how))
	}})
}

// Sync writes to disk what a log with Config.NoSync has. It is for one that nobody else appends to. The error is the system's.
func (b *Bolt) Sync() error { return b.db.Sync() }
