package union

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Config is how a Union is opened.
type Config struct {
	// Dir is the folder of the copies. The first Add or Erase makes it; its parent must exist. Whoever leaves a space removes it, once the
	// Union is closed.
	Dir string

	// Copies is how copies are opened. Found is not called; see Union.Copies. NoSync is meant for the journal too.
	Copies eventlog.Config

	// Wait is how long a run waits for what its records name; 0 means one minute.
	Wait time.Duration

	// Now says when something became known here; nil means time.Now.
	Now func() time.Time
}

// needWait is how long a run waits where nothing else is asked for: longer than it takes to fetch two logs that name
// each other, and no longer than a person waits for yesterday's work.
const needWait = time.Minute

// Union is the own log and copies of others in one order without gaps. It implements eventlog.Reader. Its methods are
// safe for concurrent use; those that change something wait for each other.
type Union struct {
	own  *eventlog.Bolt
	cfg  Config
	turn *semaphore.Weighted // has room for the one who changes what is here

	journal    *journal    // used by who has the turn, as waits and copyStates; nil: nothing of another log was ever here
	waits      []wait      // in the order in which they came
	copyStates []copyState // by number

	mu      sync.Mutex // guards the fields below
	id      events.LogID
	order   *order
	bolts   []*eventlog.Bolt // by number; the first is the own log. It is replaced, never changed
	held    events.Position  // the own log's records behind it are not shown: others are just being placed
	changed chan struct{}    // closed and replaced when there may be more, closed at the end
	ended   error
	damage  map[events.LogID]string

	asideReasons map[events.LogID]string // what Open set aside: it is not changed later
}

// Close closes the copies, once a change that is under way has ended. Later calls return eventlog.ErrClosed. Closing twice is no error.
func (u *Union) Close() error {
	_ = u.turn.Acquire(context.Background(), 1) // never fails
	defer u.turn.Release(1)
	u.mu.Lock()
	ended := u.ended
	if ended == nil {
		u.ended = eventlog.ErrClosed
		close(u.changed)
	}
	u.mu.Unlock()
	if ended != nil {
		return nil
	}
	return u.closeFiles()
}

func (u *Union) closeFiles() (err error) {
	if u.journal != nil {
		err = u.journal.close()
	}
	for _, b := range u.bolts[1:] {
		if b != nil {
			err = errors.Join(err, b.Close())
		}
	}
	return err
}

// err is why the union ended, or nil.
func (u *Union) err() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended
}

// enter returns when the caller may change what is here, and leave must be called then.
func (u *Union) enter(ctx context.Context) (leave func(), err error) {
	if err := u.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	leave = func() { u.turn.Release(1) }
	if err := u.err(); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// unheld is what Union.held is where all of the own log is shown.
const unheld events.Position = math.MaxUint64

// publish changes what readers see, and wakes them.
func (u *Union) publish(change func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change()
	if u.ended == nil {
		close(u.changed)
		u.changed = make(chan struct{})
	}
}

// waiting is how many records of a log wait.
func (u *Union) waiting(log uint32) (n events.Position) {
	for _, w := range u.waits {
		if w.log == log {
			n += events.Position(w.n)
		}
	}
	return n
}

// journalName is the file in Config.Dir that says which records follow each other; each copy is a log beside it.
const journalName = "order"

func (u *Union) journalPath() string { return filepath.Join(u.cfg.Dir, journalName) }

// copySuffix ends the names of the files of copies, behind the id of the log.
const copySuffix = ".db"

func (u *Union) copyPath(log events.LogID) string {
	return filepath.Join(u.cfg.Dir, log.String()+copySuffix)
}
