package projections

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/testkit/follow"
)

func TestRunFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	stop := follow.Run(t, v)
	s := w.open(0)
	for range 100 {
		at := w.tool(s, "")
		if err := v.Wait(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if in, err := v.Outcome(t.Context(), at); err != nil || in.Outcome != outcomes.Pending {
			t.Fatalf("input %d: got %+v, %v", at, in, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := v.Wait(ctx, 1000); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("wait for the future: got %v", err)
	}
	if err := stop(); err != nil {
		t.Fatalf("run: got %v, want nil", err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Balance(t.Context()); !errors.Is(err, engine.ErrClosed) {
		t.Fatalf("read after close: got %v", err)
	}
	if err := v.Wait(t.Context(), 1000); !errors.Is(err, engine.ErrClosed) {
		t.Fatalf("wait after close: got %v", err)
	}
	if err := errors.Join(v.Close(), v.Close()); err != nil {
		t.Fatalf("close again: got %v", err)
	}
}

// TestRebuildWhileServing rebuilds every view again and again while events are appended and read.
func TestRebuildWhileServing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	for range 40 {
		w.keep(w.start(s, events.TurnObservation, w.tool(s, `{"file_path":"/home/u/p0/a.go"}`)), fmt.Sprint("row ", w.ids))
	}
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{Pace: engine.Pace{Records: 16}})
	follow.MustCatchUp(t, v)
	stop := follow.Run(t, v)

	reading, quit := sync.WaitGroup{}, make(chan struct{})
	reading.Go(func() {
		for least := 40; ; {
			select {
			case <-quit:
				return
			default:
			}
			b, err := v.Balance(context.Background())
			rows, rerr := v.Recent(context.Background(), rows.RecentFilter{Limit: 10_000})
			files, ferr := v.Files(context.Background(), files.Filter{})
			if err = errors.Join(err, rerr, ferr); err != nil || b.Observed < least || len(rows) < least || len(files) != 2 {
				t.Errorf("while rebuilding: got %+v, %d rows, %d files, %v, want at least %d", b, len(rows), len(files), err, least)
				return
			}
			least = b.Observed
			if len(rows) < least {
				least = len(rows)
			}
		}
	})
	rebuilding := sync.WaitGroup{}
	rebuilding.Go(func() {
		for range 3 {
			var last uint64
			err := v.Rebuild(context.Background(), nil, func(done, total uint64) {
				if done < last || done > total {
					t.Errorf("progress: %d after %d, of %d", done, last, total)
				}
				last = done
			})
			if err != nil {
				t.Errorf("rebuild: %v", err)
			}
		}
	})
	for range 150 {
		w.keep(w.start(s, events.TurnObservation, w.tool(s, `{"file_path":"/home/u/p0/a.go"}`)), fmt.Sprint("row ", w.ids))
	}
	rebuilding.Wait()
	close(quit)
	reading.Wait()
	last, _ := w.log.Last(t.Context())
	if err := errors.Join(v.Wait(t.Context(), last), stop()); err != nil {
		t.Fatal(err)
	}
	fresh := caughtUp(t, w)
	if diff := cmp.Diff(byName(dump(t, fresh)), byName(dump(t, v))); diff != "" {
		t.Fatalf("rebuilt differs (-fresh +rebuilt):\n%s", diff)
	}
	if err := v.Rebuild(t.Context(), []string{"nothing"}, nil); !errors.Is(err, engine.ErrUnknownView) {
		t.Fatalf("rebuild of no view: got %v", err)
	}
}

func TestRebuildGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	for range 60 {
		w.tool(s, "")
	}
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{Pace: engine.Pace{Records: 8}})
	follow.MustCatchUp(t, v)
	before := dump(t, v)
	ctx, cancel := context.WithCancel(t.Context())
	err := v.Rebuild(ctx, []string{"outcomes"}, func(uint64, uint64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	if diff := cmp.Diff(before, dump(t, v)); diff != "" {
		t.Fatalf("it left something behind (-before +after):\n%s", diff)
	}
}

// renewed is a view whose version went up.
type renewed struct{ engine.View }

func (r renewed) Layout() engine.Layout {
	l := r.View.Layout()
	l.Version = 99
	return l
}

func TestNewVersionIsRebuiltAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	for range 50 {
		w.keep(w.start(s, events.TurnObservation, w.tool(s, "")), fmt.Sprint("row ", w.ids))
	}
	dir := t.TempDir()
	v := mustOpen(t, dir, w.log, engine.Config{})
	follow.MustCatchUp(t, v)
	last := v.Position()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	views := allViews()
	views[slices.IndexFunc(views, func(v engine.View) bool { return v.Name() == "sessions" })] = renewed{sessions.View{}}
	views = views[:len(views)-1] // and one is no more
	v, err := open(dir, w.log, engine.Config{Pace: engine.Pace{Records: 8}}, views)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if v.Position() != 0 {
		t.Fatalf("position: got %d, want 0", v.Position())
	}
	infos, err := v.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		if anew := i.Version == 99; anew != (i.Checkpoint == 0) || !anew && i.Checkpoint != last {
			t.Fatalf("after the upgrade: %+v", i)
		}
	}
	stop := follow.Run(t, v)
	if err := errors.Join(v.Wait(t.Context(), w.tool(s, "")), stop()); err != nil {
		t.Fatal(err)
	}
	got, err := v.Session(t.Context(), s)
	if err != nil || got.ToolUses != 51 {
		t.Fatalf("session: got %+v, %v", got, err)
	}
	for _, line := range dump(t, v) {
		if strings.HasPrefix(line, "injections") {
			t.Fatalf("left of a view that is no more: %s", line)
		}
	}
}

// retold is a log some of whose records are of a kind that this program does not know.
type retold struct {
	eventlog.Log
	at events.Position
}

func (l retold) tell(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			if r.Position == l.at {
				r.Kind = "session_dreamt"
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (l retold) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return l.tell(l.Log.All(ctx, from))
}

func (l retold) Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return l.tell(l.Log.Follow(ctx, from))
}

func viewsNamed(names ...string) []engine.View {
	return slices.DeleteFunc(allViews(), func(v engine.View) bool { return !slices.Contains(names, v.Name()) })
}

func TestUnknownKindStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	at := w.tool(s, "")
	log := retold{Log: w.log, at: at}
	v := mustOpen(t, t.TempDir(), log, engine.Config{})
	err := v.Run(t.Context())
	if !errors.Is(err, engine.ErrNewerKind) || !strings.Contains(err.Error(), "session_dreamt") || !strings.Contains(err.Error(), fmt.Sprint(at)) {
		t.Fatalf("run: got %v", err)
	}
	if err := v.Wait(t.Context(), at); !errors.Is(err, engine.ErrStopped) || !errors.Is(err, engine.ErrNewerKind) {
		t.Fatalf("wait: got %v", err)
	}
	if v.Position() >= at {
		t.Fatalf("position: got %d, want less than %d", v.Position(), at)
	}

	// Views that cannot be misled go on.
	calm, err := open(filepath.Join(t.TempDir(), "calm"), log, engine.Config{}, viewsNamed("injections", "health", "files"))
	if err != nil {
		t.Fatal(err)
	}
	defer calm.Close()
	follow.MustCatchUp(t, calm)
	if calm.Position() != at {
		t.Fatalf("position of calm views: got %d, want %d", calm.Position(), at)
	}
}
