package union

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Run is records of another log that follow each other, as that log has them: not moved. It is what its owner gave
// away at once: runs that are put together to one would need each other.
type Run struct {
	Log     events.LogID
	Records []events.Record

	// Needs is how far the writer had read other logs as it wrote the last of these records: what they name is there
	// or before. The run has no place until those records have one, for Config.Wait at most. Logs that this machine
	// may not read do not belong here.
	Needs []events.Place
}

// maxNeeds is how many logs a run may need: far more than a person has machines.
const maxNeeds = 1 << 10

// Add takes runs of one log, which continue its copy. When it returns the records are on disk, all or none, and have a
// place in the order unless they wait for what they name. What is here already is passed over. What Erase was asked to
// erase comes without its payload. Errors: ErrOwn, *GapError (ErrGap), ErrForked, eventlog.ErrInvalid,
// *eventlog.CorruptError for records that are not what they say, ErrCopy, and those of eventlog.Restorer.
func (u *Union) Add(ctx context.Context, runs ...Run) error {
	leave, err := u.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	records, err := joined(runs)
	if err != nil || len(records) == 0 {
		return err
	}
	n, b, err := u.copyOf(ctx, runs[0].Log)
	if err != nil {
		return err
	}
	known, err := u.countKnown(ctx, runs[0].Log, records, b)
	if err != nil {
		return err
	}
	waits, err := u.waitsOf(n, runs, known)
	if err != nil || len(waits) == 0 {
		return err
	}
	records = records[known:]
	twins, err := u.twinsOf(ctx, n, records)
	if err != nil {
		return err
	}
	also := u.forgetKnown(n, records, twins)
	if err := b.Restore(ctx, records...); err != nil {
		return copyErr(runs[0].Log, err)
	}
	waits = split(waits, twins)
	u.waits = append(u.waits, waits...)
	if err := u.settle(ctx); err != nil {
		return err
	}
	return errors.Join(u.noteWaits(n, waits), u.erase(ctx, also))
}

// forgetKnown erases what was asked to be erased, of records of the log with a number that have just come, and says where other copies have
// the same records with their payloads.
func (u *Union) forgetKnown(n uint32, records []events.Record, twins []int) (also []events.Place) {
	for i, r := range records {
		asked := u.copyStates[n].erased[r.Position]
		if m := twins[i]; m > ownNumber {
			if other := u.copyStates[m].erased[r.Position]; asked && !other {
				also = append(also, events.Place{Log: u.order.logs[m], Position: r.Position})
			} else {
				asked = asked || other
			}
		}
		if asked {
			records[i] = r.Erase()
		}
	}
	return also
}

// noteWaits has the journal say which of some waits, the last ones of the log with a number, still wait.
func (u *Union) noteWaits(n uint32, waits []wait) error {
	left := 0
	for _, w := range u.waits {
		if w.log == n {
			left++
		}
	}
	var entries []entry
	for _, w := range waits[len(waits)-min(left, len(waits)):] {
		entries = append(entries, w.entries()...)
	}
	return u.journal.add(entries...)
}

// joined is the records of runs, which must be of one log and follow each other.
func joined(runs []Run) (records []events.Record, err error) {
	for _, run := range runs {
		if len(run.Needs) > maxNeeds || run.Log != runs[0].Log {
			return nil, fmt.Errorf("%w: runs of several logs, or one that needs %d, where %d may be", eventlog.ErrInvalid, len(run.Needs), maxNeeds)
		}
		records = append(records, run.Records...)
	}
	for i, r := range records {
		switch {
		case r.IsMoved():
			return nil, fmt.Errorf("union: add record %d of log %s: %w", r.Position, runs[0].Log, events.ErrMoved)
		case r.Position != records[0].Position+events.Position(i):
			reason := fmt.Sprintf("follows position %d", records[i-1].Position)
			return nil, &eventlog.CorruptError{Position: r.Position, Stream: r.Stream, Reason: reason}
		}
	}
	return records, nil
}

// countKnown is how many of a log's records are in its copy already. It compares them with what is there.
func (u *Union) countKnown(ctx context.Context, log events.LogID, records []events.Record, b *eventlog.Bolt) (int, error) {
	last, _, err := b.State()
	if err != nil {
		return 0, copyErr(log, err)
	}
	first := records[0].Position
	if first > last+1 {
		return 0, &GapError{Log: log, Want: last + 1, Given: first}
	}
	n := int(min(uint64(len(records)), uint64(last+1-first)))
	i := 0
	for r, err := range b.Between(ctx, first, first+events.Position(n)-1) {
		if err != nil {
			return 0, copyErr(log, err)
		}
		if r.Chain != records[i].Chain {
			return 0, fmt.Errorf("%w: %d of log %s", ErrForked, r.Position, log)
		}
		i++
	}
	return n, nil
}

// waitsOf is the runs of the log with a number behind the first known records of them, each with what it needs.
func (u *Union) waitsOf(n uint32, runs []Run, known int) (waits []wait, err error) {
	for _, run := range runs {
		fresh := len(run.Records) - known
		if known = max(0, -fresh); fresh <= 0 {
			continue
		}
		w := wait{log: n, n: uint32(fresh), since: u.cfg.Now()}
		for _, p := range run.Needs {
			of, here := u.order.numberOf(p.Log)
			if !here {
				if of, err = u.enlist(p.Log); err != nil {
					return nil, err
				}
			}
			w.needs = append(w.needs, need{log: of, at: p.Position})
		}
		waits = append(waits, w)
	}
	return waits, nil
}

// Settle gives a place to what has waited long enough, opens copies again that failed, and says when to call it again
// at the latest: the zero time where nothing waits. Whoever fetches calls it now and then.
func (u *Union) Settle(ctx context.Context) (next time.Time, err error) {
	leave, err := u.enter(ctx)
	if err != nil {
		return next, err
	}
	defer leave()
	if u.journal == nil {
		return next, nil
	}
	if err := errors.Join(u.settle(ctx), u.reopen(), u.keepDamage()); err != nil {
		return next, err
	}
	for _, w := range u.waits {
		if end := w.since.Add(u.cfg.Wait); next.IsZero() || end.Before(next) {
			next = end
		}
	}
	return next, nil
}

// settle gives a place to all that need not wait any longer. Meanwhile the own log grows, unseen: what is committed
// from now on stands behind what gets a place now, and nobody may see it before that is on disk.
func (u *Union) settle(ctx context.Context) error {
	if len(u.waits) == 0 {
		return nil
	}
	o, last := u.hold()
	defer u.release()
	next, left, entries := u.next(ctx, o, max(last, o.least()))
	if len(entries) == 0 {
		return nil
	}
	if err := u.journal.add(entries...); err != nil {
		return err
	}
	u.waits = left
	u.publish(func() { u.order = next })
	return nil
}

// next gives a place behind the own record at after to all that are ready, and returns the order then, who still
// waits, and what the journal is to say.
func (u *Union) next(ctx context.Context, o *order, after events.Position) (next *order, left []wait, entries []entry) {
	now, waits := u.cfg.Now(), u.waits
	known := u.knownAtNanos(ctx, after, now)
	for placed := true; placed; waits = left {
		left, placed = nil, false
		behind := map[uint32]bool{}
		for _, w := range waits {
			if behind[w.log] || !w.ready(o, after, now, u.cfg.Wait) {
				left, behind[w.log] = append(left, w), true
				continue
			}
			var e entry
			o, e = w.placed(o, after, known)
			entries, placed = append(entries, e), true
		}
		if placed {
			continue
		}
		if i := waitCycle(o, left, after); i >= 0 {
			var e entry
			o, e = left[i].placed(o, after, known)
			entries, placed, left = append(entries, e), true, slices.Delete(left, i, i+1)
		}
	}
	return o, left, entries
}

// knownAtNanos is when what stands behind an own record became known: now, unless a clock that went back made that
// earlier than the record.
func (u *Union) knownAtNanos(ctx context.Context, after events.Position, now time.Time) int64 {
	known := now.UnixNano()
	if r, err := u.own.Get(ctx, after); err == nil {
		known = max(known, r.RecordedAt.UnixNano())
	}
	return known
}

// hold keeps readers from what the own log commits from now on, and returns the order and where the own log ends.
func (u *Union) hold() (*order, events.Position) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.held, _, _ = u.own.State() // it only looks; whoever saw more has not come here yet
	return u.order, u.held
}

// release ends hold.
func (u *Union) release() { u.publish(func() { u.held = unheld }) }
