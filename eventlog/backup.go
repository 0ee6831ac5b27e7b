package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

// Backup writes the log as it stands to a new log file at path, which it replaces only when the copy is whole and
// synced. Appends go on meanwhile; no long transaction is held. Every record is checked on the way, so a backup of a
// damaged log ends with a *CorruptError and leaves path alone. Payloads erased before the call are not in the copy, nor
// in its unused pages.
func (b *Bolt) Backup(ctx context.Context, path string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return fmt.Errorf("eventlog: backup: %w", err)
	}
	defer os.Remove(tmp.Name()) // when it was renamed there is none
	if err := tmp.Close(); err != nil {
		return fmt.Errorf("eventlog: backup: %w", err)
	}
	if err := b.NoteVerified(b.copyInto(ctx, tmp.Name())); err != nil {
		return fmt.Errorf("eventlog: backup to %s: %w", path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("eventlog: backup: %w", err)
	}
	return durable.SyncDir(filepath.Dir(path))
}

// maxSent is how many copies there may be at once that somebody still takes: each needs the room of a log on the disk.
const maxSent = 4

// CopyTo writes to w what Backup writes to a file, and returns how many bytes. The copy is first made whole beside the
// log, so that a slow w holds up no append, no Compact and no other copy: one is made at a time, and maxSent are taken at once. Who
// has to wait for others returns ctx's error when that is done.
func (b *Bolt) CopyTo(ctx context.Context, w io.Writer) (n int64, err error) {
	if err := b.sending.Acquire(ctx, 1); err != nil {
		return 0, err
	}
	defer b.sending.Release(1)
	if err := b.copying.Acquire(ctx, 1); err != nil {
		return 0, err
	}
	f, remove, err := b.makeCopy(ctx)
	b.copying.Release(1)
	if err != nil {
		return 0, err
	}
	defer remove()
	return io.Copy(w, f)
}

// makeCopy makes a copy beside the log, which has no name any more where the system allows that: then nothing is left if we are
// killed. Remove closes it and leaves nothing either.
func (b *Bolt) makeCopy(ctx context.Context) (f *os.File, remove func(), err error) {
	dir, err := CopyFolder(b.path)
	if err != nil {
		return nil, nil, fmt.Errorf("eventlog: copy: %w", err)
	}
	path := filepath.Join(dir, "log")
	if err := b.Backup(ctx, path); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	if f, err = os.Open(path); err != nil {
		err = fmt.Errorf("eventlog: copy: %w", err)
	}
	if gone := os.RemoveAll(dir); err != nil {
		return nil, nil, errors.Join(err, gone)
	}
	return f, func() {
		_ = f.Close()
		_ = os.RemoveAll(dir)
	}, nil
}

// CopyMark stands in the names of the folders that CopyTo and CopyFolder make beside a log, between the log's name and a number.
const CopyMark = ".copy-"

// copiesOf begins the names of the folders that are made beside the log at path.
func copiesOf(path string) string { return filepath.Base(path) + CopyMark }

// removeCopies removes what a CopyTo that was killed left beside the log at path. The caller holds the log for writing,
// so nobody is copying it. What cannot be removed is in nobody's way.
func removeCopies(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), copiesOf(path))
		if ours && e.IsDir() && number != "" && strings.Trim(number, "0123456789") == "" {
			_ = os.RemoveAll(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// copyInto fills the empty file at path. Nothing is synced before the end.
func (b *Bolt) copyInto(ctx context.Context, path string) error {
	cfg := b.cfg
	cfg.NoSync, cfg.Found = true, nil
	to, err := Open(path, cfg)
	if err != nil {
		return err
	}
	err = b.restoreInto(ctx, to)
	if err == nil {
		err = to.db.Sync()
	}
	return errors.Join(err, to.Close())
}

func (b *Bolt) restoreInto(ctx context.Context, to *Bolt) error {
	last, err := b.Last(ctx)
	if err != nil {
		return err
	}
	for next := to.next(); next <= last; {
		s, err := b.read(next, last)
		if err != nil {
			return err
		}
		records := make([]events.Record, s.n)
		for i := range records {
			if records[i], err = s.at(i); err != nil {
				return err
			}
		}
		if err := to.Restore(ctx, records...); err != nil {
			return err
		}
		if err := b.copyBefore(ctx, to, next, next+events.Position(s.n)-1); err != nil {
			return err
		}
		next += events.Position(s.n)
	}
	return nil
}

// CopyFolder makes a folder beside the log at path in which a copy of it is made, and returns its name. The caller removes it; what a kill
// leaves, the next Open of the log at path removes.
func CopyFolder(path string) (string, error) {
	return os.MkdirTemp(filepath.Dir(path), copiesOf(path)+"*")
}
