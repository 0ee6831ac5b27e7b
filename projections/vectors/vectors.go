package vectors

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/rows"
)

// ErrClosed is a call after Close.
var ErrClosed = transient.Mark(errors.New("vectors: closed"))

// Embedder turns texts into vectors, one for each in their order. What hinders it is a *Failure or ctx.Err(). It may be
// called by several goroutines at once, and does not keep the texts.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Rows is what is asked for the texts: *projections.Views.
type Rows interface {
	Wait(ctx context.Context, at events.Position) error
	Rows(ctx context.Context, ids ...events.ID) ([]rows.Row, error)
}

// Config is what Vectors work with. Embedder, Model, Rows and Redact are required; zero values of the rest mean the defaults.
type Config struct {
	Embedder Embedder
	Model    string // of the vectors: with another one the file is begun anew
	Rows     Rows
	Redact   func(string) string // takes secrets out of a text; nothing leaves without it

	Batch         int            // texts a request, at most. 0 means 32
	Rest          time.Duration  // between two requests, and before the first, so that a batch fills. 0 means 200 ms
	QueryTimeout  time.Duration  // that a question waits for its vector. 0 means 300 ms
	QueryPatience time.Duration  // that it is waited for behind the question, for the next that is the same; QueryTimeout at least. 0 means 5 s
	Pause         policy.Backoff // after failures in a row of what fills; zero: policy.DefaultPause

	// Floor is by how many standard deviations a row must be nearer than all rows that a question is held against are on
	// average, to count as near. 0 means StandardFloor; below 0: there is no floor
	Floor float64

	Logger *slog.Logger // nil: discarded
}

func (c Config) withDefaults() Config {
	c.Batch, c.Rest = cmp.Or(c.Batch, 32), cmp.Or(c.Rest, 200*time.Millisecond)
	c.QueryTimeout, c.QueryPatience = cmp.Or(c.QueryTimeout, 300*time.Millisecond), cmp.Or(c.QueryPatience, 5*time.Second)
	c.QueryPatience = max(c.QueryPatience, c.QueryTimeout)
	c.Pause, c.Floor = cmp.Or(c.Pause, policy.DefaultPause()), cmp.Or(c.Floor, StandardFloor)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Vectors is the view of vectors over one log. Open makes it, Run fills it, Nearest asks it. All methods are safe for
// concurrent use.
type Vectors struct {
	cfg     Config
	log     eventlog.Reader
	store   *store
	kept    error // errKept: Run ends with it, and nothing is found; nil: store is open
	queries *questions
	pause   pause // of what fills

	writing  chan struct{}   // one token; who holds it may change store and shut
	shut     bool            // Close was called
	progress engine.Progress // whether Run is in trouble, and nothing else
	more     chan struct{}   // one token: there is something to embed

	// Only who fills has these.
	size int       // texts of the next request, at most
	anew time.Time // when the file was begun anew for the size of its vectors

	mu       sync.Mutex // guards the fields below
	pending  []item     // to be embedded, in the order of their positions
	followed events.Position
	moved    chan struct{}           // closed when a field here changes
	begun    int                     // how often Run has begun to follow the log
	restart  context.CancelCauseFunc // ends that, so that it begins again; nil: it is not running
	failed   error                   // why Run has ended; nil: it has not, or as it was asked to
}

// item is a row to be embedded.
type item struct {
	rowRef
	gone bool // forgotten since
}

// Open opens the vectors in the file at path over log. A file of another model, another log or another format is begun anew;
// nothing is asked for before Run. A file of an earlier version that cannot be taken over now stays, and Run says why. Errors are those
// of the file system and of the log. It panics without a complete config.
func Open(ctx context.Context, path string, log eventlog.Reader, c Config) (*Vectors, error) {
	if c.Embedder == nil || c.Rows == nil || c.Redact == nil || c.Model == "" || len(c.Model) > maxModel {
		panic("vectors: incomplete config")
	}
	c = c.withDefaults()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("vectors: open: %w", err)
	}
	s, why, kept := openStore(path, c.Model)
	if kept != nil && !errors.Is(kept, errKept) {
		return nil, kept
	}
	v := &Vectors{
		cfg: c, log: eventlog.ReadableFrom(log), store: s, kept: kept, pause: pause{backoff: c.Pause}, size: c.Batch,
		writing: make(chan struct{}, 1), more: make(chan struct{}, 1), moved: make(chan struct{}),
	}
	v.queries = newQuestions(c)
	var err error
	if why == "" {
		why, err = v.compare(ctx)
	}
	if why != "" {
		c.Logger.Warn("vectors are made anew in part or in whole", "err", why)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	v.followed = s.state.Position
	return v, nil
}

// compare empties a file that was not made from this log.
func (v *Vectors) compare(ctx context.Context) (why string, err error) {
	st := v.store.state
	if len(st.Chain) == 0 {
		return "", nil
	}
	r, err := v.log.Get(ctx, st.Position)
	if errors.Is(err, events.ErrCorrupt) {
		return "", nil // nothing says that it is another log
	}
	if err != nil && !errors.Is(err, eventlog.ErrNotFound) {
		return "", fmt.Errorf("vectors: open: %w", err)
	}
	if chain := v.chainOf(r); err == nil && bytes.Equal(chain[:], st.Chain) {
		return "", nil
	}
	return "they are of another log", v.store.reset()
}

// chainOf tells the record at a position from any other. Where other machines' records stand before it, it tells of their order
// too: in another one the positions of rows are others.
func (v *Vectors) chainOf(r events.Record) [8]byte {
	chain := [8]byte(r.Chain[:8])
	if !r.IsMoved() {
		return chain
	}
	_, order, err := engine.OriginOf(context.Background(), v.log)
	if err != nil {
		return [8]byte{} // no record's: what is stored under it is made anew
	}
	for i := range chain {
		chain[i] ^= order[i]
	}
	return chain
}

// Remove deletes the vectors at path, as if there never had been any. They must not be open.
func Remove(path string) error {
	return errors.Join(durable.Remove(path), durable.Remove(path+".tmp"), durable.Remove(path+engine.CopySuffix))
}

// Stats is how far the vectors are.
type Stats struct {
	Model      string `json:"model"`
	Dimensions int    `json:"dimensions"` // 0: nothing was answered yet
	Filled     int    `json:"filled"`     // rows that have a vector
	Refused    int    `json:"refused"`    // rows that the endpoint would not embed
	Total      int    `json:"total"`      // rows that are to have one, as far as the log was read
	Bytes      int64  `json:"bytes"`      // of the file

	Position events.Position `json:"position"`          // up to which the log was read
	Paused   string          `json:"paused,omitempty"`  // why nothing is filled, and for how long; empty: it goes on
	Stopped  string          `json:"stopped,omitempty"` // why nothing is filled, and when it is tried again, if it is; empty: it is
}

// Stats returns how far the vectors are.
func (v *Vectors) Stats() Stats {
	v.mu.Lock()
	waiting, at := 0, v.followed
	for _, it := range v.pending {
		if !it.gone {
			waiting++
		}
	}
	failed := v.failed
	v.mu.Unlock()
	st := v.store.stats()
	if t := v.Trouble(); t != nil {
		st.Stopped = t.String()
	} else if failed != nil {
		st.Stopped = failed.Error()
	}
	st.Total, st.Position, st.Paused = st.Filled+st.Refused+waiting, at, v.pause.line()
	return st
}

func (s *store) stats() Stats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return Stats{Model: s.model, Dimensions: s.state.Dims, Filled: s.state.Filled, Refused: s.state.Refused, Bytes: s.bytes}
}

// Position is up to which position what was forgotten is known.
func (v *Vectors) Position() events.Position {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.followed
}

// advance says that the log was read up to a position.
func (v *Vectors) advance(at events.Position) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.followed = at
	v.signal()
}

// signal wakes those who wait for something to change. The caller holds mu.
func (v *Vectors) signal() {
	close(v.moved)
	v.moved = make(chan struct{})
}

// Trouble is why Run goes no further for now; nil: it does, or has ended.
func (v *Vectors) Trouble() *engine.Trouble { return v.progress.Trouble() }

// Wait returns when what was forgotten up to a position is known; whether all before it is filled is another matter. It
// needs Run, and waits while that tries again what it could not do. The error is ctx's, also beside engine.ErrStopped where it was in
// trouble then, or why Run has ended.
func (v *Vectors) Wait(ctx context.Context, at events.Position) error {
	for {
		v.mu.Lock()
		followed, moved, failed := v.followed, v.moved, v.failed
		v.mu.Unlock()
		if followed >= at || failed != nil {
			return failed
		}
		select {
		case <-moved:
		case <-ctx.Done():
			err := ctx.Err()
			if t := v.Trouble(); t != nil {
				err = fmt.Errorf("%w: %w: %w", engine.ErrStopped, t.Err, err)
			}
			return fmt.Errorf("vectors: wait for %d, at %d: %w", at, followed, err)
		}
	}
}

// Purge returns when nothing of what was forgotten up to a position is in the file, which is made anew for that. It needs
// Run. The error is ctx's, why Run has ended, ErrClosed, or of writing.
func (v *Vectors) Purge(ctx context.Context, upTo events.Position) error {
	if err := v.Wait(ctx, upTo); err != nil {
		return err
	}
	v.queries.clear()
	return v.write(ctx, v.store.compact)
}

// Forget takes out the vectors of what records of other machines said, at these positions of the log: their payloads are erased
// from it, and nothing in it says so yet. It needs Run. Errors are those of Purge, which takes the traces out of the file.
func (v *Vectors) Forget(ctx context.Context, at ...events.Position) error {
	if len(at) == 0 {
		return nil
	}
	if err := v.Wait(ctx, slices.Max(at)); err != nil {
		return err
	}
	return v.write(ctx, func() error { return v.forget(events.MemoryForgotten{Positions: at}) })
}

// write calls change, which may change the store, while nobody else does.
func (v *Vectors) write(ctx context.Context, change func() error) error {
	select {
	case v.writing <- struct{}{}:
		defer func() { <-v.writing }()
	case <-ctx.Done():
		return fmt.Errorf("vectors: %w", ctx.Err())
	}
	if v.shut || v.kept != nil {
		return ErrClosed
	}
	if v.store.file == nil { // it could not be opened again
		if err := v.store.reset(); err != nil {
			return err
		}
	}
	return change()
}

// Close lets the file go. Run must have returned; what is asked of the endpoint ends. Closing twice is no error.
func (v *Vectors) Close() error {
	v.queries.close()
	v.writing <- struct{}{}
	defer func() { <-v.writing }()
	v.shut = true
	return v.store.close()
}
