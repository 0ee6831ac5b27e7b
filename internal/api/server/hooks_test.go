package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

func TestHookIsOnDiskWhenAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
	id := newID()
	reply, err := w.client.Hook(t.Context(), "claude-code", toolUse("s", "t1", "ls", "a b"), id, at)
	if err != nil || len(reply) != 0 {
		t.Fatalf("got %q, %v, want an empty reply", reply, err)
	}
	var tool events.Record
	for _, r := range w.records(t) {
		if r.Kind == events.KindToolUsed {
			tool = r
		}
	}
	if tool.Position == 0 || !tool.OccurredAt.Equal(at) {
		t.Fatalf("got position %d at %v, want one at %v", tool.Position, tool.OccurredAt, at)
	}
	if want := agents.ToolKey(session.Origin{Agent: "claude-code", AgentSession: "s"}, "t1"); tool.Key != want {
		t.Errorf("got key %v, want %v", tool.Key, want)
	}
}

func TestHookDuplicates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	stop := hook("SessionEnd", "s", map[string]any{"reason": "other"})
	id := newID()
	for _, c := range []struct {
		name    string
		payload []byte
		id      events.ID
	}{
		{"tool, another delivery", toolUse("s", "t1", "ls", "a"), newID()},
		{"tool, once more", toolUse("s", "t1", "ls", "a"), newID()},
		{"end", stop, id},
		{"end, the same delivery", stop, id},
	} {
		if _, err := w.client.Hook(t.Context(), "claude-code", c.payload, c.id, time.Time{}); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
	}
	if n := w.count(t, events.KindToolUsed); n != 1 {
		t.Errorf("got %d tool uses, want 1", n)
	}
	if n := w.count(t, events.KindSessionClosed); n != 1 {
		t.Errorf("got %d ends, want 1", n)
	}
}

// A payload that will never be taken is answered with why, and kept where a person finds it. Nothing of it is told.
func TestHookRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) {
		c.System = failing(c.System, fmt.Errorf("%w: secret words", actors.ErrFaulted))
	})
	for _, c := range []struct {
		name, agent, payload string
		status               int
		pointer              string
		aside                bool
	}{
		{"not JSON", "claude-code", `{"secret`, 400, "", true},
		{"a list", "claude-code", `["secret"]`, 400, "/payload", true},
		{"no session", "claude-code", `{"hook_event_name":"Stop","cwd":"/secret"}`, 400, "/session_id", true},
		{"no folder", "claude-code", `{"hook_event_name":"Stop","session_id":"secret"}`, 400, "/cwd", true},
		{"a relative folder", "claude-code", `{"hook_event_name":"Stop","session_id":"secret","cwd":"secret/dir"}`, 400, "/cwd", true},
		{"a folder with a NUL", "claude-code", `{"hook_event_name":"Stop","session_id":"secret","cwd":"/secret\u0000"}`, 400, "/cwd", true},
		{"no event", "claude-code", `{"cwd":"/secret","session_id":"secret"}`, 400, "/hook_event_name", true},
		{"unknown agent", "nobody", `{"secret":1}`, 404, "", false},
		{"faulted", "claude-code", string(toolUse("bad-1", "x", "secret", "secret")), 500, "", true},
		{"an event nobody knows", "claude-code", string(hook("Unheard", "s", nil)), 200, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := badFiles(t, w.home)
			_, err := w.client.Hook(t.Context(), c.agent, []byte(c.payload), newID(), time.Time{})
			after, reasons := badFiles(t, w.home)
			if aside := len(after) > len(before); aside != c.aside {
				t.Errorf("got put aside %v, want %v", aside, c.aside)
			}
			if strings.Contains(strings.Join(reasons, ""), "secret") {
				t.Errorf("a reason quotes the payload: %q", reasons)
			}
			if c.status == 200 {
				if err != nil {
					t.Errorf("got %v, want none", err)
				}
				return
			}
			p := problem(t, err)
			if p.Status != c.status || strings.Contains(fmt.Sprintf("%+v", p), "secret") {
				t.Errorf("got %+v, want status %d and no word of the payload", p, c.status)
			}
			if c.pointer != "" && (len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer) {
				t.Errorf("got errors %+v, want pointer %s", p.Errors, c.pointer)
			}
		})
	}
}

// What may be taken a little later is refused with 503, so that the hook keeps it, and is not put aside here.
func TestHookUnavailable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		kind string
	}{
		{"busy", actors.ErrBusy, api.ProblemBusy},
		{"stopped", actors.ErrStopped, api.ProblemStopping},
		{"disk full", fmt.Errorf("x: %w", eventlog.ErrDiskFull), api.ProblemDiskFull},
		{"log failed", eventlog.ErrFailed, api.ProblemStopping},
		{"log closed", eventlog.ErrClosed, api.ProblemStopping},
		{"too slow", context.DeadlineExceeded, api.ProblemBusy},
		{"refused and full", errors.Join(session.ErrNotDue, eventlog.ErrDiskFull), api.ProblemDiskFull},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(cfg *testConfig) { cfg.System = failing(cfg.System, c.err) })
			_, err := w.client.Hook(t.Context(), "claude-code", toolUse("bad-1", "x", "ls", ""), newID(), time.Time{})
			p := problem(t, err)
			if p.Status != 503 || p.Type != c.kind || p.RetryAfter <= 0 {
				t.Errorf("got %+v, want 503 %s with Retry-After", p, c.kind)
			}
			if files, _ := badFiles(t, w.home); len(files) > 0 {
				t.Errorf("put aside: %v", files)
			}
		})
	}
}

// TestAnUnknownAgentIsNotNamed: what stands in the place of an agent's name may be anything. The
// payload is not kept, and the name is not logged.
func TestAnUnknownAgentIsNotNamed(t *testing.T) {
	t.Parallel()
	const name = "ghp_q7Zr2Lw9Xk4Tn8Vb3Md6"
	var logged bytes.Buffer
	w := newWorld(t, func(c *testConfig) { c.Logger = testLogger(&logged) })
	for _, agent := range []string{name, strings.ToLower(name)} { // the second one could be an agent's
		_, err := w.client.Hook(t.Context(), agent, []byte(`{"secret":1}`), newID(), time.Time{})
		if p := problem(t, err); p.Status != 404 {
			t.Errorf("got %+v, want 404", p)
		}
		r, _ := http.NewRequest("POST", "http://"+w.tcp+"/v1/hooks/"+agent, strings.NewReader("{}"))
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set(api.DeliveryHeader, "no id")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != 404 {
			t.Errorf("got %s, want 404", answer.Status)
		}
	}
	files, _ := badFiles(t, w.home)
	w.end()
	if s := logged.String(); len(files) > 0 || strings.Contains(strings.ToLower(s), strings.ToLower(name)) || strings.Contains(s, "lost") {
		t.Errorf("kept %v, logged:\n%s", files, s)
	}
}

func TestHookPanic(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	w := newWorld(t, func(c *testConfig) {
		c.Logger = testLogger(&logged)
		c.capture.Secrets = func(s string, _ bool) (string, map[string]int) {
			if strings.Contains(s, "bomb") {
				panic("secret words")
			}
			return s, nil
		}
	})
	_, err := w.client.Hook(t.Context(), "claude-code", toolUse("s", "bomb", "bomb", ""), newID(), time.Time{})
	if p := problem(t, err); p.Status != 500 || p.Type != api.ProblemInternal {
		t.Errorf("got %+v, want an internal 500", p)
	}
	if files, _ := badFiles(t, w.home); len(files) != 1 {
		t.Errorf("got %d payloads put aside, want 1", len(files))
	}
	w.post(t, toolUse("s", "fine", "ls", ""))
	w.end()
	if s := logged.String(); !strings.Contains(s, "panic") || strings.Contains(s, "secret words") {
		t.Errorf("the log file should have the panic and no word of it:\n%s", s)
	}
}

func TestHookHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, c := range []struct {
		name, delivery, at string
		status             int
		pointer            string
	}{
		{"none", "", "", 200, ""},
		{"both", newID().String(), "2026-11-20T10:00:00.123456789Z", 200, ""},
		{"no UUID", "x", "", 400, api.DeliveryHeader},
		{"zero", "00000000-0000-0000-0000-000000000000", "", 400, api.DeliveryHeader},
		{"urn", "urn:uuid:" + newID().String(), "", 400, api.DeliveryHeader},
		{"no time", "", "yesterday", 400, api.OccurredHeader},
		{"a year of no agents", "", "1677-01-01T00:00:00Z", 400, api.OccurredHeader},
		{"a far year", "", "9999-01-01T00:00:00Z", 400, api.OccurredHeader},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			h.Set(api.DeliveryHeader, c.delivery)
			h.Set(api.OccurredHeader, c.at)
			res, err := w.client.Do(t.Context(), "POST", "/v1/hooks/claude-code", nil, h,
				bytes.NewReader(toolUse("s", newID().String(), "ls", "")))
			if c.status == 200 {
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				return
			}
			if p := problem(t, err); p.Status != c.status || p.Errors[0].Pointer != c.pointer {
				t.Errorf("got %+v, want %d at %s", p, c.status, c.pointer)
			}
		})
	}
	t.Run("the future is now", func(t *testing.T) {
		_, err := w.client.Hook(t.Context(), "claude-code", toolUse("s", "future", "ls", ""), newID(), time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		all := w.records(t)
		if at := all[len(all)-1].OccurredAt; at.After(time.Now()) {
			t.Errorf("recorded as of %v, which has not come", at)
		}
	})
}

// reposAt is a Repos that knows one branch, and counts the looks.
type reposAt struct {
	mu    sync.Mutex
	looks int
}

func (r *reposAt) Repo(context.Context, string) (evidence.Repo, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks++
	return evidence.Repo{Root: "/src/shop", Branch: "main", Head: strings.Repeat("a", 40)}, true
}

func TestHookRecordsItsProject(t *testing.T) {
	t.Parallel()
	repos := &reposAt{}
	w := newWorld(t, func(c *testConfig) { c.capture.Repos = repos })
	for i := range 20 {
		w.post(t, toolUse("s", fmt.Sprint(i), "ls", ""))
	}
	e, err := w.records(t)[0].Event()
	if err != nil {
		t.Fatal(err)
	}
	got, ok := e.(events.SessionOpened)
	if !ok || got.Project != "shop" || got.ProjectRoot != "/src/shop" || got.GitBranch != "main" || got.GitHead == "" || got.Source != "sight" {
		t.Errorf("got %+v, want the project and git facts of its folder", e)
	}
	if repos.looks != 1 {
		t.Errorf("looked %d times, want once for twenty tool calls", repos.looks)
	}
}

// reply decodes what an agent is told.
func reply(tb testing.TB, b []byte) (context, notice string) {
	tb.Helper()
	var r struct {
		Notice string `json:"systemMessage"`
		Output struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if len(b) == 0 {
		return "", ""
	}
	if err := json.Unmarshal(b, &r); err != nil {
		tb.Fatalf("reply %q: %v", b, err)
	}
	return r.Output.Context, r.Notice
}

func TestInjection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.Notice = func(context.Context) string { return "a line for the person" } })
	w.work(t, "first", "make the cart faster", "/src/shop/cart.go")
	w.settled(t)
	start := func(id events.ID, name, source string) (string, string) {
		b, err := w.client.Hook(t.Context(), "claude-code", hook("SessionStart", name, map[string]any{"source": source}), id, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return reply(t, b)
	}
	id := newID()
	mem, notice := start(id, "second", "startup")
	if !strings.HasPrefix(mem, agents.ContextOpen) || !strings.Contains(mem, "cart") || notice == "" {
		t.Fatalf("got context %q and notice %q, want memory of the first session", mem, notice)
	}
	given := w.injections(t)
	if len(given) != 1 || given[0].Hook != "startup" || len(given[0].IDs) == 0 || given[0].Characters != len([]rune(mem)) || given[0].Position == 0 {
		t.Fatalf("recorded %+v, want what was given", given)
	}
	if again, _ := start(id, "second", "startup"); again == "" || len(w.injections(t)) != 1 {
		t.Errorf("the same delivery: got %d injections on record and context %q, want one and the context again", len(w.injections(t)), again)
	}
	w.settled(t)
	if mem, _ := start(newID(), "second", "resume"); mem != "" {
		t.Errorf("nothing is new at a resume, got %q", mem)
	}
	if mem, _ := start(newID(), "second", "compact"); mem == "" {
		t.Error("after a compaction: got nothing, want the memory again")
	}
	if n := len(w.injections(t)); n != 2 {
		t.Errorf("got %d injections on record, want 2: what gave nothing is none", n)
	}
}

func (w *world) injections(tb testing.TB) (all []events.ContextInjected) {
	tb.Helper()
	for _, r := range w.records(tb) {
		if r.Kind != events.KindContextInjected {
			continue
		}
		e, err := r.Event()
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, e.(events.ContextInjected))
	}
	return all
}

// slowRecall takes its time, or panics.
type slowRecall struct {
	injector
	context func(ctx context.Context) (recall.Context, error)
}

func (r slowRecall) Context(ctx context.Context, _ recall.Ask) (recall.Context, error) {
	return r.context(ctx)
}

func TestInjectionNeverHoldsUpASession(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	for _, c := range []struct {
		name    string
		context func(ctx context.Context) (recall.Context, error)
	}{
		{"slow, and deaf", func(context.Context) (recall.Context, error) { <-free; return recall.Context{Text: "late"}, nil }},
		{"panics", func(context.Context) (recall.Context, error) { panic("secret") }},
		{"fails", func(context.Context) (recall.Context, error) { return recall.Context{}, errors.New("damaged") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, func(cfg *testConfig) {
				cfg.ContextTimeout = 50 * time.Millisecond
				cfg.swap = func(s *Server) { s.hooks.replies.injector = slowRecall{s.hooks.replies.injector, c.context} }
			})
			b, err := w.client.Hook(t.Context(), "claude-code", hook("SessionStart", "s", map[string]any{"source": "startup"}), newID(), time.Time{})
			if err != nil || len(b) != 0 {
				t.Fatalf("got %q, %v, want an empty reply", b, err)
			}
			if n := w.count(t, events.KindSessionOpened); n != 1 {
				t.Errorf("got %d starts on record, want 1", n)
			}
			if len(w.injections(t)) != 0 {
				t.Error("an injection is on record that nobody was given")
			}
			if c.name == "slow, and deaf" {
				close(free) // the server waits for it when it ends
			}
		})
	}
}

func TestConcurrentHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const sessions, each = 8, 40
	var wg sync.WaitGroup
	for s := range sessions {
		for n := range each {
			wg.Go(func() {
				p := toolUse(fmt.Sprint("s", s), fmt.Sprint("t", n), "ls", "x")
				if _, err := w.client.Hook(t.Context(), "claude-code", p, newID(), time.Time{}); err != nil {
					t.Errorf("session %d, tool %d: %v", s, n, err)
				}
			})
		}
	}
	wg.Wait()
	if n := w.count(t, events.KindToolUsed); n != sessions*each {
		t.Errorf("got %d tool uses, want %d", n, sessions*each)
	}
	if n := w.count(t, events.KindSessionOpened); n != sessions {
		t.Errorf("got %d starts, want %d", n, sessions)
	}
}
