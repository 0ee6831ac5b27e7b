package share

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// unreadableBefore is a log that cannot be read from its beginning.
type unreadableBefore struct {
	*eventlog.Bolt
	err error
}

func (u unreadableBefore) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	if from > 1 {
		return u.Bolt.All(ctx, from)
	}
	return func(yield func(events.Record, error) bool) { yield(events.Record{}, u.err) }
}

// TestRelaidOnlyWhereItIsRead: a salvaged log counts as laid anew where its records were read and are others, and not where they cannot be
// read.
func TestRelaidOnlyWhereItIsRead(t *testing.T) {
	t.Parallel()
	log := logtest.Open(t, eventlog.Config{})
	for _, e := range []events.Event{events.PromptSubmitted{Text: "a"}, events.LogSalvaged{}} {
		if _, err := eventlog.AppendEnd(t.Context(), log, events.Daemon, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: logtest.Draft("").OccurredAt, Event: e}); err != nil {
			t.Fatal(err)
		}
	}
	link, err := linkAt(t.Context(), log, feed{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		log  eventlog.Reader
		link events.Hash
		want bool
	}{
		"the same":    {log, link, false},
		"others":      {log, events.Hash{1}, true},
		"damaged":     {unreadableBefore{log, events.ErrCorrupt}, link, false},
		"no disk now": {unreadableBefore{log, errors.New("input/output error")}, link, false},
	} {
		if got, err := isRelaid(t.Context(), c.log, feed{Last: 1, Link: c.link}); got != c.want || err != nil {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}
