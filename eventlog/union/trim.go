package union

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Limits is what Trim leaves.
type Limits struct {
	Age   time.Duration // of payloads since they were recorded; 0 means 90 days
	Bytes int64         // of all copies' files; 0 means 20 GiB
}

// The limits that are meant where none are given: what a person still looks up, and what a disk of today does not notice.
const (
	defaultAge   = 90 * 24 * time.Hour
	defaultBytes = 20 << 30
)

// Trimmed is what Trim did.
type Trimmed struct {
	Records int   `json:"records"` // whose payloads are withheld now
	Bytes   int64 `json:"bytes"`   // of all copies' files, afterwards
}

// trimBatch is how many records are withheld in one commit.
const trimBatch = 1000

// Trim withholds payloads of copies that are only what memory is made of (see events.Traits), the oldest first: those
// over the age, and then those for which there is no room. Their owner has them. What is memory itself stays, so that
// Bytes may be more than was asked for. Files in which much was withheld are written anew. It may take minutes; Add
// has its turn meanwhile. Errors: ErrCopy, *eventlog.CorruptError, the file system's; what was withheld before stays
// so.
func (u *Union) Trim(ctx context.Context, limits Limits) (done Trimmed, err error) {
	t := trim{u: u, cutoff: u.cfg.Now().Add(-cmp.Or(limits.Age, defaultAge)), touched: map[uint32]bool{}}
	size, err := u.used(ctx)
	t.excess = size - cmp.Or(limits.Bytes, defaultBytes)
	for more := err == nil; more && err == nil; {
		more, err = t.step(ctx)
	}
	done.Records = t.withheld
	for n := range t.touched {
		err = errors.Join(err, u.shrink(ctx, n))
	}
	for _, c := range u.Copies() {
		done.Bytes += c.Bytes
	}
	return done, err
}

// used is how many bytes the copies take, without the unused pages of their files.
func (u *Union) used(ctx context.Context) (bytes int64, err error) {
	v, err := u.view()
	if err != nil {
		return 0, err
	}
	for n, b := range v.bolts[1:] {
		if b == nil {
			continue
		}
		s, err := b.Stats(ctx)
		if err != nil {
			return 0, copyErr(v.logs[n+1], err)
		}
		bytes += s.FileBytes - s.FreeBytes
	}
	return bytes, nil
}

// trim is a Trim under way.
type trim struct {
	u        *Union
	cutoff   time.Time
	excess   int64 // bytes that are still to go
	withheld int
	touched  map[uint32]bool
}

// step withholds what is among the next records of the copy whose next record is the oldest. more is false when there
// is nothing more to do.
func (t *trim) step(ctx context.Context) (more bool, err error) {
	leave, err := t.u.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	n, first, err := t.oldest(ctx)
	if err != nil || n == ownNumber || t.excess <= 0 && !first.Before(t.cutoff) {
		return false, err
	}
	at, upTo, freed, err := t.erasablePayloads(ctx, n)
	if err != nil {
		return false, err
	}
	if err := t.u.bolts[n].Withhold(ctx, at...); err != nil {
		return false, copyErr(t.u.order.logs[n], err)
	}
	if err := t.u.journal.add(entry{kind: kindTrimmed, log: n, a: uint64(upTo)}); err != nil {
		return false, err
	}
	t.u.copyStates[n].trimmed = upTo
	t.withheld, t.excess = t.withheld+len(at), t.excess-freed
	if len(at) > 0 {
		t.touched[n] = true
	}
	return true, nil
}

// oldest returns the copy whose first record that was not looked at was recorded before those of the others; own where there is none.
func (t *trim) oldest(ctx context.Context) (n uint32, first time.Time, err error) {
	for i := 1; i < len(t.u.bolts); i++ {
		b, next := t.u.bolts[i], t.u.copyStates[i].trimmed+1
		if b == nil {
			continue
		}
		if last, _, err := b.State(); err != nil || next > last {
			continue
		}
		r, err := b.Get(ctx, next)
		if err != nil {
			return ownNumber, first, copyErr(t.u.order.logs[i], err)
		}
		if n == ownNumber || r.RecordedAt.Before(first) {
			n, first = uint32(i), r.RecordedAt
		}
	}
	return n, first, nil
}

// erasablePayloads returns those of the next records of a copy whose payloads may go, up to where it looked, and how many bytes they take.
func (t *trim) erasablePayloads(ctx context.Context, n uint32) (at []events.Position, upTo events.Position, freed int64, err error) {
	b := t.u.bolts[n]
	upTo = t.u.copyStates[n].trimmed
	last, _, _ := b.State()
	for r, err := range b.Between(ctx, upTo+1, min(last, upTo+trimBatch)) {
		if err != nil {
			return nil, 0, 0, copyErr(t.u.order.logs[n], err)
		}
		if t.excess-freed <= 0 && !r.RecordedAt.Before(t.cutoff) {
			break
		}
		upTo = r.Position
		if traits, _ := r.Kind.Traits(); traits.IsRaw() && !r.Erased {
			at, freed = append(at, r.Position), freed+int64(r.PayloadSize())
		}
	}
	return at, upTo, freed, nil
}

// shrink writes the copy of a log anew if a quarter of its file is unused.
func (u *Union) shrink(ctx context.Context, n uint32) error {
	leave, err := u.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s, err := u.bolts[n].Stats(ctx)
	if err == nil && s.FreeBytes > s.FileBytes/4 {
		err = u.bolts[n].Compact(ctx)
	}
	if err != nil {
		return copyErr(u.order.logs[n], err)
	}
	return nil
}
