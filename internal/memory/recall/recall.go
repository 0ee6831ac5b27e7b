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
	Log   eventlog.Log

	Near Nearby // nil: rows are found by their words alone

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
	return events.ID{}, &AmbiguousError{Prefix: text, Choices: ids[:min(len(ids), maxChoices)], More: len(ids) > maxChoices}
}

// behind returns the id of the row that a handle names.
func (r *Recall) behind(ctx context.Context, h rows.Handle) (events.ID, error) {
	rec, err := r.cfg.Log.Get(ctx, events.Position(h))
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

// maxChoices is how many ids an ambiguous prefix is answered with.
const maxChoices = 8

// AmbiguousError is a prefix that several rows have. errors.Is finds ErrAmbiguous in it.
type AmbiguousError struct {
	Prefix  string
	Choices []events.ID
	More    bool // there are more than the choices
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

// Nearby finds rows by what they mean. A *vectors.Vectors is one; see there for what it promises.
type Nearby interface {
	Nearest(ctx context.Context, text string, only []events.Position, k int) vectors.Found
}
