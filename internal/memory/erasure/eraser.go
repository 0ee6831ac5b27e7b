package erasure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
)

// The causes of a MemoryForgotten.
const (
	CausePerson    = "person"
	CauseRetention = "retention"
)

const (
	// perEvent is how many records one MemoryForgotten names: some 9 kB in the log, and up to 100 bytes for each turn among them.
	perEvent = 1000

	// maxRounds is how often what was said while a session was asked to forget is looked for.
	maxRounds = 10
)

// Files is what holds words beside the log: a view's file, an index, vectors. Purge returns when the words of what was
// forgotten up to a position, and erased from the log, are in none of its bytes any more. It may be called at any time.
type Files struct {
	Name  string // for the log
	Purge func(ctx context.Context, upTo events.Position) error

	// Forget takes out what records of other machines said, which are erased already, and whose being forgotten no record says.
	// It waits until the file has come that far. nil: it holds nothing of other machines.
	Forget func(ctx context.Context, at ...events.Position) error
}

// Config is what an Eraser works with. Log may be a union.Log: what is chosen is chosen among all, and what is recorded and
// erased is the own log's. Log, Views, Do and State are required; zero values of the rest mean the defaults.
type Config struct {
	Log   eventlog.Log
	Views *projections.Views
	Files []Files // made anew after an erasure, in this order

	// Do puts commands to a session and returns when what they led to is on disk. It waits where the session is busy.
	Do func(ctx context.Context, id events.SessionID, cmds ...session.Command) (events.Position, error)

	// Announce is given the positions of what was erased because a person wants it, and returns once it is on disk that others who
	// have it are to erase it too; it may be given the same ones again. What it returns an error for it is given later. nil:
	// nobody else has it.
	Announce func(ctx context.Context, at []events.Position) error

	// Others asks the machines whose records they are, as their own logs have them, to forget them, and notes that on disk before
	// it returns. nil: of other machines' records nothing is chosen.
	Others func(ctx context.Context, at []events.Place) error

	State  string        // path of the file that says what is under way
	Retain time.Duration // after which payloads of settled inputs are erased; 0: never
	Every  time.Duration // between two looks for such inputs. 0 means 24 h
	Slice  time.Duration // rest between two slices of that work, which is in nobody's way. 0 means 100 ms

	Logger *slog.Logger     // nil: discarded
	Now    func() time.Time // nil: time.Now
	NewID  func() events.ID // UUIDv7; nil: from crypto/rand
}

// Eraser takes words out of one log. Its methods are safe for concurrent use: one erasure is done at a time.
type Eraser struct {
	cfg   Config
	whole eventlog.Log // cfg.Log with what is damaged in it
	state stateFile
	busy  *semaphore.Weighted // holds one token
	wake  chan struct{}       // holds one: something is left for Run to finish

	mu     sync.Mutex // guards the fields below
	status Status
	unread map[events.Position]bool // what an erasure met and could not read
}

// New returns an Eraser. It panics without a log, views, a Do and a path for its state.
func New(c Config) *Eraser {
	if c.Log == nil || c.Views == nil || c.Do == nil || c.State == "" {
		panic("erasure: incomplete config")
	}
	c.Every = cmp.Or(c.Every, 24*time.Hour)
	c.Slice = cmp.Or(c.Slice, 100*time.Millisecond)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() events.ID { return uuid.Must(uuid.NewV7()) }
	}
	e := &Eraser{state: stateFile{path: c.State, log: c.Log}, unread: map[events.Position]bool{}, busy: semaphore.NewWeighted(1), wake: make(chan struct{}, 1)}
	e.whole = c.Log
	c.Log = eventlog.Readable(c.Log, e.leftOut) // what cannot be read keeps nobody from forgetting the rest
	e.cfg, e.status.Retention = c, c.Retain
	return e
}

// Done is what an erasure came to.
type Done struct {
	Position events.Position  `json:"position"` // of the last record that says what was forgotten; 0: nothing was
	Records  int              `json:"records"`  // whose payloads are erased
	Sessions int              `json:"sessions"` // of which something is; saved memories count as one
	Refused  []RefusedSession `json:"refused,omitempty"`
	Asked    int              `json:"asked,omitempty"`  // records of other machines, which were asked to forget them
	Unread   int              `json:"unread,omitempty"` // records that were met, and cannot be read: what they say may be there still
}

// leftOut notes a record that cannot be read.
func (e *Eraser) leftOut(at events.Position) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unread[at] = true
}

// resetUnreadCount returns how many records could not be read since the last call, and counts from 0 again.
func (e *Eraser) resetUnreadCount() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.unread)
	clear(e.unread)
	return n
}

// RefusedSession is a session that could not be asked to forget. Run asks it again.
type RefusedSession struct {
	Session events.SessionID `json:"session"`
	Err     error            `json:"-"`
}

// Forget erases what a request chooses, and all that was made of it, and returns when it is in no file of the log, of the
// views and of the index any more, and nothing is that was forgotten before. progress, which may be nil, is given the steps. It is
// done whole once begun, whatever becomes of ctx; what an error, a refusal or a crash leaves undone, Run finishes. Errors: those
// of Plan, of recording and of the files.
func (e *Eraser) Forget(ctx context.Context, req Request, progress func(done, total int)) (Done, error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	if err := e.busy.Acquire(ctx, 1); err != nil {
		return Done{}, err
	}
	defer e.busy.Release(1)
	defer e.leave()
	e.resetUnreadCount()
	c, err := e.choose(ctx, req)
	if err != nil {
		return Done{}, err
	}
	shares, _, err := c.shares(ctx)
	if err != nil {
		return Done{}, err
	}
	ctx = context.WithoutCancel(ctx)
	shares, asked, err := e.askOthers(ctx, shares)
	if err != nil {
		return Done{}, err
	}
	if len(shares) == 0 && asked > 0 {
		return Done{Asked: asked, Unread: e.resetUnreadCount()}, nil
	}
	if len(shares) == 0 {
		err = e.purgeOwed(ctx, func(n int) { progress(n, len(e.cfg.Files)+1) })
		return Done{Unread: e.resetUnreadCount()}, err
	}
	done, err := e.erase(ctx, shares, progress)
	done.Asked = asked
	done.Unread = e.resetUnreadCount()
	return done, err
}

// erase records what is forgotten, erases it, and has the files made anew.
func (e *Eraser) erase(ctx context.Context, shares []Share, progress func(done, total int)) (Done, error) {
	if err := e.keepSilent(ctx, shares); err != nil {
		return Done{}, err
	}
	total := len(shares) + 1 + len(e.cfg.Files)
	left := e.state.get().Pending // of what was begun before
	if err := e.state.begin(shares); err != nil {
		return Done{}, fmt.Errorf("erasure: note what is under way: %w", err)
	}
	var out Done
	var all []events.Position
	for n, sh := range shares {
		progress(n, total)
		at, gone, err := e.forget(ctx, sh.pending())
		out.Position = max(out.Position, at)
		all = append(all, gone...)
		if err != nil {
			e.cfg.Logger.Warn("a session could not be asked to forget", "session", sh.Session, "err", err)
			out.Refused = append(out.Refused, RefusedSession{Session: sh.Session, Err: err})
			left = append(slices.Clip(left), sh.pending())
			continue
		}
		out.Sessions++
	}
	out.Records = len(all)
	if err := e.clear(ctx, all, out.Position, func(n int) { progress(len(shares)+n, total) }); err != nil {
		return out, errors.Join(err, e.state.change(func(s *state) { s.Pending = left })) // the log says of the others that they go
	}
	return out, e.state.markClean(left, nil)
}

// forget records that what a person wants forgotten of one stream is, and whatever was made of it while that was done. It
// returns what is to be erased, also beside an error.
func (e *Eraser) forget(ctx context.Context, p pending) (at events.Position, gone []events.Position, err error) {
	next := p.Positions
	for range maxRounds {
		recorded, err := e.record(ctx, p.Stream, next, CausePerson)
		if err != nil {
			return at, gone, err
		}
		at, gone = max(at, recorded), append(gone, next...)
		g, err := readGraph(ctx, e.cfg.Log, p.Stream)
		if err != nil {
			return at, gone, err
		}
		known := set{}
		known.add(gone...)
		if next = e.onlyOwn(g.made(known)); len(next) == 0 {
			return at, gone, nil
		}
	}
	return at, gone, fmt.Errorf("erasure: %s goes on making memory of what it forgets", p.Stream)
}

// record appends to a stream that positions of it are forgotten.
func (e *Eraser) record(ctx context.Context, stream events.StreamID, positions []events.Position, cause string) (events.Position, error) {
	forgotten, err := e.events(ctx, positions, cause)
	if err != nil {
		return 0, err
	}
	if id, ok := stream.Session(); ok {
		at, err := e.cfg.Do(ctx, id, session.Forget{ID: e.cfg.NewID(), At: e.cfg.Now(), Forgotten: forgotten})
		if !errors.Is(err, events.ErrCorrupt) {
			return at, err
		}
		stream = events.Daemon // the session cannot be read as a whole, so that nothing is decided in it any more
	}
	drafts := make([]events.Draft, len(forgotten))
	for i, m := range forgotten {
		drafts[i] = events.Draft{ID: e.cfg.NewID(), OccurredAt: e.cfg.Now(), Event: m}
	}
	records, err := eventlog.AppendEnd(ctx, e.cfg.Log, stream, drafts...)
	if err != nil {
		return 0, fmt.Errorf("erasure: record in %s: %w", stream, err)
	}
	return records[len(records)-1].Position, nil
}

// events are what says that positions are forgotten.
func (e *Eraser) events(ctx context.Context, positions []events.Position, cause string) ([]events.MemoryForgotten, error) {
	var out []events.MemoryForgotten
	for part := range slices.Chunk(positions, perEvent) {
		m := events.MemoryForgotten{Positions: slices.Clone(part), Cause: cause}
		var hashes []events.Hash
		for _, p := range part {
			r, err := e.cfg.Log.Get(ctx, p)
			if errors.Is(err, events.ErrCorrupt) {
				continue
			}
			if err != nil {
				return nil, err
			}
			hashes = append(hashes, r.PayloadHash)
			if t, _ := r.Kind.Traits(); t.Input { // it has neither a row nor a cost
				continue
			}
			id, err := rowID(r)
			if err != nil {
				return nil, err
			}
			if id != (events.ID{}) {
				m.IDs = append(m.IDs, id)
			}
			e, err := said(r)
			if err != nil {
				return nil, err
			}
			if spent, ok := spentBy(r, e); ok {
				m.Spent = append(m.Spent, spent)
			}
		}
		m.ErasedHash = Residue(hashes)
		out = append(out, m)
	}
	return out, nil
}

// spentBy is what stays of a turn's end; ok is false of any other event.
func spentBy(r events.Record, e events.Event) (spent events.TurnSpent, ok bool) {
	switch e := e.(type) {
	case events.TurnReceived:
		return events.TurnSpent{Turn: r.Correlation, Bill: e.Bill()}, true
	case events.TurnFailed:
		return events.TurnSpent{Turn: r.Correlation, Class: e.Class, Bill: e.Bill()}, true
	}
	return spent, false
}

// Residue is what a MemoryForgotten proves by: the hash of the payload hashes of what it names, in order. Those stay in the
// headers, over salts that are erased with the payloads, so that it can be found again and no word can be guessed from it.
func Residue(payloads []events.Hash) events.Hash {
	d := sha256.New()
	for _, h := range payloads {
		d.Write(h[:])
	}
	return events.Hash(d.Sum(nil))
}

// clear erases positions, notifies who else has them, waits until the views know of that, and has every file made anew.
func (e *Eraser) clear(ctx context.Context, positions []events.Position, upTo events.Position, progress func(int)) error {
	progress(0)
	if err := e.oweNotice(positions); err != nil {
		return err
	}
	for part := range slices.Chunk(positions, perEvent) {
		if err := e.cfg.Log.Erase(ctx, part...); err != nil {
			return fmt.Errorf("erasure: %w", err)
		}
	}
	if err := e.sendOwed(ctx); err != nil { // Run tells them again
		e.cfg.Logger.Warn("other machines could not be told yet what is forgotten here", "err", err)
	}
	return e.purge(ctx, upTo, progress)
}

// purgeOwed has the files made anew if an erasure before could not.
func (e *Eraser) purgeOwed(ctx context.Context, progress func(int)) error {
	s := e.state.get()
	if !s.Owed {
		return nil
	}
	last, err := e.cfg.Log.Last(ctx)
	if err != nil {
		return fmt.Errorf("erasure: %w", err)
	}
	if err := e.purge(ctx, last, progress); err != nil {
		return err
	}
	return e.state.markClean(s.Pending, nil)
}

func (e *Eraser) purge(ctx context.Context, upTo events.Position, progress func(int)) error {
	if err := e.awaitViews(ctx, upTo); err != nil {
		return err
	}
	return e.purgeFiles(ctx, e.cfg.Files, upTo, progress)
}

// purgeFiles makes files anew.
func (e *Eraser) purgeFiles(ctx context.Context, files []Files, upTo events.Position, progress func(int)) error {
	var errs []error
	for n, f := range files {
		progress(n + 1)
		began := e.cfg.Now()
		if err := f.Purge(ctx, upTo); err != nil {
			errs = append(errs, fmt.Errorf("erasure: purge the %s: %w", f.Name, err))
			continue
		}
		e.cfg.Logger.Info("made anew without what was forgotten", "file", f.Name, "took", e.cfg.Now().Sub(began).Round(time.Millisecond))
	}
	return errors.Join(errs...)
}

// viewsWait is how long views that cannot be written are waited for, which try again once a minute at least. Run finishes what
// they hold up for longer.
const viewsWait = 90 * time.Second

// awaitViews waits until the views know a position.
func (e *Eraser) awaitViews(ctx context.Context, at events.Position) error {
	limited, cancel := context.WithTimeout(ctx, viewsWait)
	defer cancel()
	if err := e.cfg.Views.Wait(limited, at); err != nil {
		return fmt.Errorf("erasure: the views do not follow: %w", err)
	}
	return nil
}
