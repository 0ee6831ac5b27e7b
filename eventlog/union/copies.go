package union

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

// copyOf returns the number and the copy of a log, which is begun if nothing of it is here yet.
func (u *Union) copyOf(ctx context.Context, log events.LogID) (uint32, *eventlog.Bolt, error) {
	if err := u.begin(ctx); err != nil {
		return 0, nil, err
	}
	n, known := u.order.numberOf(log)
	if known && n == ownNumber {
		return 0, nil, fmt.Errorf("%w: records of log %s", ErrOwn, log)
	}
	if !known {
		var err error
		if n, err = u.enlist(log); err != nil {
			return 0, nil, err
		}
	}
	if b := u.bolts[n]; b != nil {
		return n, b, nil
	}
	b, err := u.openBolt(log)
	if err != nil {
		return 0, nil, copyErr(log, err)
	}
	u.setBolt(n, b)
	return n, b, nil
}

// setBolt makes b the copy of the log with a number.
func (u *Union) setBolt(n uint32, b *eventlog.Bolt) {
	u.publish(func() {
		u.bolts = slices.Clone(u.bolts)
		u.bolts[n] = b
	})
}

// begin makes the folder and the journal, if there are none.
func (u *Union) begin(ctx context.Context) error {
	if u.journal != nil {
		return nil
	}
	id, err := eventlog.ID(ctx, u.own)
	if err != nil {
		return err
	}
	if id.IsZero() {
		return fmt.Errorf("%w: it has no record yet", ErrOwn)
	}
	if err := os.Mkdir(u.cfg.Dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("union: %w", err)
	}
	j, _, err := createJournal(u.journalPath(), u.cfg.Copies.NoSync, func(add func(...entry)) error {
		addIDs(add, []events.LogID{id}, id)
		return nil
	})
	if err != nil {
		return err
	}
	u.journal = j
	u.publish(func() {
		o := *u.order
		o.logs = []events.LogID{id}
		u.order, u.id = &o, id
	})
	return nil
}

// enlist gives a log the next number.
func (u *Union) enlist(log events.LogID) (uint32, error) {
	n := uint32(len(u.copyStates))
	if n > maxLogs {
		return 0, fmt.Errorf("%w: more than %d logs", eventlog.ErrInvalid, maxLogs)
	}
	if err := u.journal.add(idEntry(kindLog, n, 0, log)); err != nil {
		return 0, err
	}
	u.copyStates = append(u.copyStates, copyState{})
	u.publish(func() {
		u.order = u.order.with(log)
		u.bolts = append(slices.Clone(u.bolts), nil)
	})
	return n, nil
}

// reopen opens the copies again that failed, as by a full disk.
func (u *Union) reopen() (err error) {
	for n, b := range u.bolts[1:] {
		if b == nil || b.Err() == nil {
			continue
		}
		log := u.order.logs[n+1]
		_ = b.Close()
		again, e := u.openBolt(log)
		if e != nil {
			err = errors.Join(err, copyErr(log, e))
			continue
		}
		u.setBolt(uint32(n+1), again)
	}
	return err
}

// setAside gives the file of a copy another name, so that the copy begins anew.
func (u *Union) setAside(n uint32, reason string) error {
	if b := u.bolts[n]; b != nil {
		_ = b.Close()
		u.bolts[n] = nil
	}
	log := u.order.logs[n]
	kept, err := durable.SetAside(u.copyPath(log), u.cfg.Now())
	if err != nil {
		return fmt.Errorf("union: set the copy of log %s aside: %w", log, err)
	}
	u.copyStates[n].trimmed = 0 // what comes again has its payloads
	u.asideReasons[log] = fmt.Sprintf("it is fetched again: the copy before is kept as %s, as %s", filepath.Base(kept), reason)
	return nil
}

// openBolt opens the copy of a log, or begins it.
func (u *Union) openBolt(log events.LogID) (*eventlog.Bolt, error) {
	if u.cfg.Copies.Codec == nil {
		u.cfg.Copies.Codec = events.NewCodec() // one for all; a home that never joins has none
	}
	return eventlog.Open(u.copyPath(log), u.cfg.Copies)
}
