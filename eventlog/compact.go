package eventlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

// compactTries is how often Compact begins anew because something was erased while it copied.
const compactTries = 3

// errErasedMeanwhile is a copy that holds a payload which was erased while it was made.
var errErasedMeanwhile = errors.New("eventlog: something was erased while the log was compacted")

// Compact writes the log anew in the place of its file while it serves: smaller, and without a trace of what was erased
// before the call, neither in the file nor in its unused pages. Every record is checked on the way. Appends go on and wait
// only for the last few records to be copied, and for a sync. It needs room for a second copy of the log. After an error
// the file is as it was, unless that is ErrFailed. Copies of the file that others made are theirs. Errors: ErrReadOnly,
// ErrClosed, ErrFailed, *CorruptError, the file system's, ctx.Err(), or that something was erased meanwhile, again and again.
func (b *Bolt) Compact(ctx context.Context) error {
	if b.readOnly {
		return ErrReadOnly
	}
	if err := b.copying.Acquire(ctx, 1); err != nil {
		return err
	}
	defer b.copying.Release(1)
	err := errErasedMeanwhile
	for try := 0; try < compactTries && errors.Is(err, errErasedMeanwhile); try++ {
		err = b.compact(ctx)
	}
	if err = b.NoteVerified(err); err != nil && b.endErr() == nil {
		return fmt.Errorf("eventlog: compact %s: %w", b.path, err)
	}
	return err
}

func (b *Bolt) compact(ctx context.Context) error {
	dir, err := CopyFolder(b.path)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cfg := b.cfg
	cfg.NoSync, cfg.Found = true, nil
	to, err := Open(filepath.Join(dir, "log"), cfg)
	if err != nil {
		return err
	}
	if err := b.watchErasures(ctx); err != nil {
		return errors.Join(err, to.Close())
	}
	if err := b.restoreInto(ctx, to); err != nil {
		return errors.Join(err, to.Close())
	}
	replaced := false
	err = b.writer.do(ctx, &request{alone: func() (err error) {
		replaced, err = b.replaceBy(to)
		return err
	}})
	if !replaced {
		err = errors.Join(err, to.Close())
	}
	return err
}

// watchErasures returns when every erasure is either committed, so that what is copied from now on lacks its payload, or
// will be in writer.erased. Only between two commits is there no erasure that is made and cannot be read yet.
func (b *Bolt) watchErasures(ctx context.Context) error {
	return b.writer.do(ctx, &request{alone: func() error {
		b.writer.erased = false
		return nil
	}})
}

// replaceBy makes the file of to, which has the log's records, or most of them, this log's own. It is called by the
// writer, between two commits. Once the file is renamed there is no way back: an error after that ends the log.
func (b *Bolt) replaceBy(to *Bolt) (replaced bool, err error) {
	if b.writer.erased {
		return false, errErasedMeanwhile
	}
	if err := b.restoreInto(context.Background(), to); err != nil {
		return false, err
	}
	if err := to.db.Sync(); err != nil {
		return false, err
	}
	to.writer.queue.close(ErrClosed)
	<-to.writer.stopped
	to.db.NoSync = false
	if err := b.writer.place.check(); err != nil { // the rename would put the copy over somebody else's file
		return false, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	here, err := placeOf(to.file, b.path)
	if err != nil {
		return false, err
	}
	if err := os.Rename(to.path, b.path); err != nil {
		return false, err
	}
	old := b.db
	b.writer.place = here
	b.swap.Lock()
	b.db, b.file = to.db, to.file
	b.writer.tx = 0
	b.swap.Unlock()
	if err := durable.SyncDir(filepath.Dir(b.path)); err != nil {
		return true, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	_ = old.Close() // its file has no name any more: nothing that is lost with it would be found again
	return true, nil
}

// next is where a copy goes on.
func (b *Bolt) next() events.Position {
	last, _, _ := b.State()
	return last + 1
}
