package salvage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

const (
	batchRecords = 4096
	batchBytes   = 8 << 20
)

// Write makes a log of s at path, where no file or an empty one may be, and names source in it. A log of which nothing was lost is the same
// records again. It is whole and synced when it returns; after an error it is to be thrown away. Errors: those of eventlog.Open and
// Restore, and ctx.Err().
func (s *Salvage) Write(ctx context.Context, path, source string, progress func(done, total uint64)) error {
	to, err := eventlog.Open(path, eventlog.Config{Codec: s.codec, NoSync: true, MinFree: s.minFree})
	if err != nil {
		return err
	}
	w := writer{to: to, relay: eventlog.NewRelay(s.codec)}
	err = s.each(ctx, func(at events.Position, f slot, ok bool) error {
		if progress != nil && at%1024 == 0 {
			progress(uint64(at), uint64(s.Last))
		}
		if !ok {
			p := s.placeOf(at)
			r, err := w.relay.Lost(p.stream, p.version)
			if err != nil {
				return err
			}
			return w.add(ctx, r)
		}
		r, err := s.record(f)
		if err != nil {
			return fmt.Errorf("salvage: read position %d again: %w", at, err)
		}
		return w.place(ctx, r)
	})
	if err == nil {
		err = w.flush(ctx)
	}
	if err == nil && !s.Whole() {
		err = s.sign(ctx, to, source)
	}
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

// sign appends what became of the damaged log.
func (s *Salvage) sign(ctx context.Context, to *eventlog.Bolt, source string) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	version, _, err := to.Head(ctx, events.Daemon)
	if err != nil {
		return err
	}
	seconds, nanos := id.Time().UnixTime()
	_, err = to.Append(ctx, events.Daemon, version, events.Draft{ID: id, OccurredAt: time.Unix(seconds, nanos), Event: events.LogSalvaged{
		Source: source, SourceSize: s.Size, Records: s.Records, Relaid: s.Moved,
		Lost: s.Lost.Count, LostAt: s.Lost.List, Unread: s.Unread.Count, UnreadAt: s.Unread.List,
	}})
	return err
}

// writer collects records until there are enough for a commit.
type writer struct {
	to     *eventlog.Bolt
	relay  *eventlog.Relay
	batch  []events.Record
	before []eventlog.Before
	bytes  int
}

// place adds r at its place behind what was lost, and notes where it was.
func (w *writer) place(ctx context.Context, r events.Record) error {
	placed, moved := w.relay.Add(r)
	if moved {
		w.before = append(w.before, eventlog.Before{Position: r.Position, Version: r.Version, Previous: r.Previous, Chain: r.Chain})
	}
	return w.add(ctx, placed)
}

func (w *writer) add(ctx context.Context, r events.Record) error {
	w.batch, w.bytes = append(w.batch, r), w.bytes+int(r.Size)
	if len(w.batch) < batchRecords && w.bytes < batchBytes {
		return nil
	}
	return w.flush(ctx)
}

func (w *writer) flush(ctx context.Context) error {
	if err := w.to.Restore(ctx, w.batch...); err != nil {
		return err
	}
	err := w.to.KeepBefore(ctx, w.before...)
	w.batch, w.before, w.bytes = nil, nil, 0
	return err
}
