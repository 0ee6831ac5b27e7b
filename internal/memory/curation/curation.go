package curation

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/rows"
)

// Checker looks commits up in the repository that dir lies in. An *evidence.Checker is one; see there for its bounds.
type Checker interface {
	Check(ctx context.Context, dir string, hashes []string) []events.Claim
	Unreachable(ctx context.Context, dir string, commits []string) []string
}

// Config is what a Curator needs. All of it is required.
type Config struct {
	Sink    actors.Sink
	Log     eventlog.Log
	Views   *projections.Views
	Checker Checker
	Now     func() time.Time

	// Resolve returns the row whose id begins so. See recall.Recall for its errors.
	Resolve func(ctx context.Context, text string) (events.ID, error)
	// CaughtUp returns when the views know all that the log holds now, or an error.
	CaughtUp func(ctx context.Context) error
	// Redact takes secrets out of what is about to be saved.
	Redact func(e events.Event) events.Event
}

// By is who decides something of memory.
type By struct {
	Writer events.Writer
	May    func(ctx context.Context, row api.Row) error // why they may not change a row; nil: they may
}

// Curator changes memory for a person or an agent. Its methods are safe for concurrent use.
type Curator struct {
	cfg  Config
	lock *semaphore.Weighted // holds one token: one correction or undo at a time
}

// New returns a Curator.
func New(cfg Config) *Curator {
	return &Curator{cfg: cfg, lock: semaphore.NewWeighted(1)}
}

// begin waits for its turn and until the views know all decisions before it.
func (c *Curator) begin(ctx context.Context) (release func(), err error) {
	if err := c.lock.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	release = func() { c.lock.Release(1) }
	if err := c.cfg.CaughtUp(ctx); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// append records what a person or an agent decided of memory, all or nothing, and returns the handle of the first of
// these records, and where the last one is.
func (c *Curator) append(ctx context.Context, now time.Time, decided ...events.Event) (first rows.Handle, last events.Position, err error) {
	drafts := make([]events.Draft, len(decided))
	for i, e := range decided {
		drafts[i] = events.Draft{ID: newID(), OccurredAt: now, Event: e}
	}
	records, err := eventlog.AppendEnd(ctx, c.cfg.Log, events.Daemon, drafts...)
	if err != nil {
		return first, 0, fmt.Errorf("curation: %w", err)
	}
	return rows.Handle{At: records[0].Place().Position}, records[len(records)-1].Position, nil
}

func newID() events.ID { return uuid.Must(uuid.NewV7()) }
