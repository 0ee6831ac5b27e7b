package server

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestVerifyCountsAnew has the views' counts be right, and wrong in each way.
func TestVerifyCountsAnew(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 3)
	w.use(t, "t", 1)
	w.settled(t)
	counted := session.Balance{Captured: 4, Dropped: 4}
	for _, c := range []struct {
		name  string
		plant func(l *outcomes.Ledger)
		want  []api.Discrepancy
	}{
		{"right", func(*outcomes.Ledger) {}, nil},
		{"one observed that was dropped", func(l *outcomes.Ledger) {
			b := l.Sessions[claude("s")]
			b.Observed, b.Dropped = 1, 3
			l.Sessions[claude("s")] = b
		}, []api.Discrepancy{{Session: claude("s"), In: api.InViews, Counted: counted, Claimed: session.Balance{Captured: 4, Observed: 1, Dropped: 3}}}},
		{"a session that is missing", func(l *outcomes.Ledger) { delete(l.Sessions, claude("s")) },
			[]api.Discrepancy{{Session: claude("s"), In: api.InViews, Counted: counted}}},
		{"a session that is not there", func(l *outcomes.Ledger) {
			l.Sessions[claude("x")] = api.Balance{Balance: session.Balance{Captured: 2, Pending: 2}}
		},
			[]api.Discrepancy{{Session: claude("x"), In: api.InViews, Claimed: session.Balance{Captured: 2, Pending: 2}}}},
		{"the sum alone", func(l *outcomes.Ledger) { l.All.Captured, l.All.Skipped = 7, 1 },
			[]api.Discrepancy{{In: api.InViews, Counted: session.Balance{Captured: 6, Dropped: 6}, Claimed: session.Balance{Captured: 7, Dropped: 6, Skipped: 1}}}},
	} {
		ledger := func(ctx context.Context) (outcomes.Ledger, error) {
			l, err := w.views.Ledger(ctx)
			c.plant(&l)
			return l, err
		}
		got, err := curation.VerifyLog(t.Context(), w.log, ledger, nil)
		if err != nil || got.OK != (c.want == nil) || got.Damaged() || got.Balance == nil || got.Balance.Dropped != 6 {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
		for i := range got.Discrepancies {
			if got.Discrepancies[i].Problem == "" || got.Discrepancies[i].String() == "" {
				t.Errorf("%s: nothing is said of it", c.name)
			}
			got.Discrepancies[i].Problem = ""
		}
		if diff := cmp.Diff(c.want, got.Discrepancies); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestVerifyComparesAtOnePosition has the views be behind the log, and not to be had at all.
func TestVerifyComparesAtOnePosition(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 3)
	w.settled(t)
	then, err := w.views.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.use(t, "s", 2)
	w.settled(t)
	behind := func(context.Context) (outcomes.Ledger, error) { return then, nil }
	if got, err := curation.VerifyLog(t.Context(), w.log, behind, nil); err != nil || !got.OK || got.Balance.Captured != 4 {
		t.Errorf("views behind: got %+v, %v, want the balance of then", got, err)
	}
	gone := func(context.Context) (outcomes.Ledger, error) { return outcomes.Ledger{}, engine.ErrStopped }
	var told []uint64
	got, err := curation.VerifyLog(t.Context(), w.log, gone, func(done, total uint64) {
		if told = append(told, done); done > total {
			t.Errorf("%d of %d are done", done, total)
		}
	})
	if err != nil || !got.OK || got.Balance.Captured != 7 || got.Unchecked == "" || len(told) < 2 {
		t.Errorf("no views: got %+v, %v after %v, want all counted and the views named", got, err, told)
	}
	if got, err := curation.VerifyLog(t.Context(), w.log, nil, nil); err != nil || !got.OK || got.Unchecked != "" {
		t.Errorf("without views: got %+v, %v", got, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := curation.VerifyLog(over, w.log, gone, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// TestVerifyFindsWhatTheLogCannotMean has a turn settle what is no input.
func TestVerifyFindsWhatTheLogCannotMean(t *testing.T) {
	t.Parallel()
	log := logtest.Open(t, eventlog.Config{})
	s, turn := claude("s"), newID()
	_, err := eventlog.AppendEnd(t.Context(), log, s.Stream(),
		events.Draft{ID: newID(), Event: events.SessionOpened{Agent: "claude-code", AgentSession: "s"}},
		events.Draft{ID: newID(), Correlation: turn, Event: events.TurnStarted{Turn: turn, TurnKind: events.TurnObservation, Settles: []events.Position{1}}},
		events.Draft{ID: newID(), Correlation: turn, Event: events.TurnReceived{Turn: turn}},
		events.Draft{ID: newID(), Correlation: turn, Event: events.OutputSkipped{Turn: turn, Reason: events.ReasonEmpty}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := curation.VerifyLog(t.Context(), log, nil, nil)
	if err != nil || got.OK || got.Damaged() || len(got.Discrepancies) != 1 || got.Discrepancies[0].In != api.InLog || got.Discrepancies[0].Position != 4 {
		t.Errorf("got %+v, %v, want the record named that cannot be right", got, err)
	}
}

// TestCompareWhileWordsAreForgotten: what words were forgotten under is compared once more, and whoever asked hears why it never ends well.
func TestCompareWhileWordsAreForgotten(t *testing.T) {
	t.Parallel()
	left := 1
	w := newWorld(t, func(c *testConfig) {
		keep := c.Scratch
		c.Scratch = func(ctx context.Context, do func(ctx context.Context, dir string) error) error {
			if left--; left >= 0 {
				return curation.ErrWordsForgotten
			}
			return keep(ctx, do)
		}
	})
	if c, err := api.CompareRoute.Call(t.Context(), w.client, api.NoQuery{}, nil); err != nil || !c.Well() {
		t.Errorf("forgotten once: %+v, %v", c, err)
	}
	left = 9
	_, err := api.CompareRoute.Call(t.Context(), w.client, api.NoQuery{}, nil)
	if p, ok := errors.AsType[*api.Problem](err); !ok || p.Type != api.ProblemConflict || p.Title != "Words were forgotten meanwhile" {
		t.Errorf("forgotten each time: %v", err)
	}
}

// TestCompareWhileRecordsAreErased: views that have not come to what is forgotten by now hold what the log does not lead to any more, and
// are not wrong.
func TestCompareWhileRecordsAreErased(t *testing.T) {
	t.Parallel()
	log, dir := logtest.Open(t, eventlog.Config{}), t.TempDir()
	views, err := projections.Open(filepath.Join(dir, "views"), log, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer views.Close()
	ix, err := index.Open(t.Context(), filepath.Join(dir, "index"), log, index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	saved := newID()
	records, err := eventlog.AppendEnd(t.Context(), log, events.Daemon, events.Draft{ID: saved, Event: events.MemorySaved{Memory: saved, Text: "a word"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(views.CatchUp(t.Context()), ix.CatchUp(t.Context())); err != nil {
		t.Fatal(err)
	}
	compare := func() (api.Compared, error) {
		scratch := func(ctx context.Context, do func(ctx context.Context, dir string) error) error {
			return do(ctx, t.TempDir())
		}
		return curation.CompareViews(t.Context(), scratch, log, log, views, ix, nil)
	}
	if c, err := compare(); err != nil || !c.Well() {
		t.Fatalf("before: %+v, %v", c, err)
	}
	forgotten := events.Draft{ID: newID(), Event: events.MemoryForgotten{IDs: []events.ID{saved}, Positions: []events.Position{records[0].Position}}}
	if _, err := eventlog.AppendEnd(t.Context(), log, events.Daemon, forgotten); err != nil {
		t.Fatal(err)
	}
	if err := log.Erase(t.Context(), records[0].Position); err != nil {
		t.Fatal(err)
	}
	if c, err := compare(); !errors.Is(err, curation.ErrWordsForgotten) {
		t.Errorf("while they are behind: %+v, %v", c, err)
	}
	if err := errors.Join(views.CatchUp(t.Context()), ix.CatchUp(t.Context())); err != nil {
		t.Fatal(err)
	}
	if c, err := compare(); err != nil || !c.Well() {
		t.Errorf("behind it: %+v, %v", c, err)
	}
}
