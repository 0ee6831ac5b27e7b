package recall

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/vectors"
)

// Errors of this package.
var (
	// ErrNotFound is an id, a prefix, a handle or an anchor that no row has.
	ErrNotFound = errors.New("recall: not found")
	// ErrNoMemory is a handle of a record that made no row.
	ErrNoMemory = errors.New("recall: that record is no memory")
	// ErrForgotten is a handle of a row whose words are gone, its id among them.
	ErrForgotten = errors.New("recall: forgotten")
	// ErrAmbiguous is a prefix that several rows have.
	ErrAmbiguous = errors.New("recall: several rows begin with it")
	// ErrBadID is text that is neither a handle nor an id nor a prefix of eight or more hex digits.
	ErrBadID = errors.New("recall: not an id: want a handle such as m41, a UUID, or its first eight or more hex digits")
)

// minPrefix is the shortest prefix of an id in hex digits: shorter ones are more likely slips than names.
const minPrefix = 8

// Config is what a Recall works with.
type Config struct {
	Views *projections.Views
	Index *index.Index
	Log   eventlog.Reader // that the views follow

	// LogsOf are the logs of the other machines of a name, as engine.Config.Machine has it. nil: none is known.
	LogsOf func(machine string) []events.LogID

	Semantic SemanticSearch // nil: rows are found by their words alone

	// Settled is closed once it is known what other machines forgot while this one was off, or that has taken too long. Who asks waits for
	// it; hooks do not, and are given no other machine's rows until then. nil: there is nothing to know.
	Settled <-chan struct{}

	// Fence names the element that encloses injected memory, so that it is recognised when it comes back and is not stored
	// again.
	Fence string

	Characters int // how long injected memory is at most. 0 means DefaultCharacters; at most MaxCharacters
	Tokens     int // the same in tokens, as Tokens estimates them. 0 means without such a bound

	NoPreferences bool // nothing is injected of what a person said of how to work

	Recency float64 // how much more the newest is worth in a search than the very old. 0 means a tenth; below 0: nothing
}

// Recall answers questions about one log. Its methods are safe for concurrent use.
type Recall struct{ cfg Config }

// New returns a Recall over open views and an open index. It panics without them, or without a fence.
func New(c Config) *Recall {
	if c.Views == nil || c.Index == nil || c.Log == nil || c.Fence == "" {
		panic("recall: incomplete config")
	}
	if c.Characters <= 0 {
		c.Characters = DefaultCharacters
	}
	c.Tokens = max(0, c.Tokens)
	return &Recall{cfg: c}
}

// Position is what every answer that begins now knows at least.
func (r *Recall) Position() events.Position {
	return min(r.cfg.Views.Position(), r.cfg.Index.Position())
}

// Wait returns when answers know position at. The error is ctx's, or the views'.
func (r *Recall) Wait(ctx context.Context, at events.Position) error {
	if at == 0 {
		return nil
	}
	if err := r.cfg.Views.Wait(ctx, at); err != nil {
		return fmt.Errorf("recall: %w", err)
	}
	return r.cfg.Index.Wait(ctx, at)
}

// settle returns once it is known what other machines forgot; see Config.Settled. The error is ctx's.
func (r *Recall) settle(ctx context.Context) error {
	if r.isSettled() {
		return nil
	}
	select {
	case <-r.cfg.Settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Recall) isSettled() bool {
	if r.cfg.Settled == nil {
		return true
	}
	select {
	case <-r.cfg.Settled:
		return true
	default:
		return false
	}
}

// PositionAt returns the position of the last record that was recorded at or before t; 0 if there is none.
func (r *Recall) PositionAt(ctx context.Context, t time.Time) (events.Position, error) {
	last, err := r.cfg.Log.Last(ctx)
	if err != nil {
		return 0, fmt.Errorf("recall: %w", err)
	}
	n := sort.Search(int(last), func(i int) bool {
		rec, failed := r.cfg.Log.Get(ctx, events.Position(i+1))
		if failed != nil {
			err = fmt.Errorf("recall: %w", failed)
		}
		return failed != nil || rec.RecordedAt.After(t)
	})
	return events.Position(n), err
}

// Resolve returns the id that text names: a handle, a whole UUID, or a prefix of it that no other row has. Errors: ErrBadID,
// ErrNotFound, ErrNoMemory, ErrForgotten, *AmbiguousError.
func (r *Recall) Resolve(ctx context.Context, text string) (events.ID, error) {
	text = strings.TrimSpace(text)
	if h, ok := rows.ParseHandle(text); ok {
		return r.behind(ctx, h)
	}
	digits := strings.ReplaceAll(text, "-", "")
	if len(digits) < minPrefix || len(digits) > 32 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return events.ID{}, fmt.Errorf("%w: %q", ErrBadID, text)
	}
	ids, err := r.cfg.Views.Resolve(ctx, digits, maxChoices+1)
	if err != nil {
		return events.ID{}, fmt.Errorf("recall: %w", err)
	}
	switch len(ids) {
	case 0:
		return events.ID{}, fmt.Errorf("%w: %s", ErrNotFound, text)
	case 1:
		return ids[0], nil
	}
	return events.ID{}, &AmbiguousError{Prefix: text, Choices: ids[:min(len(ids), maxChoices)]}
}

// behind returns the id of the row that a handle names. Where several machines are called so, and more than one of them has such a row, it is an
// *AmbiguousError.
func (r *Recall) behind(ctx context.Context, h rows.Handle) (id events.ID, err error) {
	var ids []events.ID
	for _, at := range r.placesOf(h) {
		one, failed := r.rowAt(ctx, h, at)
		switch {
		case failed == nil:
			ids = append(ids, one)
		case err == nil:
			err = failed
		}
	}
	switch {
	case len(ids) == 1:
		return ids[0], nil
	case len(ids) > 1:
		return id, &AmbiguousError{Prefix: h.String(), Choices: ids[:min(len(ids), maxChoices)]}
	case err != nil:
		return id, err
	}
	if _, err := r.cfg.Log.Last(ctx); err != nil { // a log that has failed knows no place either
		return id, fmt.Errorf("recall: %w", err)
	}
	return id, fmt.Errorf("%w: %s", ErrNotFound, h)
}

// rowAt returns the id of the row that the record at a position made, which a handle names.
func (r *Recall) rowAt(ctx context.Context, h rows.Handle, at events.Position) (events.ID, error) {
	rec, err := r.cfg.Log.Get(ctx, at)
	if errors.Is(err, eventlog.ErrNotFound) {
		return events.ID{}, fmt.Errorf("%w: %s", ErrNotFound, h)
	}
	if err != nil {
		return events.ID{}, fmt.Errorf("recall: %w", err)
	}
	id, err := rows.MadeBy(rec)
	switch {
	case errors.Is(err, events.ErrErased):
		return events.ID{}, fmt.Errorf("%w: %s", ErrForgotten, h)
	case err != nil:
		return events.ID{}, fmt.Errorf("recall: %w", err)
	case id == (events.ID{}):
		return events.ID{}, fmt.Errorf("%w: %s is a %s", ErrNoMemory, h, rec.Kind)
	}
	return id, nil
}

// placesOf is where the records are here that a handle may name.
func (r *Recall) placesOf(h rows.Handle) (all []events.Position) {
	logs := []events.LogID{{}}
	if h.Machine != "" {
		if logs = nil; r.cfg.LogsOf != nil {
			logs = r.cfg.LogsOf(h.Machine)
		}
	}
	union, ok := r.cfg.Log.(interface {
		At(events.Place) (events.Position, bool)
	})
	if !ok && h.Machine == "" {
		return []events.Position{h.At}
	}
	if !ok {
		return nil
	}
	for _, log := range logs {
		if at, here := union.At(events.Place{Log: log, Position: h.At}); here {
			all = append(all, at)
		}
	}
	return all
}

// maxChoices is how many ids an ambiguous prefix is answered with.
const maxChoices = 8

// AmbiguousError is a prefix that several rows have. errors.Is finds ErrAmbiguous in it.
type AmbiguousError struct {
	Prefix  string
	Choices []events.ID
}

func (e *AmbiguousError) Error() string {
	names := make([]string, len(e.Choices))
	for i, id := range e.Choices {
		names[i] = id.String()
	}
	return fmt.Sprintf("%s: %s: %s", ErrAmbiguous, e.Prefix, strings.Join(names, ", "))
}

// Is makes errors.Is(err, ErrAmbiguous) true.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// Show returns the whole rows of ids, each a handle, an id or a prefix, in their order: folded, superseded and forgotten ones too.
// The errors are those of Resolve, for the first that fails.
func (r *Recall) Show(ctx context.Context, ids ...string) ([]rows.Row, error) {
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	resolved := make([]events.ID, len(ids))
	for i, text := range ids {
		id, err := r.Resolve(ctx, text)
		if err != nil {
			return nil, err
		}
		resolved[i] = id
	}
	rows, err := r.cfg.Views.Rows(ctx, resolved...)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	return rows, nil
}

// SemanticSearch finds rows by what they mean. A *vectors.Vectors is one; see there for what it promises.
type SemanticSearch interface {
	Nearest(ctx context.Context, text string, only []events.Position, k int) vectors.Found
}
