package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/vectors"
)

// Stores are what answers are read from.
type Stores struct {
	Log     eventlog.Log // that the views follow
	Own     eventlog.Log // this machine's: what is verified, exported and copied. nil: Log
	Views   *projections.Views
	Index   *index.Index
	Recall  *recall.Recall
	Vectors *vectors.Vectors // shown by status; nil: there are none
}

// own is this machine's log.
func (s Stores) own() eventlog.Log {
	if s.Own != nil {
		return s.Own
	}
	return s.Log
}

// StoppedParts names what goes no further, for good or for now: the views, the index.
func (s Stores) StoppedParts() (names []string) {
	if s.Views.Trouble() != nil {
		names = append(names, viewsName)
	}
	if s.Index.Trouble() != nil {
		names = append(names, indexName)
	}
	return names
}

// watermark says which position every answer that begins now knows at least. A *recall.Recall is one.
type watermark interface {
	Position() events.Position
	Wait(ctx context.Context, at events.Position) error
}

// sources are what answers are read from, once that knows what an answer must know.
type sources struct {
	Stores
	watermark watermark                                             // Recall, but for tests
	place     func(ctx context.Context, dir string) capture.Project // that a folder, an absolute path, is of
	timeout   time.Duration                                         // of the waiting
}

// await waits until answers know position at, for a limited time.
func (s *sources) await(ctx context.Context, at events.Position) error {
	if at == 0 || s.watermark.Position() >= at {
		return nil
	}
	last, err := s.Log.Last(ctx)
	if err != nil {
		return err
	}
	if at > last {
		return invalid("after", "the log ends at %d", last)
	}
	return s.limited(ctx, "they do not know that position yet", func(ctx context.Context) error { return s.watermark.Wait(ctx, at) })
}

// ownWritesWait is how long an answer waits at most to know what was accepted before it was asked for: the views are as much as a tenth of
// a second behind the log, and where somebody waits they hurry.
const ownWritesWait = 150 * time.Millisecond

// catchUp has the answer know what the log holds now, so that who asks finds what they wrote just before. Views that are stopped, or
// further behind than ownWritesWait, are not waited for: what they know is answered.
func (s *sources) catchUp(ctx context.Context) {
	last, err := s.Log.Last(ctx)
	if err != nil || s.watermark.Position() >= last || len(s.StoppedParts()) > 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, ownWritesWait)
	defer cancel()
	_ = s.watermark.Wait(limited, last) // what is known by then is answered
}

// troubleWait is how long views are waited for that could not be written and try again, once a minute at least.
const troubleWait = 90 * time.Second

// caughtUp waits until the views know all that the log holds now.
func (s *sources) caughtUp(ctx context.Context) error {
	last, err := s.Log.Last(ctx)
	if err != nil {
		return err
	}
	if s.Views.Trouble() != nil {
		limited, cancel := context.WithTimeout(ctx, troubleWait)
		defer cancel()
		return s.Views.Wait(limited, last)
	}
	return s.limited(ctx, "they do not know yet what there is", func(ctx context.Context) error { return s.Views.Wait(ctx, last) })
}

// limited waits for a limited time, at whose end the views are behind, which missing says in words.
func (s *sources) limited(ctx context.Context, missing string, wait func(ctx context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err := wait(limited)
	if err == nil || limited.Err() == nil || ctx.Err() != nil {
		return err
	}
	return notNow(api.ProblemBehind, "The views are behind", s.timeout, missing)
}

// environment is what the program around gives: times, ids and the log file.
type environment struct {
	now    func() time.Time
	newID  func() events.ID
	logger *slog.Logger
}

// list is v, but never null in JSON.
func list[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}
