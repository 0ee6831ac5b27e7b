package eventlog

import (
	"context"

	"github.com/cmemd/cmemd/events"
)

// Verify reads the whole log as it stands and returns nil if every record is what it says: positions without a gap,
// versions, back-pointers and chains of every stream, times that never go back, payloads that hash to what their
// headers name, heads that are the streams' last records. Otherwise it returns a *CorruptError for the first record
// that is not, or the error that ended the reading. Erased payloads pass.
//
// It calls progress, unless nil, about every thousand records and at the end, in its own goroutine. Appends may go on
// meanwhile; what comes after the start is not looked at. It keeps about 200 bytes for each stream.
func Verify(ctx context.Context, log Log, progress func(done, total uint64)) error {
	err := verify(ctx, log, progress)
	if n, ok := log.(Noter); ok {
		return n.NoteVerified(err)
	}
	return err
}

func verify(ctx context.Context, log Log, progress func(done, total uint64)) error {
	total, err := log.Last(ctx)
	if err != nil {
		return err
	}
	if progress == nil {
		progress = func(uint64, uint64) {}
	}
	c := newChain()
	for r, err := range log.All(ctx, 1) {
		if err == nil && r.Position > total {
			break
		}
		if err != nil {
			return err
		}
		if err := c.admitWhole(r); err != nil {
			return err
		}
		if r.Position%1000 == 0 {
			progress(uint64(r.Position), uint64(total))
		}
	}
	if c.last != total {
		return corruptf(c.last+1, "", "there is no such record, yet the log ends at %d", total)
	}
	progress(uint64(total), uint64(total))
	return verifyHeads(ctx, log, c.heads)
}

// verifyHeads compares what the log says of its streams' ends with what was read. Streams may have grown since.
func verifyHeads(ctx context.Context, log Log, heads map[events.StreamID]head) error {
	for id, h := range heads {
		v, last, err := log.Head(ctx, id)
		if err != nil {
			return err
		}
		if v < h.Version || last < h.Last || (v == h.Version) != (last == h.Last) {
			return corruptf(h.Last, id, "the head says version %d at %d, the record says %d", v, last, h.Version)
		}
	}
	return nil
}
