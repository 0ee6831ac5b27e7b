package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/projections/engine"
)

// ErrClosed is a call after Close.
var ErrClosed = transient.Mark(errors.New("index: closed"))

// ErrRebuilding is a question to an index that was damaged, and does not know yet again what it knew.
var ErrRebuilding = transient.Mark(errors.New("index: it was damaged, and is being made anew from the log"))

// Config says how an index works. The zero value works.
type Config struct {
	Logger *slog.Logger  // for rebuilds and damage; nil: none
	Flush  time.Duration // how long batches may stay in memory before they are written to disk; 0 means 500 ms
	Brief  bool          // whoever closes it deletes its folder: Close waits for nothing to be written
}

// doubt is damage that a search met in a store.
type doubt struct {
	met *store
	why error
}

// Index is the search index over one log. Open makes it; Run or CatchUp brings it to the log's end; Search asks it.
// All methods are safe for concurrent use.
type Index struct {
	dir      string
	folder   *os.File // dir, held open: what is at the path may become somebody else's
	held     os.FileInfo
	log      eventlog.Reader
	logger   *slog.Logger
	flush    time.Duration
	brief    bool
	analyzer *analyzer
	scratches

	store   atomic.Pointer[store] // in use; nil after Close
	doubt   chan doubt            // one at most: damage that a search met
	writing chan struct{}         // one token; who holds it may use builder and exchange store
	builder *builder

	rebuilds chan struct{} // one token; who holds it may make a store beside the one in use. It is taken before writing
	closing  chan struct{} // closed by Close
	shut     sync.Once     // that does so

	progress engine.Progress // what searches see
	owed     atomic.Uint64   // position up to which what was damaged is to be known again before anything is answered
}

// Open opens the index in dir over log. An index that is damaged, older, newer or of another log is emptied, to be
// filled again by Run or CatchUp; so is one that is ahead of log. Errors are those of the file system, of the log, or
// that another process has the index open.
func Open(ctx context.Context, dir string, log eventlog.Reader, conf Config) (*Index, error) {
	x := &Index{
		dir: dir, log: eventlog.ReadableFrom(log), logger: conf.Logger, flush: conf.Flush, brief: conf.Brief, analyzer: newAnalyzer(),
		doubt: make(chan doubt, 1), writing: make(chan struct{}, 1),
		rebuilds: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	x.flush = cmp.Or(x.flush, 500*time.Millisecond)
	x.logger = cmp.Or(x.logger, slog.New(slog.DiscardHandler))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("index: open: %w", err)
	}
	if err := x.hold(); err != nil {
		return nil, err
	}
	s, err := x.openCurrent(ctx)
	if errors.Is(err, errDamaged) {
		x.logger.Warn("search index starts anew", "err", err)
		s, err = x.startAnew(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, x.folder.Close())
	}
	x.removeOthers(filepath.Base(s.dir))
	x.use(s)
	return x, nil
}

// hold opens the folder, so that no other can be taken for it.
func (x *Index) hold() (err error) {
	if x.folder, err = os.Open(x.dir); err != nil {
		return fmt.Errorf("index: open: %w", err)
	}
	if x.held, err = x.folder.Stat(); err != nil {
		return fmt.Errorf("index: open: %w", errors.Join(err, x.folder.Close()))
	}
	return nil
}

// checkInPlace returns engine.ErrMoved if the path does not name the folder any more.
func (x *Index) checkInPlace() error {
	if err := engine.CheckNotMoved(x.dir, x.held); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// startAnew makes an empty store the one in use, because the one there was cannot be used.
func (x *Index) startAnew(ctx context.Context) (*store, error) {
	if err := x.owe(ctx); err != nil {
		return nil, err
	}
	s, err := x.fresh()
	if err != nil {
		return nil, err
	}
	return s, x.makeCurrent(s)
}

// owe has questions wait until the index knows what the log holds now.
func (x *Index) owe(ctx context.Context) error {
	last, err := x.log.Last(ctx)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	x.owed.Store(uint64(last))
	return nil
}

// Rebuilding reports whether the index was damaged, and does not know yet again what it knew.
func (x *Index) Rebuilding() bool { return uint64(x.Position()) < x.owed.Load() }

// rebuildWait is how long a question waits for an index that is being made anew: a small one is done by then.
const rebuildWait = 2 * time.Second

// whole returns the store in use once it knows what it is to know, for which it waits no longer than patience. Errors: ErrClosed,
// ErrRebuilding, ctx's.
func (x *Index) whole(ctx context.Context, patience time.Duration) (*store, error) {
	if x.Rebuilding() {
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if _, err := x.progress.WaitUnlessStopped(limited, events.Position(x.owed.Load())); err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("%w, at %d of %d", ErrRebuilding, x.Position(), x.owed.Load())
		} else if err != nil {
			return nil, fmt.Errorf("index: %w", ctx.Err())
		}
	}
	return x.current()
}

// ask has f answer from the store in use, and from the next one where that is exchanged meanwhile. What met damage is asked again
// of the one that is made anew. It waits for that no longer than patience each time; then the error is ErrRebuilding.
func ask[A any](ctx context.Context, x *Index, patience time.Duration, f func(*store) (A, error)) (answer A, err error) {
	for {
		s, err := x.whole(ctx, patience)
		if err != nil {
			return answer, err
		}
		answer, err := f(s)
		switch {
		case errors.Is(err, errStoreClosed) && s != x.store.Load():
			continue // a newer one took its place meanwhile
		case !errors.Is(err, errDamaged):
			return answer, err
		}
		if err := x.suspect(ctx, s, err); err != nil {
			return answer, err
		}
	}
}

// openCurrent opens the store in use and compares it with the log.
func (x *Index) openCurrent(ctx context.Context) (*store, error) {
	s, err := openStore(filepath.Join(x.dir, x.currentName()), x.flush)
	if err != nil {
		return nil, err
	}
	if err := s.compare(ctx, x.log); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// compare returns errDamaged if the store was not made from log.
func (s *store) compare(ctx context.Context, log eventlog.Reader) error {
	if s.point.Position == 0 {
		return nil
	}
	if _, order, err := engine.OriginOf(ctx, log); err != nil {
		return fmt.Errorf("index: open: %w", err)
	} else if !s.point.Order.IsZero() && order != s.point.Order {
		return fmt.Errorf("%w: the logs of other machines are in another order, or went", errDamaged)
	}
	r, err := log.Get(ctx, s.point.Position)
	if errors.Is(err, events.ErrCorrupt) {
		return nil // nothing says that it is another log
	}
	if errors.Is(err, eventlog.ErrNotFound) {
		return fmt.Errorf("%w: the log ends before position %d", errDamaged, s.point.Position)
	}
	if err != nil {
		return fmt.Errorf("index: open: %w", err)
	}
	if r.Chain != s.point.Chain {
		return fmt.Errorf("%w: record %d is not the one that was indexed", errDamaged, s.point.Position)
	}
	return nil
}

// use makes s the store that searches and the builder see. The caller holds the writing token, or nobody else has x.
func (x *Index) use(s *store) {
	x.builder = newBuilder(s, x.log, x.analyzer)
	x.store.Store(s)
	x.progress.Reach(s.point.Position)
}

// current returns the store in use.
func (x *Index) current() (*store, error) {
	if s := x.store.Load(); s != nil {
		return s, nil
	}
	return nil, ErrClosed
}

// Position is what the index knows: searches that begin now see every record up to it.
func (x *Index) Position() events.Position { return x.progress.Position() }

// Trouble is why the index goes no further for now, or for good; nil: it does.
func (x *Index) Trouble() *engine.Trouble { return x.progress.Trouble() }

// Wait returns when the index knows position at. It waits while Run tries again what it could not do. The error is ctx's, also
// beside engine.ErrStopped where it was in trouble then, or why Run has failed for good.
func (x *Index) Wait(ctx context.Context, at events.Position) error {
	applied, err := x.progress.Wait(ctx, at)
	return waitError(at, applied, err)
}

// WaitUnlessStopped is Wait, but for engine.ErrStopped at once where Run is in trouble.
func (x *Index) WaitUnlessStopped(ctx context.Context, at events.Position) error {
	applied, err := x.progress.WaitUnlessStopped(ctx, at)
	return waitError(at, applied, err)
}

func waitError(at, applied events.Position, err error) error {
	if err != nil {
		return fmt.Errorf("index: wait for %d, at %d: %w", at, applied, err)
	}
	return nil
}

// lock takes the writing token.
func (x *Index) lock(ctx context.Context) error { return take(ctx, x.writing) }

func (x *Index) unlock() { <-x.writing }

// lockRebuilds takes the token of rebuilds.
func (x *Index) lockRebuilds(ctx context.Context) error { return take(ctx, x.rebuilds) }

func (x *Index) unlockRebuilds() { <-x.rebuilds }

func take(ctx context.Context, token chan<- struct{}) error {
	select {
	case token <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("index: %w", ctx.Err())
	}
}

// Stats describes the index.
type Stats struct {
	Version   int             `json:"version"` // of its format
	Documents uint64          `json:"documents"`
	Bytes     int64           `json:"bytes"` // of its files
	Position  events.Position `json:"position"`
	Segments  int             `json:"segments"`
}

// Stats returns what the index holds now. The error is ErrClosed, or one of reading it.
func (x *Index) Stats() (Stats, error) {
	s, err := x.current()
	if err != nil {
		return Stats{}, err
	}
	snap, err := s.snapshot()
	if err != nil {
		return Stats{}, err
	}
	defer snap.Close()
	st := Stats{Version: format, Position: x.Position(), Segments: len(snap.Segments())}
	if st.Documents, err = snap.DocCount(); err != nil {
		return Stats{}, fmt.Errorf("index: stats: %w", err)
	}
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return Stats{}, fmt.Errorf("index: stats: %w", err)
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil { // one that was merged away meanwhile takes no room
			st.Bytes += info.Size()
		}
	}
	return st, nil
}

// Close writes what is left, unless the index is brief, and closes the files. Run must have returned; a Rebuild under way is broken
// off and waited for. Closing twice is no error.
func (x *Index) Close() error {
	x.shut.Do(func() { close(x.closing) })
	if err := x.lockRebuilds(context.Background()); err != nil {
		return err
	}
	defer x.unlockRebuilds()
	if err := x.lock(context.Background()); err != nil {
		return err
	}
	defer x.unlock()
	s := x.store.Swap(nil)
	if s == nil {
		return nil
	}
	var err error
	if !x.brief {
		err = x.writeOut(s)
	}
	if errors.Is(err, errUnwritten) || errors.Is(err, errDamaged) || errors.Is(err, context.DeadlineExceeded) {
		x.logger.Warn("the search index is not on disk as far as it knows the log; the next start reads the rest again", "err", err)
		err = nil
	}
	if x.checkInPlace() != nil {
		s.abandon() // what is at the path is not ours to mark
		return errors.Join(err, x.folder.Close())
	}
	return errors.Join(err, s.close(), x.folder.Close())
}

// writeOut returns when all that was added to s is on disk. The caller holds writing.
func (x *Index) writeOut(s *store) error {
	if err := x.builder.flush(); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return s.sync(limited)
}

// closeLimit is how long Close waits for batches to get to disk: what does not is read again.
const closeLimit = 2 * time.Second

const (
	currentFile = "current"
	firstStore  = "g1"
)

// currentName is the folder of the store in use.
func (x *Index) currentName() string {
	b, err := durable.ReadBounded(filepath.Join(x.dir, currentFile), maxNote)
	name := strings.TrimSpace(string(b))
	if n, bad := strconv.Atoi(strings.TrimPrefix(name, "g")); err != nil || bad != nil || name != "g"+strconv.Itoa(n) {
		return firstStore
	}
	return name
}

// removeOthers deletes stores that are not in use: what an interrupted rebuild left. What cannot be deleted only
// takes room.
func (x *Index) removeOthers(name string) {
	dirs, _ := filepath.Glob(filepath.Join(x.dir, "g*"))
	for _, d := range dirs {
		if filepath.Base(d) != name {
			if err := os.RemoveAll(d); err != nil {
				x.logger.Warn("old search index stays", "dir", d, "err", err)
			}
		}
	}
}

// fresh makes an empty store beside the one in use, or returns engine.ErrMoved. The caller holds the token of rebuilds, or nobody
// else has x.
func (x *Index) fresh() (*store, error) {
	if err := x.checkInPlace(); err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(x.currentName(), "g"))
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	dir := filepath.Join(x.dir, "g"+strconv.Itoa(n+1))
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return openStore(dir, x.flush)
}

// makeCurrent makes s the store that the next Open opens, or returns engine.ErrMoved.
func (x *Index) makeCurrent(s *store) error {
	if err := x.checkInPlace(); err != nil {
		return err
	}
	name := filepath.Base(s.dir)
	if err := durable.Replace(filepath.Join(x.dir, currentFile), []byte(name+"\n"), 0o600); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}
