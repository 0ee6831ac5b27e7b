package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/wait"
)

// world is a pipeline over a log of its own and actors with the extractor. Nothing is ever injected.
type world struct {
	home     string
	log      eventlog.Log
	pipeline *Pipeline
	client   client
}

// client brings reports as they come over HTTP.
type client struct{ *Pipeline }

func (c client) Hook(ctx context.Context, agent string, body []byte, id events.ID, at time.Time) (Accepted, error) {
	in := Posted{Agent: agent, Delivery: id.String(), Came: time.Now(), Body: body}
	if !at.IsZero() {
		in.OccurredAt = at.UTC().Format(time.RFC3339Nano)
	}
	return c.Post(ctx, in)
}

// drainEvery is the time between two readings of a world's spool.
const drainEvery = 20 * time.Millisecond

// nothingInjected is memory of which no agent was given anything.
type nothingInjected struct{}

func (nothingInjected) InjectedLines(context.Context, events.SessionID) ([]string, error) {
	return nil, nil
}
func (nothingInjected) Lines(context.Context, ...string) ([]string, error) { return nil, nil }
func (nothingInjected) InjectionsKnown() events.Position                   { return 0 }

// config is of a home and a log of their own. The sink is missing.
func config(tb testing.TB) Config {
	home := tb.TempDir()
	if err := spool.LayKey(home, time.Now()); err != nil {
		tb.Fatal(err)
	}
	return Config{
		Log: logtest.Open(tb, eventlog.Config{}), Injections: nothingInjected{}, Home: home, Spool: spool.New(home),
		DrainEvery: drainEvery,
	}
}

// newWorld starts a world, and sees to it that it ends in order. change may alter its configuration.
func newWorld(tb testing.TB, change func(*Config)) *world {
	tb.Helper()
	cfg := config(tb)
	sys, err := actors.New(actors.Config{Log: cfg.Log, Providers: []actors.Route{{Provider: extractive.New(), Free: true}}})
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Sink = sys
	if change != nil {
		change(&cfg)
	}
	p, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	w := &world{home: cfg.Home, log: cfg.Log, pipeline: p, client: client{p}}
	below, stopBelow := context.WithCancel(context.Background())
	above, stopAbove := context.WithCancel(context.Background())
	var lower, upper sync.WaitGroup
	ready := make(chan struct{})
	run := func(g *sync.WaitGroup, f func() error) {
		g.Go(func() {
			if err := f(); err != nil && !errors.Is(err, eventlog.ErrClosed) {
				tb.Error(err)
			}
		})
	}
	run(&lower, func() error { return sys.Run(below, ready) })
	<-ready
	run(&upper, func() error { return p.Drain(above) })
	tb.Cleanup(func() {
		stopAbove()
		upper.Wait()
		stopBelow()
		lower.Wait()
		if err := cfg.Log.Close(); err != nil {
			tb.Error(err)
		}
	})
	return w
}

// records returns the whole log.
func (w *world) records(tb testing.TB) []events.Record {
	tb.Helper()
	return logtest.Records(tb, w.log)
}

// count is how many records of a kind the log holds.
func (w *world) count(tb testing.TB, kind events.Kind) int {
	tb.Helper()
	return logtest.Count(tb, w.log, kind)
}

// post posts payloads of one session and fails the test if one is refused.
func (w *world) post(tb testing.TB, payloads ...[]byte) {
	tb.Helper()
	for i, p := range payloads {
		if _, err := w.client.Hook(tb.Context(), "claude-code", p, newID(), time.Time{}); err != nil {
			tb.Fatalf("hook %d: %v", i, err)
		}
	}
}

// patience is how long tests wait.
const patience = wait.Limit

// What other packages' tests use too, by short names.
var (
	hook       = capturetest.Hook
	toolUse    = capturetest.ToolUse
	transcript = capturetest.Transcript
	badFiles   = capturetest.BadFiles
	eventually = wait.Until
)

func newID() events.ID { return uuid.Must(uuid.NewV7()) }

// fakeSink answers with what a test says.
type fakeSink func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error)

func (f fakeSink) Do(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
	return f(ctx, id, cmds...)
}

// failing is a sink that fails with err for a session whose own name has the prefix "bad".
func failing(real actors.Sink, err error) fakeSink {
	return func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
		for i := range 100 {
			if id == events.SessionIDOf("claude-code", fmt.Sprintf("bad-%d", i)) {
				return actors.Receipt{}, err
			}
		}
		return real.Do(ctx, id, cmds...)
	}
}

func testLogger(b *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
