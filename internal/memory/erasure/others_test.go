package erasure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// joinedWorld is a world with records of another machine before all but the first of its own.
func joinedWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOver(t, func(log *eventlog.Bolt) eventlog.Log {
		first := logtest.Draft("")
		first.Event = events.DaemonStarted{Version: "1"}
		if _, err := eventlog.AppendEnd(t.Context(), log, events.Daemon, first); err != nil {
			t.Fatal(err)
		}
		return logtest.Shifted(t, log, nil)
	})
}

// erasedIn lists what is erased in the own log.
func (w *world) erasedIn(t *testing.T) (at []events.Position) {
	t.Helper()
	for r, err := range w.log.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Erased {
			at = append(at, r.Position)
		}
	}
	return at
}

// TestForgetAmongMachines: what is chosen over all machines' records is recorded, noted and erased with positions of the own log, also by the next life
// where a session refused; of other machines it is asked.
func TestForgetAmongMachines(t *testing.T) {
	t.Parallel()
	w := joinedWorld(t)
	s := w.open("a", "shop")
	one := w.tool(s, 1, "the marmalade key")
	kept := w.tool(s, 1, "nothing")
	row := w.observe(s, 1, []events.Position{one}, "marmalade leaked")[0]
	w.refuse.Store(sessionOf("a"), true)
	done, err := w.Forget(t.Context(), Request{Query: "marmalade"}, nil)
	if err != nil || len(done.Refused) != 1 {
		t.Fatalf("refused: %+v, %v", done, err)
	}
	raw, err := os.ReadFile(w.state)
	if err != nil {
		t.Fatal(err)
	}
	var noted state
	if err := json.Unmarshal(raw, &noted); err != nil || len(noted.Pending) != 1 || !slices.Contains(noted.Pending[0].Positions, one) || !slices.Contains(noted.Pending[0].Positions, row) {
		t.Fatalf("noted: %s, %v", raw, err)
	}
	w.refuse.Delete(sessionOf("a"))
	w.Eraser = w.eraser(0)
	if err := w.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := w.erasedIn(t)
	if !slices.Contains(gone, one) || !slices.Contains(gone, row) || slices.Contains(gone, kept) || slices.Contains(gone, 1) {
		t.Errorf("erased: %v, want %d and %d, and not %d", gone, one, row, kept)
	}
	for m, err := range eventlog.Events[events.MemoryForgotten](t.Context(), w.log, s, 1) {
		if err != nil || !slices.Contains(m.Event.Positions, one) || slices.Max(m.Event.Positions) >= m.Position {
			t.Errorf("recorded: %+v, %v", m.Event, err)
		}
	}
	if len(w.asked) > 0 {
		t.Errorf("another machine was asked to forget %v", w.asked)
	}
	theirs, _ := w.seen.Get(t.Context(), 2)
	session, _ := theirs.Stream.Session()
	done, err = w.Forget(t.Context(), Request{Session: session}, nil)
	if err != nil || done.Records != 0 || done.Asked != len(w.asked) || len(w.asked) == 0 || w.asked[0] != theirs.Place() {
		t.Errorf("another machine's session: %+v, %v, asked for %d records", done, err, len(w.asked))
	}
	for name, req := range map[string]Request{"theirs alone": {Session: session}, "theirs and own": {Positions: []events.Position{2, w.seen.(union.Log).Seen(kept)}}} {
		asked := len(w.asked)
		got, err := w.Ask(t.Context(), req, events.WriterAgent)
		refused := errors.Is(err, ErrOthersRecords)
		if refused != (name == "theirs alone") || !refused && (err != nil || got.Others == 0 || got.Records == 0) || len(w.asked) != asked {
			t.Errorf("an agent asks for %s: %+v, %v", name, got, err)
		}
	}
	if again := w.erasedIn(t); !slices.Equal(again, gone) {
		t.Errorf("of the own log it erased %v", again)
	}
}

// counted is a log that counts the records that are read of it.
type counted struct {
	union.Log
	read *atomic.Int64
}

func (l counted) Unwrap() eventlog.Reader { return l.Log }

func (l counted) count(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			if l.read.Add(1); !yield(r, err) {
				return
			}
		}
	}
}

func (l counted) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return l.count(l.Log.All(ctx, from))
}

func (l counted) Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return l.count(l.Log.Follow(ctx, from))
}

func (l counted) Get(ctx context.Context, at events.Position) (events.Record, error) {
	l.read.Add(1)
	return l.Log.Get(ctx, at)
}

// filesWith names the files below dir in whose bytes a word is.
func filesWith(t *testing.T, dir, word string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(word)) {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// theirRows adds rows of another machine to a union, one of which says a word, and returns their ids and where that one is.
func theirRows(t *testing.T, seen union.Log, n int, word string) (ids []events.ID, gone events.Place) {
	t.Helper()
	theirs := logtest.Open(t, eventlog.Config{NoSync: true})
	drafts := make([]events.Draft, n)
	for i := range drafts {
		drafts[i] = logtest.Draft("")
		m := events.MemorySaved{Memory: drafts[i].ID, At: epoch, Title: fmt.Sprint("row ", i), Text: "plain"}
		if i == n/2 {
			m.Text = word
		}
		drafts[i].Event, ids = m, append(ids, m.Memory)
	}
	records, err := eventlog.AppendEnd(t.Context(), theirs, events.Daemon, drafts...)
	if err != nil {
		t.Fatal(err)
	}
	gone = events.Place{Log: events.LogIDOf(records[0]), Position: records[n/2].Position}
	if err := seen.Add(t.Context(), union.Run{Log: gone.Log, Records: records}); err != nil {
		t.Fatal(err)
	}
	return ids, gone
}

// TestForgetOthers: of 10,000 rows of another machine one is erased here. Its words go from views and index, of the log only that record's header is looked
// at by the views, and nothing else goes.
func TestForgetOthers(t *testing.T) {
	t.Parallel()
	const rows, word = 10_000, "xyzzymarmalade"
	own := logtest.Open(t, eventlog.Config{NoSync: true})
	if _, err := eventlog.AppendEnd(t.Context(), own, events.Daemon, logtest.Draft("first")); err != nil {
		t.Fatal(err)
	}
	seen := logtest.Shifted(t, own, nil)
	ids, gone := theirRows(t, seen, rows, word)
	dir, log := t.TempDir(), counted{seen, new(atomic.Int64)}
	views, err := projections.Open(filepath.Join(dir, "views"), log, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer views.Close()
	x, err := index.Open(t.Context(), filepath.Join(dir, "index"), seen, index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := errors.Join(views.CatchUp(t.Context()), x.CatchUp(t.Context())); err != nil {
		t.Fatal(err)
	}
	if found := filesWith(t, dir, word); len(found) == 0 {
		t.Fatal("the word is in no file: this test shows nothing")
	}
	eraser := New(Config{
		Log: seen, Views: views, State: filepath.Join(dir, "forget.json"),
		Do: func(context.Context, events.SessionID, ...session.Command) (events.Position, error) {
			return 0, errRefused
		},
		Files: []Files{
			{Name: "log", Purge: func(context.Context, events.Position) error { t.Error("the own log was written anew"); return nil }},
			{Name: "views", Forget: views.Forget, Purge: func(ctx context.Context, _ events.Position) error { return views.Compact(ctx) }},
			{Name: "index", Forget: x.Forget, Purge: func(ctx context.Context, _ events.Position) error { return x.Purge(ctx) }},
		},
	})
	if err := seen.Union.Erase(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	at, _ := seen.At(gone)
	before, err := x.Stats()
	if err != nil {
		t.Fatal(err)
	}
	log.read.Store(0)
	if err := eraser.ForgetOthers(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	if n, most := log.read.Load(), int64(len(views.Names())); n == 0 || n > most {
		t.Errorf("the views read %d records for one that was erased, want it alone, once a view at most: %d", n, most)
	}
	if found := filesWith(t, dir, word); len(found) > 0 {
		t.Errorf("the word is in %v", found)
	}
	for i := range ids {
		if found, err := views.Rows(t.Context(), ids[i]); err != nil || (found[0].Position != 0) != (i != rows/2) {
			t.Fatalf("row %d: %+v, %v", i, found, err)
		}
	}
	if after, err := x.Stats(); err != nil || after.Documents != before.Documents-1 {
		t.Errorf("the index has %d rows, and had %d: %v", after.Documents, before.Documents, err)
	}
}

// TestForgetWhereNobodyCanBeTold: what keeps others from being told keeps nobody from forgetting here, and they are told later, also by the next life.
func TestForgetWhereNobodyCanBeTold(t *testing.T) {
	t.Parallel()
	w := joinedWorld(t)
	w.unsent = errors.New("a file is damaged")
	s := w.open("a", "shop")
	one := w.tool(s, 1, "the marmalade key")
	done, err := w.Forget(t.Context(), Request{Query: "marmalade"}, nil)
	if gone := w.erasedIn(t); err != nil || done.Records == 0 || !slices.Contains(gone, one) {
		t.Fatalf("forgotten: %+v, %v; erased are %v", done, err, gone)
	}
	w.Eraser = w.eraser(0)
	if err := w.finish(t.Context()); !errors.Is(err, w.unsent) || len(w.notified) > 0 {
		t.Errorf("while it cannot: %v, told of %v", err, w.notified)
	}
	w.unsent = nil
	w.Eraser = w.eraser(0)
	if err := w.finish(t.Context()); err != nil || w.Eraser.state.get().isDue() {
		t.Errorf("once it can: %v", err)
	}
	seen, _ := w.seen.(union.Log)
	if at, ok := seen.At(events.Place{Position: one}); !ok || !slices.Contains(w.notified, at) {
		t.Errorf("told of %v, want %d", w.notified, at)
	}
}

// TestAskForWhatOthersRecorded: an agent that asks for it is refused, and nothing is said to be done.
func TestAskForWhatOthersRecorded(t *testing.T) {
	t.Parallel()
	w := joinedWorld(t)
	theirs, err := w.seen.Get(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	session, _ := theirs.Stream.Session()
	if asked, err := w.Ask(t.Context(), Request{Session: session}, events.WriterAgent); !errors.Is(err, ErrOthersRecords) {
		t.Errorf("got %+v, %v", asked, err)
	}
	if open, err := w.Requests(t.Context()); err != nil || len(open) > 0 || len(w.asked) > 0 {
		t.Errorf("open are %v, %v; asked was %v", open, err, w.asked)
	}
}

// TestScannedBehindOthers: how far the log was looked at is known in the next life too where the last record is another machine's.
func TestScannedBehindOthers(t *testing.T) {
	t.Parallel()
	w := joinedWorld(t)
	s := w.open("a", "shop")
	one := w.tool(s, 1, "the marmalade key")
	if _, err := w.Forget(t.Context(), Request{Query: "marmalade"}, nil); err != nil {
		t.Fatal(err)
	}
	theirRows(t, w.seen.(union.Log), 1, "plum")
	if err := w.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := w.eraser(0)
	at, err := next.scanned(t.Context(), next.state.get())
	if err != nil || at.Place().Position <= one {
		t.Errorf("looked at up to %+v, %v: %d was forgotten before", at.Header, err, one)
	}
}
