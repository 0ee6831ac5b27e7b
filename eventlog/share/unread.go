package share

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// unread are the records of a log that a salvage kept without their payloads because it could not read these. In the log they look as if
// they were erased. It reads the log as it is asked, each record once, and belongs to one goroutine.
type unread struct {
	log       eventlog.Reader
	read      map[events.StreamID]events.Version  // up to which a stream was read
	at        [][]events.Span                     // what each LogSalvaged lists, in its order
	forgotten map[events.StreamID]events.Position // of the last record by which something of a stream is or may be forgotten
	anywhere  events.Position                     // of the last one that may have named records of any stream
}

func newUnread(log eventlog.Reader) *unread {
	return &unread{log: log, read: map[events.StreamID]events.Version{}, forgotten: map[events.StreamID]events.Position{}}
}

// has reports whether damage alone took the payload of r. In doubt it did not, so that no words stay that somebody wanted forgotten:
//   - No list names r: one of more than events.MaxSpans was cut, and nobody says what was unread behind its last span.
//   - Something of the stream of r was forgotten behind r. Who chose it may have wanted r too, which could not be read, and so was not
//     found and is not named.
//   - A record behind r is lost, or is a MemoryForgotten without its payload, and may have been about the stream of r. Each lost one has
//     its RecordLost, so that a list of them that was cut hides none.
func (u *unread) has(ctx context.Context, r events.Record) (bool, error) {
	if err := u.follow(ctx, events.Daemon); err != nil || !u.listed(r.Position) {
		return false, err
	}
	for _, stream := range []events.StreamID{events.Lost, r.Stream} {
		if err := u.follow(ctx, stream); err != nil {
			return false, err
		}
	}
	return max(u.anywhere, u.forgotten[r.Stream]) < r.Position, nil
}

// listed reports whether a LogSalvaged names a position.
func (u *unread) listed(at events.Position) bool {
	return slices.ContainsFunc(u.at, func(spans []events.Span) bool {
		_, found := slices.BinarySearchFunc(spans, at, func(s events.Span, at events.Position) int {
			if s.From <= at && at <= s.To {
				return 0
			}
			return cmp.Compare(s.From, at)
		})
		return found
	})
}

// follow reads what a stream has behind what was read of it.
func (u *unread) follow(ctx context.Context, stream events.StreamID) error {
	for r, err := range u.log.Stream(ctx, stream, u.read[stream]+1) {
		if err == nil {
			err = u.add(ctx, r)
		}
		if err != nil {
			return err
		}
		u.read[stream] = r.Version
	}
	return nil
}

func (u *unread) add(ctx context.Context, r events.Record) error {
	switch r.Kind {
	case events.KindLogSalvaged:
		e, err := r.Event()
		if errors.Is(err, events.ErrErased) {
			return nil
		}
		s, _ := e.(events.LogSalvaged)
		u.at = append(u.at, s.UnreadAt)
		return err
	case events.KindMemoryForgotten, events.KindRecordLost:
		u.forgotten[r.Stream] = max(u.forgotten[r.Stream], r.Position)
		if r.Stream != events.Daemon && r.Stream != events.Lost {
			return nil
		}
		e, err := r.Event()
		if m, ok := e.(events.MemoryForgotten); ok {
			return u.name(ctx, r.Position, m.Positions)
		}
		u.anywhere = max(u.anywhere, r.Position)
		if errors.Is(err, events.ErrErased) {
			return nil
		}
		return err
	}
	return nil
}

// name notes a MemoryForgotten of the daemon's stream: it is about the streams of the records that it names, which could not be read when
// it was appended.
func (u *unread) name(ctx context.Context, at events.Position, named []events.Position) error {
	for _, p := range named {
		r, err := u.log.Get(ctx, p)
		switch {
		case errors.Is(err, events.ErrCorrupt), err == nil && r.Stream == events.Lost:
			u.anywhere = max(u.anywhere, at)
		case err == nil:
			u.forgotten[r.Stream] = max(u.forgotten[r.Stream], at)
		case !errors.Is(err, eventlog.ErrNotFound):
			return err
		}
	}
	return nil
}
