package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/api/signin"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/peer"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/socket"
	"github.com/cmemd/cmemd/testkit/wait"
)

// world is a whole daemon but for its command: a log, actors with the extractor, views, an index, and the server on a
// real unix socket and a real loopback port.
type world struct {
	home    string
	socket  string
	tcp     string
	log     eventlog.Log
	own     *eventlog.Bolt // where log has records of another machine too; nil: log is the own one
	views   *projections.Views
	index   *index.Index
	actors  *actors.System
	capture *capture.Pipeline
	server  *Server
	client  *client.Client
	flush   time.Duration // of the index; 0 means 1 ms
	end     func()        // ends all; safe to call twice
}

const testToken = "a token for tests"

// newWorld starts a world over a log of its own. change may alter the server's configuration.
func newWorld(tb testing.TB, change func(*testConfig)) *world {
	tb.Helper()
	return startWorld(tb, logtest.Open(tb, eventlog.Config{}), change)
}

func startWorld(tb testing.TB, log eventlog.Log, change func(*testConfig)) *world {
	tb.Helper()
	w := &world{home: socket.Dir(tb), log: log}
	w.open(tb)
	w.serve(tb, change)
	return w
}

// joinedWorld is a world with records of another machine before all but the first of its own.
func joinedWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{home: socket.Dir(tb), own: logtest.Open(tb, eventlog.Config{})}
	first := events.Draft{ID: newID(), OccurredAt: time.Now(), Event: events.DaemonStarted{Version: "1"}}
	if _, err := eventlog.AppendEnd(tb.Context(), w.own, events.Daemon, first); err != nil {
		tb.Fatal(err)
	}
	w.log = logtest.Shifted(tb, w.own, nil)
	w.open(tb)
	w.serve(tb, nil)
	return w
}

func (w *world) ownLog() eventlog.Log {
	if w.own != nil {
		return w.own
	}
	return w.log
}

// system is the actors, as they are asked where positions are those of several logs' order.
func (w *world) system() System {
	if joined, ok := w.log.(union.Log); ok {
		return seenActors{w.actors, joined}
	}
	return w.actors
}

type seenActors struct {
	*actors.System
	log union.Log
}

func (s seenActors) Do(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
	named, err := union.Own(s.log, cmds)
	if err != nil {
		return actors.Receipt{}, err
	}
	receipt, err := s.System.Do(ctx, id, named...)
	receipt.Position = s.log.Seen(receipt.Position)
	return receipt, err
}

func (s seenActors) Capture(ctx context.Context, c session.Capture) (actors.Receipt, error) {
	return s.Do(ctx, c.Origin.Session(), c)
}

func (w *world) open(tb testing.TB) {
	tb.Helper()
	var err error
	if w.views, err = projections.Open(filepath.Join(w.home, "views"), w.log, engine.Config{}); err != nil {
		tb.Fatal(err)
	}
	if w.index, err = index.Open(tb.Context(), filepath.Join(w.home, "index"), w.log, index.Config{Flush: cmp.Or(w.flush, time.Millisecond)}); err != nil {
		tb.Fatal(err)
	}
	if w.actors, err = actors.New(actors.Config{Log: w.ownLog(), Providers: []actors.Route{{Provider: extractive.New(), Free: true}}}); err != nil {
		tb.Fatal(err)
	}
}

// testConfig is what a world's server is made of, and the capture below it.
type testConfig struct {
	Config
	capture capture.Config // but for what it has in common with the server's
	swap    func(*Server)  // changes the server before it serves; nil: nothing
}

// drainEvery is the time between two readings of a world's spool.
const drainEvery = 20 * time.Millisecond

func newServer(c testConfig) (s *Server, err error) {
	in := c.capture
	in.Sink, in.Log, in.Spool, in.Home, in.Logger, in.Now = c.System, c.Log, c.Spool, c.Home, c.Logger, c.Now
	if c.Capture, err = capture.New(in); err != nil {
		return nil, err
	}
	if s, err = New(c.Config); err == nil && c.swap != nil {
		c.swap(s)
	}
	return s, err
}

// scratch is a folder that nobody takes away.
func (w *world) scratch(ctx context.Context, do func(ctx context.Context, dir string) error) error {
	dir, err := os.MkdirTemp(w.home, "scratch")
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, dir), os.RemoveAll(dir))
}

func (w *world) config() testConfig {
	answers := recall.New(recall.Config{
		Views: w.views, Index: w.index, Log: w.log, Fence: strings.Trim(agents.ContextOpen, "<>"),
	})
	c := testConfig{capture: capture.Config{Injections: answers, Projects: w.views, DrainEvery: drainEvery}, Config: Config{
		Stores:   Stores{Log: w.log, Own: w.ownLog(), Views: w.views, Index: w.index, Recall: answers},
		Services: Services{System: w.system(), Spool: spool.New(w.home), Checker: &grounding{}, Scratch: w.scratch},
		Daemon: Daemon{
			Home: w.home, Version: "test", PID: 7, Settings: map[string]string{"slots": "2"},
			Damage: func() *api.LogDamage { return nil }, Sharing: func(context.Context) (bool, []string) { return false, nil },
			Unserved: func() *api.Unserved { return nil }, Notice: func(context.Context) string { return "" }, Shutdown: func(string) {},
		},
		Access: Access{
			Token: testToken, NewToken: func() (string, error) { return testToken, nil },
			Peer: func(net.Conn) peer.Peer { return peer.Peer{Person: true} },
		},
		Viewer: http.NotFoundHandler(),
	}}
	c.Browsers, _ = signin.Open(filepath.Join(w.home, "viewers.json"), signin.Config{}) // there is no file yet
	erasing(&c)
	return c
}

func (w *world) serve(tb testing.TB, change func(*testConfig)) {
	tb.Helper()
	cfg := w.config()
	if change != nil {
		change(&cfg)
	}
	var err error
	if w.server, err = newServer(cfg); err != nil {
		tb.Fatal(err)
	}
	w.capture = w.server.hooks.capture
	w.socket = filepath.Join(w.home, "s.sock")
	unix, err := net.Listen("unix", w.socket)
	if err != nil {
		tb.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	w.tcp = tcp.Addr().String()
	w.run(tb, unix, tcp)
	w.client = client.DialSocket(w.socket)
	tb.Cleanup(w.client.Close)
}

// run starts everything, and sees to it that it ends in order: the server first.
func (w *world) run(tb testing.TB, listeners ...net.Listener) {
	tb.Helper()
	below, stopBelow := context.WithCancel(context.Background())
	above, stopAbove := context.WithCancel(context.Background())
	var lower, upper sync.WaitGroup
	start := func(g *sync.WaitGroup, ctx context.Context, name string, f func(context.Context) error) {
		g.Go(func() {
			if err := f(ctx); err != nil && !errors.Is(err, eventlog.ErrClosed) {
				tb.Errorf("%s: %v", name, err)
			}
		})
	}
	ready := make(chan struct{})
	start(&lower, below, "views", w.views.Run)
	start(&lower, below, "index", w.index.Run)
	start(&lower, below, "actors", func(ctx context.Context) error { return w.actors.Run(ctx, ready) })
	start(&upper, above, "server", func(ctx context.Context) error { return w.server.Run(ctx, listeners...) })
	start(&upper, above, "drain", w.capture.Drain)
	<-ready
	w.server.SetPhase(PhaseReady)
	w.end = sync.OnceFunc(func() {
		stopAbove()
		upper.Wait()
		stopBelow()
		lower.Wait()
		if err := errors.Join(w.index.Close(), w.views.Close(), w.log.Close()); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	tb.Cleanup(w.end)
}

// settled waits until the views know all that the log holds, and no input is pending or asked for again.
func (w *world) settled(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for {
		last, err := w.log.Last(ctx)
		if err != nil {
			tb.Fatal(err)
		}
		if err := errors.Join(w.views.Wait(ctx, last), w.index.Wait(ctx, last)); err != nil {
			tb.Fatalf("views: %v", err)
		}
		b, err := w.views.Balance(ctx)
		if err != nil {
			tb.Fatal(err)
		}
		if again, _ := w.log.Last(ctx); b.Pending+b.Reobserve == 0 && again == last {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
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

func editUse(session, id, file string) []byte {
	return hook("PostToolUse", session, map[string]any{
		"tool_name": "Edit", "tool_use_id": id,
		"tool_input":    map[string]any{"file_path": file, "old_string": "a", "new_string": "b"},
		"tool_response": map[string]any{"filePath": file},
	})
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

// work posts a small piece of work: a prompt, a changed file, and the end of the answer.
func (w *world) work(tb testing.TB, session, prompt, file string) {
	tb.Helper()
	w.post(tb,
		hook("UserPromptSubmit", session, map[string]any{"prompt": prompt, "prompt_id": newID().String()}),
		editUse(session, newID().String(), file),
		toolUse(session, newID().String(), "go test ./...", "ok"),
		hook("Stop", session, map[string]any{"last_assistant_message": "Done: " + prompt, "prompt_id": newID().String()}),
	)
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

// problem is the *Problem that err is.
func problem(tb testing.TB, err error) *api.Problem {
	tb.Helper()
	var p *api.Problem
	if !errors.As(err, &p) {
		tb.Fatalf("got %v, want a problem", err)
	}
	return p
}

// fakeSystem answers with what a test says.
type fakeSystem struct {
	System
	do func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error)
}

func (f fakeSystem) Do(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
	return f.do(ctx, id, cmds...)
}

// failing is a system that fails with err for a session whose own name has the prefix "bad".
func failing(real System, err error) fakeSystem {
	return fakeSystem{System: real, do: func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
		for i := range 100 {
			if id == events.SessionIDOf("claude-code", fmt.Sprintf("bad-%d", i)) {
				return actors.Receipt{}, err
			}
		}
		return real.Do(ctx, id, cmds...)
	}}
}

// call sends one request and decodes its answer into out, unless that is nil.
func call(ctx context.Context, c *client.Client, method, path string, query url.Values, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	res, err := c.Do(ctx, method, path, query, nil, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if out == nil {
		_, err := io.Copy(io.Discard, res.Body)
		return err
	}
	return json.NewDecoder(res.Body).Decode(out)
}
