package share

import (
	"context"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// unread are the records of a log that a salvage kept without their payloads because it could not read these. In the log they look as if
// they were erased.
type unread struct {
	log       eventlog.Reader
	at        []events.Span
	since     events.Position                     // of the first record that says so
	forgotten map[events.StreamID]events.Position // where something was last forgotten, by stream; filled as it is asked for
}

func unreadIn(ctx context.Context, log eventlog.Reader) (*unread, error) {
	u := &unread{log: log, forgotten: map[events.StreamID]events.Position{}}
	for s, err := range eventlog.Events[events.LogSalvaged](ctx, log, events.Daemon, 1) {
		if err != nil {
			return nil, err
		}
		if len(s.Event.UnreadAt) > 0 && u.since == 0 {
			u.since = s.Position
		}
		u.at = append(u.at, s.Event.UnreadAt...)
	}
	return u, nil
}

// has reports whether damage alone took the payload of r. Where anything of its stream was forgotten since, nobody can tell: more goes
// than what a MemoryForgotten names.
func (u *unread) has(ctx context.Context, r events.Record) (bool, error) {
	if !slices.ContainsFunc(u.at, func(s events.Span) bool { return s.From <= r.Position && r.Position <= s.To }) {
		return false, nil
	}
	if _, known := u.forgotten[r.Stream]; !known {
		u.forgotten[r.Stream] = 0
		for f, err := range eventlog.Events[events.MemoryForgotten](ctx, u.log, r.Stream, r.Version) {
			if err != nil {
				return false, err
			}
			u.forgotten[r.Stream] = f.Position
		}
	}
	return u.forgotten[r.Stream] < u.since, nil
}
