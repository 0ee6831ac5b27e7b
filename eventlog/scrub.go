package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cmemd/cmemd/internal/boltcheck"
)

// scrubStates is how many commits pass before no state that the file leads to uses a page that was given up before: bbolt keeps two.
const scrubStates = 2

// Scrub writes zeros over all that the file holds and does not use, between two commits: what was erased before the call is in no byte of
// it then, though pages that hold records may be damaged. It makes the file no smaller; Compact does both, where it can read
// all. Readers wait meanwhile. Errors: ErrReadOnly, ErrClosed, ErrFailed, *CorruptError where the file does not tell what it
// uses, ctx.Err().
func (b *Bolt) Scrub(ctx context.Context) error {
	if b.readOnly {
		return ErrReadOnly
	}
	if err := b.copying.Acquire(ctx, 1); err != nil {
		return err
	}
	defer b.copying.Release(1)
	for range scrubStates {
		err := b.writer.do(ctx, &request{change: func(t *batch) error {
			t.dirty = true
			return nil
		}})
		if err != nil {
			return err
		}
	}
	err := b.writer.do(ctx, &request{alone: b.scrub})
	if err != nil && b.endErr() == nil {
		return fmt.Errorf("eventlog: scrub %s: %w", b.path, b.noteError(err))
	}
	return err
}

// scrub is Scrub's work, which the writer calls between two commits.
func (b *Bolt) scrub() error {
	b.swap.Lock() // a reader may be in pages that were given up since it began
	defer b.swap.Unlock()
	info, err := b.file.Stat()
	if err != nil {
		return err
	}
	free, end, size, err := boltcheck.Unused(b.file, info.Size())
	if err != nil {
		return corruptf(0, "", "which pages are unused: %s", err)
	}
	for _, id := range free {
		if err := b.zero(int64(id*size), int(size)); err != nil {
			return err
		}
	}
	for at := int64(end * size); at < info.Size(); at += int64(size) {
		if err := b.zero(at, int(min(int64(size), info.Size()-at))); err != nil {
			return err
		}
	}
	return b.file.Sync()
}

// zero writes zeros to a place of the file, unless they are there.
func (b *Bolt) zero(at int64, n int) error {
	page, none := make([]byte, n), make([]byte, n)
	if _, err := b.file.ReadAt(page, at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.Equal(page, none) {
		return nil
	}
	_, err := b.file.WriteAt(none, at)
	return err
}
