package erasure

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/logtest"
)

var epoch = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// world is a log with views over it, sessions that decide as the real ones do, and an eraser.
type world struct {
	tb       testing.TB
	log      *eventlog.Bolt
	seen     eventlog.Log   // what the views and the eraser read: log, or a union of it
	asked    []events.Place // of other machines
	unsent   error          // why nobody can be notified
	notified []events.Position
	views    *projections.Views
	state    string
	now      time.Time
	ids      uint64
	purged   atomic.Int32
	refuse   sync.Map             // of events.SessionID: who is parked
	rows     map[string]events.ID // by title
	*Eraser
}

var errRefused = errors.New("parked")

func newWorld(t testing.TB) *world {
	return newWorldOver(t, func(log *eventlog.Bolt) eventlog.Log { return log })
}

// newWorldOver is newWorld where views and eraser read what over makes of the log.
func newWorldOver(t testing.TB, over func(*eventlog.Bolt) eventlog.Log) *world {
	t.Helper()
	w := &world{tb: t, now: epoch, rows: map[string]events.ID{}, state: filepath.Join(t.TempDir(), "forget.json")}
	w.log = logtest.Open(t, eventlog.Config{Now: func() time.Time { return w.now }})
	w.seen = over(w.log)
	var err error
	if w.views, err = projections.Open(t.TempDir(), w.seen, engine.Config{}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.views.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait(); w.views.Close() })
	w.Eraser = w.eraser(0)
	return w
}

// eraser is a new one over the same log, as after a restart.
func (w *world) eraser(retain time.Duration) *Eraser {
	return New(Config{
		Log: w.seen, Views: w.views, Do: w.do, Others: w.ask, Announce: w.announce, State: w.state, Retain: retain, Slice: -1,
		Files: []Files{{Name: "files", Purge: func(ctx context.Context, upTo events.Position) error {
			w.purged.Add(1)
			return w.log.Compact(ctx)
		}}},
		Now: func() time.Time { return w.now }, NewID: w.id,
	})
}

func (w *world) id() events.ID {
	w.ids++
	var id events.ID
	binary.BigEndian.PutUint64(id[:], uint64(w.now.UnixMilli())<<16|0x7000)
	binary.BigEndian.PutUint64(id[8:], 1<<63|w.ids<<12)
	return id
}

// ask notes what other machines are asked to forget.
func (w *world) ask(_ context.Context, at []events.Place) error {
	w.asked = append(w.asked, at...)
	return nil
}

// announce notes what is announced to other machines, unless that fails.
func (w *world) announce(_ context.Context, at []events.Position) error {
	if w.unsent == nil {
		w.notified = append(w.notified, at...)
	}
	return w.unsent
}

// do is a session without an actor: it folds, decides and appends.
func (w *world) do(ctx context.Context, id events.SessionID, cmds ...session.Command) (seen events.Position, err error) {
	if _, no := w.refuse.Load(id); no {
		return 0, errRefused
	}
	var at events.Position
	if joined, ok := w.seen.(union.Log); ok {
		var err error
		if cmds, err = union.Own(joined, cmds); err != nil {
			return 0, err
		}
		defer func() { seen = joined.Seen(seen) }()
	}
	for _, cmd := range cmds {
		state, err := session.Fold(w.log.Stream(ctx, id.Stream(), 0))
		if err != nil {
			return at, err
		}
		drafts, err := session.Decide(state, session.Rules{}, cmd)
		if err != nil {
			return at, err
		}
		records, err := w.log.Append(ctx, id.Stream(), state.Version(), drafts...)
		if err != nil {
			return at, err
		}
		at = records[len(records)-1].Position
	}
	return at, nil
}

func sessionOf(name string) events.SessionID { return events.SessionIDOf("claude-code", name) }

// say appends events, all of one turn if turn is not zero, and returns the positions.
func (w *world) say(stream events.StreamID, turn events.ID, evs ...events.Event) []events.Position {
	w.tb.Helper()
	var at []events.Position
	for _, e := range evs {
		w.now = w.now.Add(time.Minute)
		d := events.Draft{ID: w.id(), OccurredAt: w.now, Correlation: turn, Event: e}
		if s, ok := e.(events.AgentStopped); ok {
			d.Unobserved = s.Work == 0
		}
		records, err := eventlog.AppendEnd(context.Background(), w.log, stream, d)
		if err != nil {
			w.tb.Fatal(err)
		}
		if e, ok := e.(events.PromptSubmitted); ok {
			w.rows[e.Text] = records[0].ID
		}
		at = append(at, records[0].Position)
	}
	return at
}

func (w *world) open(name, project string) events.StreamID {
	s := sessionOf(name).Stream()
	w.say(s, events.ID{}, events.SessionOpened{
		Agent: "claude-code", AgentSession: name, Project: project, ProjectRoot: "/src/" + project, Cwd: "/src/" + project, Source: "startup",
	})
	return s
}

func (w *world) tool(s events.StreamID, prompt int, output string) events.Position {
	return w.say(s, events.ID{}, events.ToolUsed{Tool: "Bash", Input: `{"command":"run"}`, Output: output, Prompt: prompt})[0]
}

func (w *world) start(s events.StreamID, kind events.TurnKind, prompt int, settles []events.Position, reads ...events.Position) events.ID {
	turn := w.id()
	w.say(s, turn, events.TurnStarted{Turn: turn, TurnKind: kind, Settles: settles, Reads: reads, Prompt: prompt, Attempt: 1})
	return turn
}

// observe has a turn over inputs keep one observation a title, and returns their positions.
func (w *world) observe(s events.StreamID, prompt int, settles []events.Position, titles ...string) []events.Position {
	w.tb.Helper()
	turn := w.start(s, events.TurnObservation, prompt, settles)
	return w.answer(s, turn, titles...)
}

func (w *world) answer(s events.StreamID, turn events.ID, titles ...string) []events.Position {
	w.say(s, turn, events.TurnReceived{Turn: turn, Output: events.NewOutput(fmt.Sprint("raw ", titles))})
	var at []events.Position
	for _, title := range titles {
		w.rows[title] = w.id()
		at = append(at, w.say(s, turn, events.ObservationParsed{Observation: w.rows[title], Turn: turn, Type: "change", Title: title, Prompt: 1})...)
	}
	return at
}

func (w *world) summarise(s events.StreamID, prompt int, stop events.Position, reads []events.Position, text string) events.Position {
	turn := w.start(s, events.TurnSummary, prompt, []events.Position{stop}, reads...)
	w.say(s, turn, events.TurnReceived{Turn: turn, Output: events.NewOutput("raw " + text)})
	w.rows[text] = w.id()
	return w.say(s, turn, events.SummaryParsed{Summary: w.rows[text], Turn: turn, Learned: text})[0]
}

func (w *world) save(title string, m events.MemorySaved) events.ID {
	w.rows[title] = w.id()
	m.Memory, m.Title, m.Text = w.rows[title], title, "text of "+title
	if m.At.IsZero() {
		m.At = w.now
	}
	w.say(events.Daemon, events.ID{}, m)
	return m.Memory
}

// erased lists what is erased, by a word for each record that is not: the words that are left in the log.
func (w *world) left() (words []string) {
	w.tb.Helper()
	for r, err := range w.log.All(context.Background(), 1) {
		if err != nil {
			w.tb.Fatal(err)
		}
		if r.Erased || !engine.Forgettable(r) {
			continue
		}
		e, err := r.Event()
		if err != nil {
			w.tb.Fatal(err)
		}
		words = append(words, fmt.Sprint(r.Kind, ": ", line(e)))
	}
	return words
}

func (w *world) forget(req Request) Done {
	w.tb.Helper()
	w.caughtUp()
	done, err := w.Forget(context.Background(), req, nil)
	if err != nil {
		w.tb.Fatal(err)
	}
	return done
}

// caughtUp waits until the views know all that the log holds.
func (w *world) caughtUp() {
	w.tb.Helper()
	last, err := w.log.Last(context.Background())
	if err == nil {
		err = w.views.Wait(context.Background(), last)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
}

// verify holds that the log is whole, and that every record's hash of what was erased can be found again.
func (w *world) verify() {
	w.tb.Helper()
	if err := eventlog.Verify(context.Background(), w.log, nil); err != nil {
		w.tb.Error(err)
	}
	for r, err := range w.log.All(context.Background(), 1) {
		if err != nil {
			w.tb.Fatal(err)
		}
		if r.Kind != events.KindMemoryForgotten {
			continue
		}
		said, err := r.Event()
		if err != nil {
			w.tb.Fatal(err)
		}
		m := said.(events.MemoryForgotten)
		var hashes []events.Hash
		for _, p := range m.Positions {
			named, err := w.log.Get(context.Background(), p)
			if err != nil || !named.Erased || named.Stream != r.Stream {
				w.tb.Errorf("%d is forgotten by %d in %s: erased %t, in %s, %v", p, r.Position, r.Stream, named.Erased, named.Stream, err)
			}
			hashes = append(hashes, named.PayloadHash)
		}
		if m.ErasedHash != Residue(hashes) {
			w.tb.Errorf("record %d: the residue is not that of what it names", r.Position)
		}
	}
}

func (w *world) fold(name string) *session.State {
	w.tb.Helper()
	state, err := session.Fold(w.log.Stream(context.Background(), sessionOf(name).Stream(), 0))
	if err != nil {
		w.tb.Fatal(err)
	}
	return state
}
