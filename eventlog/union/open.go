package union

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Open opens the union of own, which stays the caller's and must be open as long as the Union is, and the copies in
// cfg.Dir. A copy that cannot be read any more is set aside, to be fetched again. Where the order of the records
// cannot be read, or is not that of these logs, it is made anew, with another ID: by when records were recorded, then
// by log. Errors: *eventlog.LockedError, *eventlog.NewerFormatError, the file system's.
func Open(own *eventlog.Bolt, cfg Config) (*Union, error) {
	cfg.Wait = cmp.Or(cfg.Wait, needWait)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Copies.Found = nil
	u := &Union{
		own: own, cfg: cfg, turn: semaphore.NewWeighted(1), copyStates: make([]copyState, 1),
		order: newOrder(make([]events.LogID, 1)), bolts: []*eventlog.Bolt{own}, held: unheld,
		changed: make(chan struct{}), damage: map[events.LogID]string{}, asideReasons: map[events.LogID]string{},
	}
	if err := u.load(context.Background()); err != nil {
		return nil, errors.Join(err, u.closeFiles())
	}
	return u, nil
}

// load opens what is in the folder.
func (u *Union) load(ctx context.Context) error {
	j, all, err := openJournal(u.journalPath(), u.cfg.Copies.NoSync)
	if err != nil && !errors.Is(err, errDamaged) {
		return err
	}
	files, listErr := u.files()
	if listErr != nil {
		return listErr
	}
	if j == nil && err == nil && len(files) == 0 {
		return nil
	}
	u.journal = j
	f := fold(all)
	f.bad = f.bad || j == nil
	id, err := eventlog.ID(ctx, u.own)
	if err != nil {
		return err
	}
	f.bad = f.bad || id != f.order.logs[ownNumber]
	f.order.logs[ownNumber] = id
	for _, log := range files {
		if _, known := f.order.number(log); !known {
			f.list(uint32(len(f.copyStates)), log)
			f.bad = true
		}
	}
	u.take(f)
	whole, err := u.openCopies()
	if err == nil && whole {
		whole, err = u.hasTwins(ctx)
	}
	if err != nil {
		return err
	}
	if f.bad || !whole {
		return u.reorder(ctx)
	}
	if err := u.compactJournal(); err != nil { // before resume: of what came just before the program ended the journal says nothing
		return err
	}
	return u.resume(ctx)
}

// take makes what was folded what is here.
func (u *Union) take(f folded) {
	u.id, u.order, u.waits, u.copyStates = f.id, f.order, f.waits, f.copyStates
	u.bolts = append([]*eventlog.Bolt{u.own}, make([]*eventlog.Bolt, len(f.copyStates)-1)...)
}

// files returns the logs of which there are copies.
func (u *Union) files() (logs []events.LogID, err error) {
	entries, err := os.ReadDir(u.cfg.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("union: %w", err)
	}
	for _, e := range entries {
		var id events.LogID
		name, ok := strings.CutSuffix(e.Name(), copySuffix)
		if ok && len(name) == 2*len(id) && id.UnmarshalText([]byte(name)) == nil {
			logs = append(logs, id)
		}
	}
	return logs, nil
}

// openCopies opens the copies there are, and sets aside those that cannot be read. whole is false where one was, or
// where one or the own log has fewer records than the order says.
func (u *Union) openCopies() (whole bool, err error) {
	last, _, err := u.own.State()
	whole = last >= u.order.least()
	for n := uint32(1); int(n) < len(u.copyStates) && err == nil; n++ {
		var reason string
		if reason, err = u.openCopy(n); reason != "" {
			whole, err = false, u.setAside(n, reason)
		}
		if last = 0; u.bolts[n] != nil {
			last, _, _ = u.bolts[n].State()
		}
		if last < u.order.shown(n)+u.waiting(n) {
			whole, u.copyStates[n].trimmed = false, 0 // what comes again has its payloads
		}
	}
	return whole, err
}

// openCopy opens the copy with a number, if there is one, or says why it must be set aside.
func (u *Union) openCopy(n uint32) (reason string, err error) {
	log := u.order.logs[n]
	_, missing := os.Lstat(u.copyPath(log))
	switch {
	case missing != nil:
		return "", nil
	case log == u.order.logs[ownNumber]:
		return "it is of the own log", nil
	case u.copyStates[n].damaged:
		return "it was found damaged", nil
	}
	b, err := u.openBolt(log)
	if errors.Is(err, events.ErrCorrupt) || errors.Is(err, eventlog.ErrNotLog) {
		return err.Error(), nil
	}
	if err != nil {
		return "", copyErr(log, err)
	}
	u.bolts[n] = b
	return "", nil
}
