package union_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

func draftOf(e events.Event) events.Draft {
	return events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: logtest.Draft("").OccurredAt, Event: e}
}

// TestBorder: what is written by way of the union has the own log's positions in that, and the union's for whoever reads the union.
func TestBorder(t *testing.T) {
	t.Parallel()
	own := logtest.Open(t, eventlog.Config{})
	mustAppend(t, own, events.Daemon, "first")
	log := logtest.Shifted(t, own, nil)
	tool := func() events.Position {
		r, err := eventlog.AppendEnd(t.Context(), log, logtest.Session("a"), draftOf(events.ToolUsed{Tool: "Edit"}))
		if err != nil {
			t.Fatal(err)
		}
		return r[0].Position
	}
	one, two := tool(), tool()
	records, err := eventlog.AppendEnd(t.Context(), log, logtest.Session("a"),
		draftOf(events.TurnStarted{Settles: []events.Position{one, two}}), draftOf(events.ContextInjected{Position: 500}), draftOf(events.ContextInjected{Position: events.Moment(two)}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []events.Event{
		events.TurnStarted{Settles: []events.Position{2, 3}}, events.ContextInjected{Position: 1}, events.ContextInjected{Position: 3},
	} {
		at := events.Position(4 + i)
		r, err := own.Get(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Event(); err != nil || !cmp.Equal(got, want) {
			t.Errorf("the own log has %+v, %v, want %+v", got, err, want)
		}
		if records[i].Position != log.Seen(at) || records[i].Place() != (events.Place{Position: at}) {
			t.Errorf("record %d was returned as %d, of %+v", at, records[i].Position, records[i].Place())
		}
		seen, err := log.Get(t.Context(), records[i].Position)
		if err != nil || seen.Chain != r.Chain {
			t.Errorf("record %d is another one to readers: %v", at, err)
		}
	}
	if e, err := records[0].Event(); err != nil || !slices.Equal(e.(events.TurnStarted).Settles, []events.Position{one, two}) {
		t.Errorf("returned %+v, %v", e, err)
	}
	version, last, err := log.Head(t.Context(), logtest.Session("a"))
	if version != 5 || last != records[2].Position || err != nil {
		t.Errorf("Head: %d, %d, %v", version, last, err)
	}
	if log.Before(500) != 1 || log.Before(one) != 2 || log.Before(one+1000) != 6 {
		t.Errorf("Before: %d, %d, %d", log.Before(500), log.Before(one), log.Before(one+1000))
	}
}

// TestBorderRefuses: no record of another machine gets into the own log, by position, or is erased in it.
func TestBorderRefuses(t *testing.T) {
	t.Parallel()
	own := logtest.Open(t, eventlog.Config{})
	mustAppend(t, own, events.Daemon, "first")
	log := logtest.Shifted(t, own, nil)
	forgotten := events.MemoryForgotten{Positions: []events.Position{1, 7}}
	if _, err := eventlog.AppendEnd(t.Context(), log, events.Daemon, draftOf(forgotten)); !errors.Is(err, union.ErrForeign) {
		t.Errorf("Append: %v", err)
	}
	if err := log.Erase(t.Context(), 7); !errors.Is(err, union.ErrForeign) {
		t.Errorf("Erase: %v", err)
	}
	if last, err := own.Last(t.Context()); last != 1 || err != nil {
		t.Errorf("the own log has %d records, %v", last, err)
	}
	if err := log.Erase(t.Context(), 1); err != nil {
		t.Errorf("Erase of an own record: %v", err)
	}
	if r, err := own.Get(t.Context(), 1); err != nil || !r.Erased {
		t.Errorf("it is not erased: %v", err)
	}
}
