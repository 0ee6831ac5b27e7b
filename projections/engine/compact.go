package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// compactSuffix is appended to the file's name for the copy that is to take its place.
	compactSuffix = ".compact"

	// compactTx bounds one transaction of the copy, in bytes: as much is in memory at once.
	compactTx = 16 << 20

	// compactWait is how long Compact waits for a Rebuild under way: its half-made copies hold nothing that was forgotten.
	compactWait = 10 * time.Minute
)

// Compact writes the file anew without unused pages: smaller, and without a trace of what is in no view any more. Reads go
// on meanwhile; the views follow the log again when it returns. It needs room for a second copy. After an error the
// file is as it was, or made anew from the log. Errors: ErrClosed, ctx.Err(), the file system's.
func (v *Views) Compact(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, compactWait)
	defer cancel()
	select {
	case v.rebuilds <- struct{}{}:
		defer func() { <-v.rebuilds }()
	case <-limited.Done():
		return limited.Err()
	}
	v.applying.Lock()
	defer v.applying.Unlock()
	if err := v.compact(); err != nil {
		return fmt.Errorf("projections: compact: %w", err)
	}
	return nil
}

// compact is Compact. The caller holds applying, so that nothing is written.
func (v *Views) compact() error {
	v.storing.RLock()
	s := v.store
	if s == nil {
		v.storing.RUnlock()
		return ErrClosed
	}
	copied := s.path + compactSuffix
	err := copyStore(copied, s)
	v.storing.RUnlock()
	if err != nil {
		return errors.Join(err, discard(copied))
	}
	v.storing.Lock()
	defer v.storing.Unlock()
	if v.store != s { // closed meanwhile
		return errors.Join(ErrClosed, discard(copied))
	}
	return v.exchange(copied)
}

// copyStore makes the file at path a copy of what s holds.
func copyStore(path string, s *store) error {
	if err := discard(path); err != nil {
		return err
	}
	to, err := openFile(path)
	if err != nil {
		return err
	}
	err = guard(func() error { return bolt.Compact(to.db, s.db, compactTx) })
	return errors.Join(err, guard(to.db.Close))
}

// exchange puts the file at copied in the place of the one in use. The caller holds applying and storing. Where the file
// cannot be opened again, it is damaged for whoever comes next: Run makes it anew.
func (v *Views) exchange(copied string) error {
	s := v.store
	if err := guard(s.db.Close); err != nil {
		return err
	}
	err := os.Rename(copied, s.path)
	again, openErr := openFile(s.path)
	if openErr != nil {
		select {
		case v.broken <- Damaged("after it was compacted: %v", openErr):
		default:
		}
		return errors.Join(err, openErr)
	}
	s.db = again.db
	return err
}
