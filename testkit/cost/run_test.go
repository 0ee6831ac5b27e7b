package cost

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/anthropic"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/prompt"
)

// Load is what an agent does in one session.
type Load struct {
	Tools     []events.ToolUsed             // in this order
	Every     time.Duration                 // between two of them; 0: as fast as they are taken
	StopEvery int                           // how many it uses between two answers; 0: all
	Form      events.Form                   // how the model is asked to answer; empty: XML
	Through   func(model.Asker) model.Asker // what stands between the system and the service; nil: nothing
}

// limit is how long one Run may take: many times what a loaded machine needs.
const limit = 2 * time.Minute

// Run puts l through the system and returns what it cost, once all of it is settled. It fails the test where an event was not
// observed, or a turn was asked for more than once.
func Run(tb testing.TB, l Load) Bill {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	w := start(ctx, tb, l)
	defer w.stop()
	stopEvery := l.StopEvery
	if stopEvery == 0 {
		stopEvery = len(l.Tools)
	}
	for i, tool := range l.Tools {
		if i%stopEvery == 0 {
			w.capture(events.PromptSubmitted{Text: "Make the parser take longer lines, and test it.", Size: 47})
		}
		tool.ToolUseID = fmt.Sprintf("toolu_%d", i)
		at := w.capture(tool)
		if l.Every > 0 { // the model is done before the next tool is
			w.idle(at)
			w.clock.advance(l.Every)
		}
		if (i+1)%stopEvery == 0 || i == len(l.Tools)-1 {
			w.idle(w.capture(events.AgentStopped{Cause: events.StopDone, LastMessage: "All of it is done and tested."}))
		}
	}
	if b := w.state.Balance(); b.Observed != b.Captured || b.Captured < len(l.Tools) {
		tb.Fatalf("not everything was observed: %+v", b)
	}
	return w.bill()
}

// world is a system at work.
type world struct {
	tb     testing.TB
	ctx    context.Context
	clock  *clock
	log    *eventlog.Bolt
	limits policy.BatchLimits
	at     *endpoint
	sys    *actors.System
	stop   func()
	origin session.Origin
	keys   int

	next  func() (events.Record, error, bool) // the log, as it grows
	known events.Position                     // how far it was read
	state session.State                       // the session, so far
	half  bool                                // of an append was read: an output, and not yet what it led to
	turns []turn                              // in their order
	tools map[events.Position]int             // the event of each tool use, from 0
	stops map[events.Position]span            // the events of the work that each stop ended
	since int                                 // the first event behind the last stop
}

type turn struct {
	kind    events.TurnKind
	settles []events.Position
}

// span is events, from one on and up to but without another.
type span struct{ from, to int }

// start opens a log and starts a system over it that asks an endpoint.
func start(ctx context.Context, tb testing.TB, l Load) *world {
	tb.Helper()
	w := &world{
		tb: tb, ctx: ctx, clock: &clock{}, at: newEndpoint(tb), tools: map[events.Position]int{}, stops: map[events.Position]span{},
		origin: session.Origin{Agent: "claude-code", AgentSession: "counted", Project: "project", ProjectRoot: "/home/dev/project", Cwd: "/home/dev/project"},
	}
	var err error
	if w.log, err = eventlog.Open(filepath.Join(tb.TempDir(), "log.db"), eventlog.Config{Now: w.clock.Now}); err != nil {
		tb.Fatal(err)
	}
	observer := w.provider(l)
	w.limits = observer.BatchLimits()
	w.sys, err = actors.New(actors.Config{Log: w.log, Providers: []actors.Route{{Provider: observer}}, Now: w.clock.Now, Previous: provider.Previous{Clean: true}})
	if err != nil {
		tb.Fatal(err)
	}
	w.run()
	return w
}

// provider asks the endpoint as the daemon would ask the service.
func (w *world) provider(l Load) *model.Provider {
	w.tb.Helper()
	renderer, err := prompt.New(prompt.Config{})
	if err != nil {
		w.tb.Fatal(err)
	}
	asker, err := anthropic.New("counted", model.Endpoint{URL: w.at.URL})
	if err != nil {
		w.tb.Fatal(err)
	}
	w.tb.Cleanup(asker.CloseIdleConnections)
	c := model.Config{Name: anthropic.Name, Asker: announced{asker, w.at}, Renderer: renderer, Form: events.FormXML, Retries: -1}
	if l.Form != "" {
		c.Form = l.Form
	}
	if l.Through != nil {
		c.Asker = l.Through(c.Asker)
	}
	provider, err := model.New(c)
	if err != nil {
		w.tb.Fatal(err)
	}
	return provider
}

// run starts the system, and the reading of its log.
func (w *world) run() {
	ctx, cancel := context.WithCancel(w.ctx)
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- w.sys.Run(ctx, ready) }()
	next, end := iter.Pull2(w.log.Follow(ctx, 1))
	w.next = next
	w.stop = func() {
		cancel()
		end()
		if err := errors.Join(<-done, w.log.Close()); err != nil {
			w.tb.Error(err)
		}
	}
	<-ready
}

// capture has an event accepted, and returns where it is.
func (w *world) capture(e events.Event) events.Position {
	w.tb.Helper()
	w.keys++
	receipt, err := w.sys.Do(w.ctx, w.origin.Session(), session.Capture{
		ID: uuid.Must(uuid.NewV7()), Key: events.KeyOf(w.origin.AgentSession, fmt.Sprint(w.keys)), At: w.clock.Now(), Origin: w.origin, Event: e,
	})
	if err != nil {
		w.tb.Fatal(err)
	}
	return receipt.Position
}

// idle returns when the log is read up to at, and no turn is in flight or due.
func (w *world) idle(at events.Position) {
	w.tb.Helper()
	for {
		_, busy := w.state.InFlight()
		if w.known >= at && !busy && !w.half && session.Next(&w.state, session.Rules{Batch: w.limits}, w.clock.Now()).Turn == nil {
			return
		}
		record, err, ok := w.next()
		if err != nil || !ok {
			w.tb.Fatalf("the log ended before all was settled: %v, %+v", err, w.state.Balance())
		}
		w.read(record)
	}
}

// read takes a record of the session.
func (w *world) read(r events.Record) {
	w.tb.Helper()
	w.known = r.Position
	if r.Stream != w.origin.Session().Stream() {
		return
	}
	if err := w.state.EvolveRecord(r); err != nil {
		w.tb.Fatal(err)
	}
	w.half = r.Kind == events.KindTurnReceived
	switch r.Kind {
	case events.KindToolUsed:
		w.tools[r.Position] = len(w.tools)
	case events.KindAgentStopped:
		w.stops[r.Position] = span{w.since, len(w.tools)}
		w.since = len(w.tools)
	case events.KindTurnFailed, events.KindOutputDropped:
		w.tb.Fatalf("a turn came to nothing: %s", r.Kind)
	case events.KindTurnStarted:
		e, err := r.Event()
		if err != nil {
			w.tb.Fatal(err)
		}
		started := e.(events.TurnStarted)
		w.turns = append(w.turns, turn{started.TurnKind, started.Settles})
	}
}

// bill sets what the endpoint was sent beside the turns. One session has one turn at a time, so the order is theirs.
func (w *world) bill() Bill {
	w.tb.Helper()
	sent := w.at.sent()
	if len(sent) != len(w.turns) {
		w.tb.Fatalf("%d turns were asked for by %d calls", len(w.turns), len(sent))
	}
	b := Bill{Events: len(w.tools)}
	for i, t := range w.turns {
		paid := w.paidBy(t)
		b.Calls = append(b.Calls, Call{Kind: t.kind, Bytes: sent[i], From: paid.from, To: paid.to})
	}
	return b
}

// paidBy is the events that a turn is for.
func (w *world) paidBy(t turn) span {
	first, last := t.settles[0], t.settles[len(t.settles)-1]
	if t.kind == events.TurnSummary {
		return w.stops[last]
	}
	return span{w.tools[first], w.tools[last] + 1}
}
