package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/transient"
)

// Config is how views are kept. Its zero value works.
type Config struct {
	// BootID tells one boot of the machine from another (on Linux /proc/sys/kernel/random/boot_id). The file is not
	// synced while it is written: after a stop that was not clean it is used again only within the same boot. Empty
	// means unknown, so that such a stop costs a rebuild.
	BootID string

	// Machine is the name of another machine, by its log; empty: it has none that is known here. It must be quick. nil: none has one.
	Machine func(events.LogID) string

	Pace   Pace         // of Run
	Logger *slog.Logger // for what an operator should know; nil means none
}

// Errors of Views.
var (
	// ErrUnknownView is a name that is no view's.
	ErrUnknownView = errors.New("projections: no such view")
	// ErrNewerKind is a record of a newer program: what it means for the views is not known, so they go no further.
	ErrNewerKind = errors.New("projections: record of a newer program")
	// ErrStopped is a wait for a position that is not reached, because what follows the log is in trouble.
	ErrStopped = transient.Mark(errors.New("projections: stopped"))
	// ErrClosed is a call after Close.
	ErrClosed = transient.Mark(errors.New("projections: closed"))
)

// Views are views of one log, in one file. Its methods are safe for concurrent use.
type Views struct {
	log    eventlog.Reader
	dir    string
	cfg    Config
	codec  *Codec
	logger *slog.Logger
	views  []View

	rebuilds chan struct{} // holds one token: one Rebuild at a time
	broken   chan error    // one ErrDamaged that a reader met, or ErrMoved, for Run

	// applying is held for one slice, or for one swap: there is one writer at a time, and every view that is up to date
	// is at the same position. It is the transaction, so it is held across I/O. It guards the
	// fields below.
	applying sync.Mutex
	live     []*instance
	origin   Origin
	order    events.LogID // of the logs' records; zero: there is one log
	epoch    uint64       // goes up when the file is made anew: what was begun in an earlier one is worth nothing

	// storing keeps the file from being replaced while it is read.
	storing sync.RWMutex
	store   *store // nil: closed

	progress Progress // of the slowest view
}

// instance is one copy of a view: a bucket and how far it is.
type instance struct {
	view   View
	bucket string
	at     events.Position
	chain  events.Hash // of the record at that position
	epoch  uint64      // of the file that the bucket is in
}

// Open opens views in dir, or makes them; they are as they were left, and follow the log from there once Run or
// CatchUp is called. Views of another version, of another log, or that cannot be vouched for begin anew. The log must
// stay open as long as the views. Close must be called.
func Open(dir string, log eventlog.Reader, cfg Config, views []View) (*Views, error) {
	v := &Views{
		log: eventlog.ReadableFrom(log), dir: dir, cfg: cfg, codec: NewCodec(), logger: cfg.Logger, views: views,
		rebuilds: make(chan struct{}, 1), broken: make(chan error, 1),
	}
	if v.logger == nil {
		v.logger = slog.New(slog.DiscardHandler)
	}
	if err := v.openStore(); err != nil {
		return nil, fmt.Errorf("projections: open %s: %w", dir, err)
	}
	return v, nil
}

// openStore opens the file and takes up every view where it was left. What is damaged is made anew, once. What readers have said of the
// file before it counts no more: of one that was closed to be made anew they said that it is damaged.
func (v *Views) openStore() error {
	var err error
	if v.origin, v.order, err = OriginOf(context.Background(), v.log); err != nil {
		return err
	}
	s, why, err := openStore(v.dir, v.cfg.BootID)
	if err != nil {
		return err
	}
	if why != "" {
		v.logger.Warn("views are built anew", "err", why)
	}
	if s, err = v.setAside(s); err != nil {
		return err
	}
	live, err := v.takeUp(s)
	if errors.Is(err, ErrDamaged) {
		v.logger.Warn("views are built anew", "err", err)
		s.abandon()
		if err := s.Discard(); err != nil {
			return err
		}
		if s, _, err = openStore(v.dir, v.cfg.BootID); err != nil {
			return err
		}
		live, err = v.takeUp(s)
	}
	if err != nil {
		s.abandon()
		return err
	}
	s.origin = v.origin
	v.storing.Lock()
	v.store = s
	select {
	case <-v.broken:
	default:
	}
	v.storing.Unlock()
	v.live = live
	v.publish()
	return nil
}

// Close writes what is left to disk and closes the file. Run, CatchUp and Rebuild must have returned. Later calls
// return ErrClosed. Closing twice is no error.
func (v *Views) Close() error {
	v.storing.Lock()
	defer v.storing.Unlock()
	if v.store == nil {
		return nil
	}
	s := v.store
	v.store = nil
	v.progress.Stop(ErrClosed)
	if err := s.close(); err != nil {
		return fmt.Errorf("projections: close: %w", err)
	}
	return nil
}

// ReadTx is a short read transaction over all views.
type ReadTx struct {
	File   *bolt.Tx // all of it
	views  *Views
	origin Origin
	err    error
}

// View is the live copy of a view, whatever became of it: if it cannot be read, the transaction has failed.
func (r *ReadTx) View(name string) *Tx {
	x := &Tx{Origin: r.origin, machine: r.views.cfg.Machine, seed: sumSeed(0).in(name), codec: r.views.codec, err: &r.err}
	p, ok, err := readPoint(x.codec, r.File, name)
	if err == nil && !ok {
		err = Damaged("no view %s", name)
	}
	if err == nil {
		x.Checkpoint = p.Position
		x.bucket, err = bucketIn(r.File, p.Bucket)
	}
	x.Fail(err)
	return x
}

// Read runs f in a read transaction, with which it must be done when it returns. It is for packages of views. Errors:
// ctx.Err(), ErrClosed, ErrDamaged, which Run mends, and what a Tx of f failed with.
func (v *Views) Read(ctx context.Context, f func(*ReadTx)) error {
	return v.read(ctx, func(btx *bolt.Tx) error {
		r := &ReadTx{File: btx, views: v, origin: v.store.origin}
		f(r)
		return r.err
	})
}

// Origin is whose records are in the views now. Errors are those of Read.
func (v *Views) Origin(ctx context.Context) (o Origin, err error) {
	err = v.read(ctx, func(*bolt.Tx) error {
		o = v.store.origin
		return nil
	})
	return o, err
}

// Machine is what the machine is called that a log is of that is not this one's; empty for the zero log, which is.
func (v *Views) Machine(log events.LogID) string {
	if log.IsZero() {
		return ""
	}
	return machineName(v.cfg.Machine, log)
}

// read is Read, without views.
func (v *Views) read(ctx context.Context, f func(*bolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.storing.RLock()
	defer v.storing.RUnlock()
	if v.store == nil {
		return ErrClosed
	}
	err := v.store.View(f)
	if errors.Is(err, ErrDamaged) {
		v.report(err)
	}
	return err
}

// report hands damage to Run, which repairs it or ends. Where Run has damage to deal with already, nothing happens.
func (v *Views) report(damage error) {
	select {
	case v.broken <- damage:
	default:
	}
}

// View runs f, as Read does, on the live copy of the view of that name.
func (v *Views) View(ctx context.Context, name string, f func(*Tx)) error {
	return v.Read(ctx, func(r *ReadTx) { f(r.View(name)) })
}

func bucketIn(btx *bolt.Tx, name string) (*bolt.Bucket, error) {
	b := btx.Bucket([]byte(name))
	if b == nil {
		return nil, Damaged("no bucket %s", name)
	}
	return b, nil
}

// Position is how far all views have come: an answer given after it contains at least every record up to it.
func (v *Views) Position() events.Position { return v.progress.Position() }

// Trouble is why the views go no further for now, or for good; nil: they do.
func (v *Views) Trouble() *Trouble { return v.progress.Trouble() }

// Wait returns nil when the views have reached position at. It waits while Run tries again what it could not do. Errors:
// ctx.Err(), also beside ErrStopped where they were in trouble then; ErrStopped, where Run has failed for good; ErrClosed.
func (v *Views) Wait(ctx context.Context, at events.Position) error {
	reached, err := v.progress.Wait(ctx, at)
	return waitError(ctx, reached, err)
}

// WaitUnlessStopped is Wait, but for ErrStopped at once where Run is in trouble.
func (v *Views) WaitUnlessStopped(ctx context.Context, at events.Position) error {
	reached, err := v.progress.WaitUnlessStopped(ctx, at)
	return waitError(ctx, reached, err)
}

// waitError is how a wait ended.
func waitError(ctx context.Context, reached events.Position, err error) error {
	switch {
	case err == nil || errors.Is(err, ctx.Err()):
		return err
	case errors.Is(err, ErrClosed):
		return ErrClosed
	}
	return fmt.Errorf("%w at %d: %w", ErrStopped, reached, err)
}

// publish makes the position of the slowest view known. The caller holds applying, or is alone.
func (v *Views) publish() {
	at := v.live[0].at
	for _, i := range v.live {
		at = min(at, i.at)
	}
	v.progress.Reach(at)
}

func (v *Views) publishAll() error {
	v.publish()
	return nil
}
