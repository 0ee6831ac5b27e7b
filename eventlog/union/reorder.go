package union

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// reorder makes the order anew from what is here, with an ID of its own.
func (u *Union) reorder(ctx context.Context) error {
	if u.journal != nil {
		_ = u.journal.close()
		u.journal = nil
	}
	var id events.LogID
	rand.Read(id[:]) // never fails
	for {
		j, all, err := createJournal(u.journalPath(), u.cfg.Copies.NoSync, func(add func(...entry)) error {
			addIDs(add, u.order.logs, id)
			u.addBooks(add)
			return u.addMerged(ctx, add)
		})
		if damage, ok := errors.AsType[*damagedError](err); ok {
			if err := u.setAside(damage.log, damage.Error()); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		f := fold(all)
		u.journal, u.id, u.order, u.waits, u.copyStates = j, f.id, f.order, f.waits, f.copyStates
		return u.resume(ctx)
	}
}

// addBooks adds what is known of the copies beside the order.
func (u *Union) addBooks(add func(...entry)) {
	for n, k := range u.copyStates {
		for _, at := range slices.Sorted(maps.Keys(k.erased)) {
			add(entry{kind: kindErased, log: uint32(n), a: uint64(at)})
		}
		if len(k.erased) > 0 && !k.unclean {
			add(entry{kind: kindClean, log: uint32(n)})
		}
		if k.trimmed > 0 {
			add(entry{kind: kindTrimmed, log: uint32(n), a: uint64(k.trimmed)})
		}
	}
}

// damagedError is a copy that cannot be read to its end.
type damagedError struct {
	error
	log uint32
}

// addMerged adds the runs of an order by when records were recorded, by log and by position. A time that has not come
// yet counts as now.
func (u *Union) addMerged(ctx context.Context, add func(...entry)) (err error) {
	now := u.cfg.Now()
	known := func(r events.Record) int64 { return min(r.RecordedAt.UnixNano(), now.UnixNano()) }
	less := func(a, b events.Record) bool {
		x, y := a.Place(), b.Place()
		return cmp.Or(cmp.Compare(known(a), known(b)), bytes.Compare(x.Log[:], y.Log[:]), cmp.Compare(x.Position, y.Position)) < 0
	}
	m := merging{add: add, seen: map[twinKey]uint32{}}
	merge(u.sources(ctx), less, func(r events.Record, e error) bool {
		if err = e; err == nil {
			n, _ := u.order.numberOf(r.Place().Log)
			m.take(r, n, known(r))
		}
		return err == nil
	})
	m.flush()
	return err
}

// merging makes runs of the records of several logs, which it takes in the order in which they became known.
type merging struct {
	add   func(...entry)
	run   entry
	after events.Position    // the own record that was taken last
	at    int64              // when what was taken last became known
	seen  map[twinKey]uint32 // the number of the log that each record of that time is of
}

// twinKey is what a record has that is in two logs: see Union.twinsOf.
type twinKey struct {
	at events.Position
	id events.ID
}

// take takes the next record, which is of the log with number n and became known at at.
func (m *merging) take(r events.Record, n uint32, at int64) {
	if at != m.at {
		clear(m.seen)
		m.at = at
	}
	key := twinKey{r.Place().Position, r.ID}
	of, twin := m.seen[key]
	if !twin {
		m.seen[key] = n
	}
	if n == ownNumber {
		m.flush()
		m.after = r.Position
		return
	}
	next := entry{kind: kindRun, log: n, a: uint64(m.after), b: uint64(at)}
	if twin {
		next = entry{kind: kindSame, log: n, a: uint64(of)}
	}
	if m.run.log != n || m.run.kind != next.kind || m.run.a != next.a || !twin && at-int64(m.run.b) >= int64(samePeriod) {
		m.flush()
	}
	if m.run.n == 0 {
		m.run = next
	}
	m.run.n++
}

// flush adds the run.
func (m *merging) flush() {
	if m.run.n > 0 {
		m.add(m.run)
	}
	m.run.n = 0
}

// sources yields the records of each log, as of it: see events.Record.Place.
func (u *Union) sources(ctx context.Context) (all []iter.Seq2[events.Record, error]) {
	ownLast, _, _ := u.own.State()
	for n, b := range u.bolts {
		if b == nil {
			continue
		}
		log, last := events.LogID{}, ownLast
		seq := eventlog.Readable(u.own, nil).All(ctx, 1) // where the own log is damaged its other records keep their order
		if n != ownNumber {
			log, last = u.order.logs[n], unheld
			seq = b.All(ctx, 1)
		}
		all = append(all, func(yield func(events.Record, error) bool) {
			for r, err := range seq {
				if n != ownNumber && errors.Is(err, events.ErrCorrupt) {
					err = &damagedError{err, uint32(n)}
				}
				if err == nil && r.Position > last || !yield(r.Moved(log, r.Position, r.Previous, nil), err) {
					return
				}
			}
		})
	}
	return all
}

// minCompactEntries is how many entries a journal has before it is worth writing it anew: 100 kB.
const minCompactEntries = 4 << 10

// compactJournal writes the journal anew where most of its entries are of runs that are one stretch by now: it is read at each start.
func (u *Union) compactJournal() error {
	if u.journal.count < minCompactEntries || u.journal.count < 2*int64(len(u.order.stretches)) {
		return nil
	}
	_ = writeJournal(u.journalPath(), func(add func(...entry)) error { // where there is no room, what is there says the same
		addIDs(add, u.order.logs, u.id)
		u.addBooks(add)
		add(u.order.runs()...)
		for _, w := range u.waits {
			add(w.entries()...)
		}
		return nil
	})
	j, _, err := openJournal(u.journalPath(), u.cfg.Copies.NoSync)
	if err != nil {
		return err
	}
	err = u.journal.close()
	u.journal = j
	return err
}

// resume has what came just before the program ended wait, and erases what was to be erased then.
func (u *Union) resume(ctx context.Context) error {
	for n := uint32(1); int(n) < len(u.copyStates); n++ {
		b := u.bolts[n]
		if b == nil {
			continue
		}
		last, _, err := b.State()
		if err != nil {
			return err
		}
		if from := u.order.shown(n) + u.waiting(n); last > from {
			twins, err := u.twinsBetween(ctx, n, from+1, last)
			if err != nil {
				return err
			}
			u.waits = append(u.waits, split([]wait{{log: n, n: uint32(len(twins)), since: u.cfg.Now(), needsUnknown: true}}, twins)...)
		}
		if !u.copyStates[n].unclean {
			continue
		}
		if err := u.eraseIn(ctx, n, slices.Collect(maps.Keys(u.copyStates[n].erased))); err != nil {
			return err
		}
	}
	return nil
}
