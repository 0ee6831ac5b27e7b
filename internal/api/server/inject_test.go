package server

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/socket"
)

// behind is a world whose views know two memories, but not that the log takes both back. Nothing of it runs.
func behind(tb testing.TB) *world {
	tb.Helper()
	w := &world{home: socket.Dir(tb), log: logtest.Open(tb, eventlog.Config{})}
	w.open(tb)
	put := func(e events.Event) {
		_, err := eventlog.AppendEnd(tb.Context(), w.log, events.Daemon, events.Draft{ID: newID(), OccurredAt: time.Now(), Event: e})
		if err != nil {
			tb.Fatal(err)
		}
	}
	old, later := newID(), newID()
	for _, m := range []events.MemorySaved{
		{Memory: old, Title: "deploy as OLD", Text: "OLD"}, {Memory: later, Title: "deploy as NEW", Text: "NEW"},
	} {
		m.Project, m.ProjectRoot, m.At = "shop", "/src/shop", time.Now()
		put(m)
	}
	if err := w.catchUp(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	put(events.MemorySuperseded{Memory: old, By: later})
	put(events.MemoryForgotten{IDs: []events.ID{later}, Positions: []events.Position{2}})
	return w
}

func (w *world) catchUp(ctx context.Context) error {
	return errors.Join(w.views.CatchUp(ctx), w.index.CatchUp(ctx))
}

// counted reads one line of the metrics of a server that does not run.
func counted(s *Server, name string) string {
	rec := httptest.NewRecorder()
	s.Local().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(rec.Body.String()) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return v
		}
	}
	return ""
}

// started is what a starting session is answered by a server whose budget is so long.
func (w *world) started(tb testing.TB, budget time.Duration) (s *Server, body string) {
	tb.Helper()
	cfg := w.config()
	cfg.ContextTimeout = budget
	cfg.System = fakeSystem{do: func(context.Context, events.SessionID, ...session.Command) (actors.Receipt, error) {
		return actors.Receipt{}, nil
	}}
	s, err := newServer(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	rec := httptest.NewRecorder()
	start := hook("SessionStart", "x", map[string]any{"source": "startup"})
	s.Local().ServeHTTP(rec, httptest.NewRequest("POST", "/v1/hooks/claude-code", bytes.NewReader(start)))
	if rec.Code != 200 {
		tb.Errorf("got %d %s, want 200", rec.Code, rec.Body)
	}
	return s, rec.Body.String()
}

// What the log has taken back is not given, though the views do not know of it yet.
func TestInjectionWithViewsBehind(t *testing.T) {
	t.Parallel()
	w := behind(t)
	s, body := w.started(t, 50*time.Millisecond)
	if strings.Contains(body, "OLD") || strings.Contains(body, "NEW") {
		t.Errorf("given: %s", body)
	}
	if got := counted(s, "cmemd_context_withheld_total"); got != "1" {
		t.Errorf("counted %s withheld, want 1", got)
	}
}

// Nothing is left behind by a session that starts while the server ends.
func TestInjectionAtTheEnd(t *testing.T) {
	t.Parallel()
	w := &world{home: socket.Dir(t), log: logtest.Open(t, eventlog.Config{})}
	w.open(t)
	cfg := w.config()
	asked := false
	cfg.swap = func(s *Server) {
		s.hooks.replies.injector = slowRecall{s.hooks.replies.injector, func(context.Context) (recall.Context, error) {
			asked = true
			return recall.Context{}, nil
		}}
	}
	s, err := newServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.life.end()
	_, err = s.hooks.replies.contextWithin(t.Context(), recall.Ask{})
	s.life.helpers.Wait()
	if !errors.Is(err, errEnding) || asked {
		t.Errorf("got %v, asked %v; want %v and nothing asked", err, asked, errEnding)
	}
}

// A session that starts waits for what the log holds at that moment, and no longer: later records do not hold it up.
func TestInjectionWaitsForTheLog(t *testing.T) {
	t.Parallel()
	w := behind(t)
	keep := newID()
	_, err := eventlog.AppendEnd(t.Context(), w.log, events.Daemon, events.Draft{ID: newID(), OccurredAt: time.Now(), Event: events.MemorySaved{
		Memory: keep, Project: "shop", ProjectRoot: "/src/shop", Title: "deploy as KEPT", Text: "KEPT", At: time.Now(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	var late sync.WaitGroup
	late.Go(func() {
		time.Sleep(20 * time.Millisecond)
		if err := w.catchUp(t.Context()); err != nil {
			t.Error(err)
		}
	})
	s, body := w.started(t, patience)
	late.Wait()
	if !strings.Contains(body, "KEPT") || strings.Contains(body, "OLD") || strings.Contains(body, "NEW") {
		t.Errorf("given: %s, want what still stands", body)
	}
	if got := counted(s, "cmemd_context_withheld_total"); got != "0" {
		t.Errorf("counted %s withheld, want 0", got)
	}
}
