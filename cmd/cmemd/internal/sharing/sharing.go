package sharing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/sleep"
)

// Config is what a Sharing works with. All of it is required but Now and Log.
type Config struct {
	Dir    string                                                                               // of all that is kept; the first Join makes it
	Own    eventlog.Reader                                                                      // this home's log
	Copies share.Copies                                                                         // of others' logs
	Check  func(ctx context.Context, log events.LogID, progress func(done, total uint64)) error // reads a copy again

	// Forget is share.Config's.
	Forget func(ctx context.Context, at []events.Place) error

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: discarded
}

const (
	shareDir  = "share"
	copiesDir = "copies"

	settleWait = 2 * time.Second // in which a store on this side of the world is read; nobody waits longer for an answer

	stopWait     = 2 * time.Second // of the daemon's five for its end
	firstRetry   = time.Second     // between two lives of what carries logs, doubling to
	longestRetry = 30 * time.Second
)

// Sharing is this home's part in a space, or in none. Its methods are safe for concurrent use.
type Sharing struct {
	cfg     Config
	turn    *semaphore.Weighted // holds one token, for whoever joins or leaves
	settled chan struct{}       // see Settled
	settle  func()              // closes it, once

	mu     sync.Mutex // guards the fields below
	joined *joined    // nil: none, or why says why it cannot run
	why    error
}

// joined is what runs while the home is in a space.
type joined struct {
	address address
	store   *lazyStore
	space   *space.Space
	share   *share.Share
	opened  time.Time // when share was
	stop    context.CancelFunc
	done    chan struct{} // closed when nothing of it runs
}

// New returns a Sharing that does nothing yet.
func New(cfg Config) *Sharing {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	s := &Sharing{cfg: cfg, turn: semaphore.NewWeighted(1), settled: make(chan struct{})}
	s.settle = sync.OnceFunc(func() { close(s.settled) })
	if !hasJoined(cfg.Dir) {
		s.settle()
	}
	return s
}

// Settled is closed once what other machines forgot while this one was off is forgotten here, or two seconds after Start: then
// whoever asks is answered from what is here, as without a network, and Status says so. For a home in no space it is closed
// from the beginning.
func (s *Sharing) Settled() <-chan struct{} { return s.settled }

// Clean removes the copies of others' logs from dir where the home is in no space: it has left one. It is called before they are opened.
func Clean(dir string) error {
	if hasJoined(dir) {
		return nil
	}
	return os.RemoveAll(filepath.Join(dir, copiesDir))
}

// hasJoined reports whether a home is in a space. One that never was has no file of this package.
func hasJoined(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "space"))
	return err == nil
}

// Joined reports whether this home is in a space.
func (s *Sharing) Joined() bool { return hasJoined(s.cfg.Dir) }

// Start runs what carries logs, where the home is in a space; else it does nothing. It asks the store nothing. What keeps it from running
// is said by Status. Stop must be called.
func (s *Sharing) Start() {
	if !hasJoined(s.cfg.Dir) {
		return
	}
	a, err := readAddress(s.cfg.Dir)
	if err == nil {
		err = s.start(a)
	}
	s.setStartError(err)
}

// setStartError keeps why what carries logs could not be started, for Status; nil: it was.
func (s *Sharing) setStartError(err error) {
	s.mu.Lock()
	s.why = err
	s.mu.Unlock()
	if err != nil {
		s.settle()
		s.cfg.Log.Error("nothing is shared with other machines", "err", err)
	}
}

// start runs what carries logs through the store at a.
func (s *Sharing) start(a address) error {
	ctx, stop := context.WithCancel(context.Background())
	j, err := s.open(joined{address: a, store: &lazyStore{open: a.reopen}, stop: stop, done: make(chan struct{})})
	if err != nil {
		stop()
		return err
	}
	s.mu.Lock()
	s.joined, s.why = j, nil
	s.mu.Unlock()
	go func() {
		defer close(j.done)
		s.run(ctx, j)
	}()
	return nil
}

// open opens what the home knows of its space.
func (s *Sharing) open(j joined) (_ *joined, err error) {
	if j.space, err = space.Open(s.cfg.Dir, j.store); err != nil {
		return nil, err
	}
	j.share, err = share.New(share.Config{
		Dir: filepath.Join(s.cfg.Dir, shareDir), Space: j.space, Own: s.cfg.Own, Copies: s.cfg.Copies, Codec: events.NewCodec(),
		Forget: s.cfg.Forget, Now: s.cfg.Now, Log: s.cfg.Log,
	})
	j.opened = time.Now()
	return &j, err
}

// renew opens again what j knows, which goes on as another machine or by another log's name. It does nothing where j was stopped.
func (s *Sharing) renew(j *joined) (*joined, error) {
	next, err := s.open(*j)
	if err != nil {
		return j, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.joined == j {
		s.joined = next
	}
	return next, nil
}

// run carries logs until ctx is done. A life that ends with an error is followed by another one.
func (s *Sharing) run(ctx context.Context, j *joined) {
	var wg sync.WaitGroup
	defer wg.Wait()
	ready := j.share.Ready()
	wg.Go(func() {
		waitAtMost(ctx, ready, settleWait)
		s.settle()
	})
	for pause := firstRetry; ctx.Err() == nil; pause = min(2*pause, longestRetry) {
		err := j.share.Run(ctx) // again where it was renewed: then it says so again
		if ctx.Err() != nil || errors.Is(err, eventlog.ErrClosed) {
			return
		}
		if errors.Is(err, share.ErrRenewed) {
			if j, err = s.renew(j); err == nil {
				continue
			}
		}
		s.cfg.Log.Error("logs are not carried to other machines", "err", err, "again_in", pause)
		_ = sleep.For(ctx, pause)
	}
}

// waitAtMost returns once done is closed, after a time, or when ctx is done.
func waitAtMost(ctx context.Context, done <-chan struct{}, limit time.Duration) {
	select {
	case <-done:
	case <-time.After(limit):
	case <-ctx.Done():
	}
}

// Stop ends what runs, and waits two seconds for it at most.
func (s *Sharing) Stop() {
	s.mu.Lock()
	j := s.joined
	s.joined = nil
	s.mu.Unlock()
	if j == nil {
		return
	}
	j.stop()
	select {
	case <-j.done:
		if err := j.store.Close(); err != nil {
			s.cfg.Log.Warn("the store of other machines' logs", "err", err)
		}
	case <-time.After(stopWait):
		s.cfg.Log.Warn("a call to the store of other machines' logs does not end", "store", j.address.shown())
	}
}

// now is what runs; ErrNotJoined where nothing does, or why nothing can.
func (s *Sharing) now() (*joined, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.joined != nil:
		return s.joined, nil
	case s.why != nil:
		return nil, s.why
	case hasJoined(s.cfg.Dir): // what is asked before Start, or behind Stop, is not to pass for done
		return nil, errNotRunning
	}
	return nil, ErrNotJoined
}

// removeState removes what package share keeps, and where the store is.
func removeState(dir string) error {
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, shareDir)), durable.Remove(filepath.Join(dir, addressFile))); err != nil {
		return fmt.Errorf("remove what was kept of the space: %w", err)
	}
	return nil
}

var _ store.Store = (*lazyStore)(nil)
