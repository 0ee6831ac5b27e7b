package eventlog

import (
	"sync"

	"github.com/cmemd/cmemd/events"
)

// feed says how far a log reaches, and wakes those who wait for more.
type feed struct {
	mu      sync.Mutex // guards the fields below
	last    events.Position
	changed chan struct{} // closed and replaced when last grows, closed when the log ends
	err     error         // why the log ended
	done    chan struct{} // closed when it did
}

func newFeed(last events.Position) *feed {
	return &feed{last: last, changed: make(chan struct{}), done: make(chan struct{})}
}

// advance moves the end to last.
func (f *feed) advance(last events.Position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last <= f.last || f.err != nil {
		return
	}
	f.last = last
	close(f.changed)
	f.changed = make(chan struct{})
}

// end closes the log for err. Only the first call counts.
func (f *feed) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return
	}
	f.err = err
	close(f.changed)
	close(f.done)
}

// State returns the position of the last record, a channel that is closed when it moves, and why the log ended, if it did.
func (f *feed) State() (last events.Position, changed <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, f.changed, f.err
}

// endErr is why the log ended, or nil.
func (f *feed) endErr() error {
	_, _, err := f.State()
	return err
}
