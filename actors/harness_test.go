package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/providertest"
)

const (
	goodObservation = `<observation><type>change</type><title>Retry budget is a setting</title></observation>`
	goodSummary     = `<summary><request>Make it a setting</request><completed>Done</completed></summary>`
)

// good answers each kind of turn as asked.
func good(_ context.Context, _ int, p observer.Prompt) (observer.Reply, error) {
	text := goodObservation
	if p.Kind == events.TurnSummary {
		text = goodSummary
	}
	return observer.Reply{Text: events.NewOutput(text), Form: events.FormXML}, nil
}

// world is a System over a log inside a synctest bubble. Lives may follow each other over one log.
type world struct {
	t        *testing.T
	log      *eventlog.Bolt
	over     eventlog.Log // what the System sees, if not log itself
	provider *providertest.Scripted
	cfg      Config
	sys      *System
	stop     func()
	keys     int
	logged   logged
	settings map[string]string // as they are recorded; nil: they are not
}

// bubble runs f in a synctest bubble, with a world that is stopped at its end.
func bubble(t *testing.T, f func(w *world), steps ...providertest.Step) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, log: logtest.Open(t, eventlog.Config{}), provider: providertest.NewScripted(steps...)}
		w.start()
		f(w)
		w.stop()
		w.balanced()
		time.Sleep(2 * time.Second) // the library's dead-letter throttle sleeps for one
		if err := w.log.Close(); err != nil {
			t.Error(err)
		}
	})
}

// start begins a life of the daemon.
func (w *world) start() {
	w.t.Helper()
	previous, err := Begin(w.t.Context(), w.log, w.draft(events.DaemonStarted{Version: "test", Settings: w.settings, Rules: session.DefaultRules().Version}))
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := w.cfg
	cfg.Log, cfg.Previous = w.log, previous
	if w.over != nil {
		cfg.Log = w.over
	}
	if len(cfg.Providers) == 0 {
		cfg.Providers = []Route{{Provider: w.provider}}
	}
	cfg.Logger = slog.New(slog.NewTextHandler(testWriter{w.t, &w.logged}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if w.sys, err = New(cfg); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready := make(chan struct{})
	done := make(chan error, 1)
	go func() { done <- w.sys.Run(ctx, ready) }()
	<-ready
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("Run: %v", err)
		}
	})
}

// stopCleanly ends a life in order; kill ends it without a word in the log.
func (w *world) stopCleanly() {
	w.stop()
	if _, err := eventlog.AppendEnd(context.Background(), w.log, events.Daemon, w.draft(events.DaemonStopped{Clean: true})); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) kill() { w.stop() }

type testWriter struct {
	t      *testing.T
	logged *logged
}

// logged is what was logged in all lives.
type logged struct {
	mu    sync.Mutex // guards lines
	lines []string
}

// count returns how many lines hold text.
func (l *logged) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		n += strings.Count(line, text)
	}
	return n
}

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s", b)
	w.logged.mu.Lock()
	defer w.logged.mu.Unlock()
	w.logged.lines = append(w.logged.lines, string(b))
	return len(b), nil
}

func (w *world) draft(e events.Event) events.Draft {
	return events.Draft{ID: events.ID{15: 1}, OccurredAt: time.Now(), Event: e}
}

func origin(name string) session.Origin {
	return session.Origin{Agent: "claude-code", AgentSession: name, Project: "p", ProjectRoot: "/p", Cwd: "/p"}
}

func sid(name string) events.SessionID { return origin(name).Session() }

// try captures e in a session.
func (w *world) try(name string, e events.Event) (Receipt, error) {
	w.keys++
	return w.tryKeyed(name, e, -w.keys)
}

// tryKeyed captures e under a key of its own, for callers that run at once.
func (w *world) tryKeyed(name string, e events.Event, key int) (Receipt, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return w.sys.Do(ctx, sid(name), session.Capture{
		ID: w.sys.cfg.NewID(), Key: events.KeyOf(name, fmt.Sprint(key)), At: time.Now(), Origin: origin(name), Event: e,
	})
}

// wake has a session look at what it owes, as after a start.
func (w *world) wake(id events.SessionID) { w.sys.root.Send(w.sys.sessions, wakeSession{id}) }

func (w *world) capture(name string, e events.Event) Receipt {
	w.t.Helper()
	r, err := w.try(name, e)
	if err != nil {
		w.t.Fatalf("capture: %v", err)
	}
	return r
}

func (w *world) work(name string, n int) {
	w.t.Helper()
	for range n {
		w.capture(name, events.ToolUsed{Tool: "Edit", Input: `{"file_path":"/p/a.go"}`})
	}
}

func (w *world) stopAgent(name string) { w.capture(name, events.AgentStopped{Cause: events.StopDone}) }

// state folds a session from the log.
func (w *world) state(name string) *session.State {
	w.t.Helper()
	s, err := session.Fold(w.log.Stream(context.Background(), sid(name).Stream(), 0))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// forgetAll puts down, between two lives, that all inputs of a session are forgotten.
func (w *world) forgetAll(name string) {
	w.t.Helper()
	var inputs []events.Position
	for r, err := range w.log.Stream(context.Background(), sid(name).Stream(), 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if r.IsInput() {
			inputs = append(inputs, r.Position)
		}
	}
	gone := w.draft(events.MemoryForgotten{Positions: inputs, Cause: "person"})
	if _, err := eventlog.AppendEnd(context.Background(), w.log, sid(name).Stream(), gone); err != nil {
		w.t.Fatal(err)
	}
}

// all returns the events of a kind, in order, over all streams.
func all[E events.Event](w *world) []E {
	w.t.Helper()
	var out []E
	for r, err := range w.log.All(context.Background(), 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		e, err := r.Event()
		if err != nil {
			w.t.Fatal(err)
		}
		if e, ok := e.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

// balanced checks the whole log: chains, and that no input was settled twice by kept or skipped turns.
func (w *world) balanced() {
	w.t.Helper()
	if err := eventlog.Verify(context.Background(), w.log, nil); err != nil {
		w.t.Errorf("verify: %v", err)
	}
	settles, kept := map[events.ID][]events.Position{}, map[events.ID]bool{}
	for _, s := range all[events.TurnStarted](w) {
		settles[s.Turn] = s.Settles
	}
	for _, o := range all[events.ObservationParsed](w) {
		kept[o.Turn] = true
	}
	for _, o := range all[events.SummaryParsed](w) {
		kept[o.Turn] = true
	}
	times := map[events.Position]int{}
	for turn := range kept {
		for _, p := range settles[turn] {
			if times[p]++; times[p] > 1 {
				w.t.Errorf("input %d was kept by more than one turn", p)
			}
		}
	}
}

// settled waits for fake time to do its part until the session owes nothing: for up to five hours and a half, because a random
// life may have more than ten pauses in a row, of half an hour each in the end.
func (w *world) settled(name string) session.Balance {
	w.t.Helper()
	for range 2000 {
		synctest.Wait()
		if s := w.state(name); !s.Owes() {
			return s.Balance()
		}
		time.Sleep(10 * time.Second)
	}
	w.t.Fatalf("still owing: %+v", w.state(name).Balance())
	return session.Balance{}
}

func kinds(w *world, name string) []events.Kind {
	var ks []events.Kind
	for r, err := range w.log.Stream(context.Background(), sid(name).Stream(), 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		ks = append(ks, r.Kind)
	}
	return ks
}

func contains(ks []events.Kind, k events.Kind) bool { return slices.Contains(ks, k) }

var errBoom = errors.New("boom")
