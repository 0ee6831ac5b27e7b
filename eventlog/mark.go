package eventlog

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Mark names all that a log held at a moment, for whoever keeps beside it how much of something else is recorded in it. Its zero value names
// an empty log.
type Mark struct {
	Position events.Position `json:"position"`
	ID       events.ID       `json:"id"`
	At       time.Time       `json:"at"` // when the record was recorded
}

// MarkOf names all that log holds. Errors are those of Reader.
func MarkOf(ctx context.Context, log Reader) (Mark, error) {
	last, err := log.Last(ctx)
	if err != nil || last == 0 {
		return Mark{}, err
	}
	r, err := log.Get(ctx, last)
	return Mark{Position: last, ID: r.ID, At: r.RecordedAt.UTC()}, err
}

// LackingSince says since when log may lack something that m names; zero: it lacks nothing. A log lacks what was recorded behind its end as
// that was when a backup was made which is in its place now, and what a salvage or an import could not read. Of a log that was begun anew it
// says m.At, as nobody knows when its predecessor began. Errors are those of Reader.
func (m Mark) LackingSince(ctx context.Context, log Reader) (since time.Time, err error) {
	if m.Position == 0 {
		return since, nil
	}
	switch r, err := log.Get(ctx, m.Position); {
	case errors.Is(err, ErrNotFound), err == nil && r.ID != m.ID:
		if since, err = m.lastBefore(ctx, log); err != nil {
			return since, err
		}
	case err != nil:
		return since, err
	}
	for r, err := range log.Stream(ctx, events.Daemon, 1) {
		if err != nil {
			return since, err
		}
		if r.Kind != events.KindLogSalvaged || r.Position <= m.Position && !r.RecordedAt.After(m.At) {
			continue
		}
		lost, err := firstLost(ctx, log, r)
		if err != nil {
			return since, err
		}
		if !lost.IsZero() && (since.IsZero() || lost.Before(since)) {
			since = lost
		}
	}
	return since, nil
}

// lastBefore is when the last record was recorded that another log than m's has of m's time; m.At: it has none.
func (m Mark) lastBefore(ctx context.Context, log Reader) (at time.Time, err error) {
	last, err := log.Last(ctx)
	if err != nil {
		return at, err
	}
	at = m.At
	sort.Search(int(last), func(i int) bool { // recorded_at never decreases
		r, failed := log.Get(ctx, events.Position(i+1))
		if failed != nil {
			err = errors.Join(err, failed)
			return true
		}
		if r.RecordedAt.After(m.At) {
			return true
		}
		at = r.RecordedAt
		return false
	})
	return at, err
}

// firstLost is when the record before the first was recorded that is lost by what a LogSalvaged says; zero: none is lost.
func firstLost(ctx context.Context, log Reader, salvaged events.Record) (at time.Time, err error) {
	e, err := salvaged.Event()
	if err != nil {
		return at, err
	}
	s, ok := e.(events.LogSalvaged)
	if !ok || len(s.LostAt) == 0 {
		return at, nil
	}
	r, err := log.Get(ctx, max(s.LostAt[0].From-1, 1))
	return r.RecordedAt, err
}
