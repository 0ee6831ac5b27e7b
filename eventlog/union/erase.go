package union

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

// Erase removes payloads of copies, and is on disk when it returns. It holds for ever: what is not here yet, or comes
// again, comes without its payload. So do the same records of other copies (see Same). Erasing twice is no error. Compact
// takes the traces away. Errors: ErrOwn, ErrCopy,
// *eventlog.CorruptError, the file system's; after an error what was to be erased is erased by the next Open at the
// latest, unless it was ErrOwn.
func (u *Union) Erase(ctx context.Context, at ...events.Place) error {
	leave, err := u.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if len(at) == 0 {
		return nil
	}
	if err := u.begin(ctx); err != nil {
		return err
	}
	return u.erase(ctx, u.withTwins(at))
}

// erase is Erase. Its caller has the turn.
func (u *Union) erase(ctx context.Context, at []events.Place) error {
	if len(at) == 0 {
		return nil
	}
	asked, entries, err := u.eraseEntries(at)
	if err != nil {
		return err
	}
	if err := u.journal.add(entries...); err != nil {
		return err
	}
	for n, positions := range asked {
		u.copyStates[n].erase(positions)
		err = errors.Join(err, u.eraseIn(ctx, n, positions))
	}
	return err
}

// eraseEntries returns by log what is to be erased, and what the journal does not say yet of it.
func (u *Union) eraseEntries(at []events.Place) (asked map[uint32][]events.Position, entries []entry, err error) {
	asked = map[uint32][]events.Position{}
	for _, p := range at {
		n, known := u.order.numberOf(p.Log)
		if known && n == ownNumber {
			return nil, nil, fmt.Errorf("%w: erase there what is at %d", ErrOwn, p.Position)
		}
		if !known {
			if n, err = u.enlist(p.Log); err != nil {
				return nil, nil, err
			}
		}
		asked[n] = append(asked[n], p.Position)
		if !u.copyStates[n].erased[p.Position] {
			entries = append(entries, entry{kind: kindErased, log: n, a: uint64(p.Position)})
		}
	}
	return asked, entries, nil
}

// eraseIn erases those of some positions that are in the copy of a log.
func (u *Union) eraseIn(ctx context.Context, n uint32, positions []events.Position) error {
	b := u.bolts[n]
	if b == nil {
		return nil
	}
	last, _, _ := b.State()
	here := make([]events.Position, 0, len(positions))
	for _, p := range positions {
		if p > 0 && p <= last {
			here = append(here, p)
		}
	}
	if err := b.Erase(ctx, here...); err != nil {
		return copyErr(u.order.logs[n], err)
	}
	return nil
}

// Compact writes anew the copies in which something was erased since, so that no trace of it is left, and removes what
// Open set aside of them. Where there is no room for that their unused pages are zeroed. Errors: those of
// eventlog.Bolt's Scrub, ErrCopy.
func (u *Union) Compact(ctx context.Context) error {
	leave, err := u.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	for n := range u.copyStates {
		if u.copyStates[n].unclean {
			err = errors.Join(err, u.clean(ctx, uint32(n)))
		}
	}
	return err
}

func (u *Union) clean(ctx context.Context, n uint32) error {
	if b := u.bolts[n]; b != nil {
		err := b.Compact(ctx)
		if err != nil && ctx.Err() == nil {
			err = b.Scrub(ctx)
		}
		if err != nil {
			return copyErr(u.order.logs[n], err)
		}
	}
	if err := u.removeAside(u.order.logs[n]); err != nil {
		return err
	}
	err := u.journal.add(entry{kind: kindClean, log: n})
	u.copyStates[n].unclean = err != nil
	return err
}

// removeAside removes what was set aside of a log: nothing can be erased in it any more.
func (u *Union) removeAside(log events.LogID) error {
	kept, err := filepath.Glob(u.copyPath(log) + durable.AsideMark + "*")
	for _, path := range kept {
		err = errors.Join(err, os.Remove(path))
	}
	if len(kept) > 0 && err == nil {
		err = durable.SyncDir(u.cfg.Dir)
	}
	if err != nil {
		return fmt.Errorf("union: %w", err)
	}
	return nil
}

// keepDamage has the next Open set damaged copies aside.
func (u *Union) keepDamage() error {
	u.mu.Lock()
	damage := slices.Collect(maps.Keys(u.damage))
	u.mu.Unlock()
	for _, log := range damage {
		n, _ := u.order.number(log)
		if u.copyStates[n].damaged {
			continue
		}
		if err := u.journal.add(entry{kind: kindDamaged, log: n}); err != nil {
			return err
		}
		u.copyStates[n].damaged = true
	}
	return nil
}
