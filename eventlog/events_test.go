package eventlog_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// Events yields one kind of a stream alone, from a version on, and passes over what was erased.
func TestEvents(t *testing.T) {
	t.Parallel()
	ctx, log := t.Context(), logtest.Open(t, eventlog.Config{})
	draft := func(e events.Event) events.Draft { return events.Draft{ID: uuid.Must(uuid.NewV7()), Event: e} }
	saved := func(text string) events.Draft { return draft(events.MemorySaved{Text: text}) }
	records, err := eventlog.AppendEnd(ctx, log, events.Daemon,
		saved("before"), saved("first"), draft(events.DaemonStopped{}), saved("erased"), saved("last"))
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Erase(ctx, records[3].Position); err != nil {
		t.Fatal(err)
	}
	var got []string
	for m, err := range eventlog.Events[events.MemorySaved](ctx, log, events.Daemon, 2) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.Event.Text)
		if m.Position != records[m.Version-1].Position {
			t.Errorf("%q is at %d, want %d", m.Event.Text, m.Position, records[m.Version-1].Position)
		}
	}
	if len(got) != 2 || got[0] != "first" || got[1] != "last" {
		t.Errorf("got %q, want first and last", got)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, err := range eventlog.Events[events.MemorySaved](ctx, log, events.Daemon, 1) {
		if !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	}
}
