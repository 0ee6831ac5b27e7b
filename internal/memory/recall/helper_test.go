package recall

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/testkit/logtest"
)

const (
	fenceName  = "memory-fence"
	fenceOpen  = "<" + fenceName + ">"
	fenceClose = "</" + fenceName + ">"
)

// world is a log with everything that reads it. In tests records of another machine are among the own ones, of which none but the first has the
// position that the own log has it at: a position that is not translated names another record.
type world struct {
	tb testing.TB
	*Recall
	log      eventlog.Log // own, or what has other machines' records among those
	own      *eventlog.Bolt
	views    *projections.Views
	index    *index.Index
	versions map[events.StreamID]events.Version
	now      time.Time
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	_, measured := tb.(*testing.B)
	return newWorldOf(tb, !measured)
}

// newWorldOf is a world with or without records of another machine.
func newWorldOf(tb testing.TB, joined bool) *world {
	tb.Helper()
	w := &world{tb: tb, versions: map[events.StreamID]events.Version{}, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	w.own = logtest.Open(tb, eventlog.Config{Now: func() time.Time { return w.now }})
	w.log = w.own
	if joined {
		first := events.Draft{ID: newID(), OccurredAt: w.now, Event: events.DaemonStarted{Version: "1"}}
		records, err := w.own.Append(tb.Context(), events.Daemon, 0, first)
		if err != nil {
			tb.Fatal(err)
		}
		w.versions[events.Daemon] = records[0].Version
		w.log = logtest.Shifted(tb, w.own, func() time.Time { return w.now })
	}
	var err error
	if w.views, err = projections.Open(tb.TempDir(), w.log, engine.Config{}); err != nil {
		tb.Fatal(err)
	}
	if w.index, err = index.Open(context.Background(), tb.TempDir(), w.log, index.Config{Flush: time.Millisecond}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := w.index.Close(); err != nil {
			tb.Error(err)
		}
		if err := w.views.Close(); err != nil {
			tb.Error(err)
		}
		w.own.Close()
	})
	w.Recall = New(Config{Views: w.views, Index: w.index, Log: w.log, Fence: fenceName})
	return w
}

// put appends events a minute apart.
func (w *world) put(stream events.StreamID, list ...events.Event) []events.Record {
	w.tb.Helper()
	drafts := make([]events.Draft, len(list))
	for i, e := range list {
		w.now = w.now.Add(time.Minute)
		drafts[i] = events.Draft{ID: newID(), OccurredAt: w.now, Correlation: turnOf(e), Event: e}
	}
	recs, err := w.log.Append(context.Background(), stream, w.versions[stream], drafts...)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.versions[stream] += events.Version(len(recs))
	return recs
}

// turnOf is the turn that an event is about.
func turnOf(e events.Event) events.ID {
	switch e := e.(type) {
	case events.TurnStarted:
		return e.Turn
	case events.TurnReceived:
		return e.Turn
	case events.TurnFailed:
		return e.Turn
	case events.ObservationParsed:
		return e.Turn
	case events.SummaryParsed:
		return e.Turn
	}
	return events.ID{}
}

func newID() events.ID { return uuid.Must(uuid.NewV7()) }

// open starts a session.
func (w *world) open(native, project string) events.SessionID {
	id := events.SessionIDOf("codex", native)
	w.put(id.Stream(), events.SessionOpened{Agent: "codex", AgentSession: native, Project: project, ProjectRoot: "/src/" + project, Cwd: "/src/" + project})
	return id
}

// observe adds an observation with a title and a narrative.
func (w *world) observe(s events.SessionID, kind, title, narrative string) events.ID {
	id := newID()
	w.put(s.Stream(), events.ObservationParsed{Observation: id, Type: kind, Title: title, Narrative: narrative})
	return id
}

// sync brings views and index to the log's end.
func (w *world) sync() {
	w.tb.Helper()
	if err := w.views.CatchUp(context.Background()); err != nil {
		w.tb.Fatal(err)
	}
	if err := w.index.CatchUp(context.Background()); err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) mustSearch(q Query) Answer {
	w.tb.Helper()
	w.sync()
	a, err := w.Search(context.Background(), q)
	if err != nil {
		w.tb.Fatalf("search %+v: %v", q, err)
	}
	return a
}

func (w *world) mustContext(ask Ask) Context {
	w.tb.Helper()
	w.sync()
	c, err := w.Context(context.Background(), ask)
	if err != nil {
		w.tb.Fatalf("context %+v: %v", ask, err)
	}
	return c
}

func idsOf(items []Item) []events.ID {
	ids := []events.ID{}
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	return ids
}
