package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/socket"
)

// testLogger writes to b, which is read after the world has ended.
func testLogger(b *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// remote sends one request to the loopback address.
func (w *world) remote(tb testing.TB, change func(*http.Request)) *http.Response {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), "GET", "http://"+w.tcp+"/v1/sessions", nil)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	if change != nil {
		change(req)
	}
	res, err := new(http.Transport).RoundTrip(req)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { res.Body.Close() })
	return res
}

func TestLoopbackDoor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, port, err := net.SplitHostPort(w.tcp)
	if err != nil {
		t.Fatal(err)
	}
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	path := func(p string) func(*http.Request) {
		return func(r *http.Request) { r.URL.Path = p; r.Header.Del("Authorization") }
	}
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"token", nil, 200},
		{"lower-case scheme", set("Authorization", "bearer "+testToken), 200},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"another token", set("Authorization", "Bearer x"), 401},
		{"a beginning of the token", set("Authorization", "Bearer "+testToken[:5]), 401},
		{"an empty token", set("Authorization", "Bearer "), 401},
		{"another scheme", set("Authorization", "Basic "+testToken), 401},
		{"token in the query", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "token=" + url.QueryEscape(testToken)
		}, 401},
		{"localhost", host("localhost:" + port), 200},
		{"LOCALHOST", host("LOCALHOST:" + port), 200},
		{"IPv6", host("[::1]:" + port), 200},
		{"another port", host("127.0.0.1:1"), 403},
		{"no port", host("127.0.0.1"), 403},
		{"a name that was made to point here", host("evil.example:" + port), 403},
		{"a name that ends like ours", host("localhost.evil.example:" + port), 403},
		{"another loopback address", host("127.0.0.2:" + port), 403},
		{"own origin", set("Origin", "http://"+w.tcp), 200},
		{"foreign origin", set("Origin", "http://evil.example"), 403},
		{"own origin by TLS", set("Origin", "https://"+w.tcp), 403},
		{"null origin", set("Origin", "null"), 403},
		{"two origins", func(r *http.Request) { r.Header["Origin"] = []string{"http://" + w.tcp, "http://evil.example"} }, 403},
		{"a page on another site", set("Sec-Fetch-Site", "cross-site"), 403},
		{"a page on another port", set("Sec-Fetch-Site", "same-site"), 403},
		{"typed by the person", set("Sec-Fetch-Site", "none"), 200},
		{"healthz needs no token", path("/healthz"), 200},
		{"readyz needs no token", path("/readyz"), 200},
		{"metrics need one", path("/metrics"), 401},
		{"an unknown path needs one", path("/x"), 401},
		{"a preflight", func(r *http.Request) { r.Method = "OPTIONS"; r.Header.Set("Origin", "http://evil.example") }, 403},
		{"foreign origin and no token", func(r *http.Request) { r.Header.Del("Authorization"); r.Header.Set("Origin", "http://evil.example") }, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := w.remote(t, c.change)
			if res.StatusCode != c.status {
				t.Errorf("got %d, want %d", res.StatusCode, c.status)
			}
			if res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("another origin is allowed to read the answer")
			}
			if res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("got headers %v, want nosniff and a policy", res.Header)
			}
			if c.status >= 400 && res.Header.Get("Content-Type") != api.ProblemType {
				t.Errorf("got %s, want a problem", res.Header.Get("Content-Type"))
			}
		})
	}
}

func TestLoopbackWithoutToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.Token = "" })
	for _, value := range []string{"", "Bearer", "Bearer ", "Bearer x"} {
		if res := w.remote(t, func(r *http.Request) { r.Header.Set("Authorization", value) }); res.StatusCode != 401 {
			t.Errorf("%q: got %d, want 401: nobody gets in", value, res.StatusCode)
		}
	}
}

func TestClientOverLoopback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	c := client.DialTCP(w.tcp, testToken)
	defer c.Close()
	if _, err := api.StatusRoute.Call(t.Context(), c, api.NoQuery{}); err != nil {
		t.Error(err)
	}
	c = client.DialTCP(w.tcp, "x")
	defer c.Close()
	if _, err := api.StatusRoute.Call(t.Context(), c, api.NoQuery{}); problem(t, err).Status != 401 {
		t.Errorf("got %v, want 401", err)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.MaxBodies, c.HookTimeout = 40<<20, time.Minute })
	big := hook("PostToolUse", "s", map[string]any{"tool_name": "Read", "tool_use_id": "big", "tool_response": strings.Repeat("x", 20<<20)})
	if _, err := w.client.Hook(t.Context(), "claude-code", big, newID(), time.Time{}); err != nil {
		t.Errorf("20 MiB: %v", err)
	}
	_, err := w.client.Hook(t.Context(), "claude-code", make([]byte, 32<<20+1), newID(), time.Time{})
	if p := problem(t, err); p.Status != 413 {
		t.Errorf("32 MiB and a byte: got %+v, want 413", p)
	}
	res, err := w.client.Do(t.Context(), "POST", "/v1/hooks/claude-code", nil, nil, io.MultiReader(bytes.NewReader(make([]byte, 32<<20+1))))
	if err == nil {
		res.Body.Close()
		t.Error("the same without a length: it was taken")
	}
	_, err = api.SaveRoute.Call(t.Context(), w.client, api.Memory{Text: strings.Repeat("x", 1<<20)})
	if p := problem(t, err); p.Status != 413 {
		t.Errorf("a memory of 1 MiB: got %+v, want 413", p)
	}
	if held := w.server.hooks.payloads.bytes.Load(); held != 0 {
		t.Errorf("%d bytes are still counted as in memory", held)
	}
}

// dial opens a raw connection to the socket.
func (w *world) dial(tb testing.TB) net.Conn {
	tb.Helper()
	conn, err := net.Dial("unix", w.socket)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return conn
}

func TestPayloadsInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.MaxBodies = 1000 })
	first := w.dial(t)
	fmt.Fprintf(first, "POST /v1/hooks/claude-code HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n{")
	eventually(t, "the first is being read", func() bool { return w.server.hooks.payloads.bytes.Load() == 900 })
	_, err := w.client.Hook(t.Context(), "claude-code", toolUse("s", "t", "ls", ""), newID(), time.Time{})
	if p := problem(t, err); p.Type != api.ProblemBusy || p.RetryAfter == 0 {
		t.Errorf("got %+v, want busy", p)
	}
	first.Close()
	eventually(t, "the first is let go", func() bool { return w.server.hooks.payloads.bytes.Load() == 0 })
	w.post(t, toolUse("s", "t", "ls", ""))
	if files, _ := badFiles(t, w.home); len(files) != 0 {
		t.Errorf("half a payload was put aside: %v", files)
	}
}

func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.MaxRequests, c.MaxStreams = 2, 1 })
	for range 2 {
		fmt.Fprintf(w.dial(t), "POST /v1/hooks/claude-code HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
	}
	eventually(t, "two are at it", func() bool { return w.server.life.requests.Load() == 2 })
	if p := problem(t, w.client.Alive(t.Context())); p.Status != 503 || p.RetryAfter == 0 {
		t.Errorf("got %+v, want 503", p)
	}
	fmt.Fprint(w.dial(t), "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
	eventually(t, "one stream is open", func() bool { return w.server.life.streams.Load() == 1 })
	if p := problem(t, w.client.Events(t.Context(), api.EventsQuery{}, nil)); p.Status != 503 {
		t.Errorf("got %+v, want 503", p)
	}
}

func TestSlowHeadersAreCut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for the time limit of five seconds")
	}
	w := newWorld(t, nil)
	conn := w.dial(t)
	began := time.Now()
	fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost:")
	if err := conn.SetReadDeadline(began.Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, err := io.ReadAll(conn)
	if took := time.Since(began); err != nil || took < headerTimeout/2 {
		t.Errorf("the connection ended after %v with %v, want a cut at %v", took, err, headerTimeout)
	}
}

func TestLargeHeadersAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	conn := w.dial(t)
	go fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("x", 80<<10))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %d, want 431", res.StatusCode)
	}
}

func TestUnrouted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, c := range []struct {
		method, path string
		status       int
		kind         string
	}{
		{"GET", "/", 404, api.ProblemNotFound},
		{"GET", "/v1", 404, api.ProblemNotFound},
		{"GET", "/v2/search", 404, api.ProblemNotFound},
		{"GET", "/v1/hooks/claude-code", 405, api.ProblemMethod},
		{"DELETE", "/v1/memories", 405, api.ProblemMethod},
		{"POST", "/v1/search", 405, api.ProblemMethod},
	} {
		err := call(t.Context(), w.client, c.method, c.path, nil, nil, nil)
		if p := problem(t, err); p.Status != c.status || p.Type != c.kind || p.Title == "" || p.Detail == "" {
			t.Errorf("%s %s: got %+v, want %d", c.method, c.path, p, c.status)
		}
	}
}

func TestNotRunning(t *testing.T) {
	t.Parallel()
	home := socket.Dir(t)
	c := client.Dial(home)
	defer c.Close()
	if _, err := api.StatusRoute.Call(t.Context(), c, api.NoQuery{}); !errors.Is(err, api.ErrNotRunning) || !strings.Contains(err.Error(), "cmemd start") {
		t.Errorf("no socket: got %v, want ErrNotRunning and what to do", err)
	}
	l, err := net.Listen("unix", filepath.Join(home, "dead.sock"))
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	c = client.DialSocket(filepath.Join(home, "dead.sock"))
	defer c.Close()
	if err := c.Alive(t.Context()); !errors.Is(err, api.ErrNotRunning) {
		t.Errorf("a socket that nobody serves: got %v, want ErrNotRunning", err)
	}
}

// The client finds a daemon that listens where another runtime folder put it.
func TestDialAdvertised(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	other := socket.Dir(t)
	capturetest.WriteFile(t, filepath.Join(other, "run", "daemon.json"), mustJSON(t, map[string]any{"socket": w.socket}))
	c := client.Dial(other)
	defer c.Close()
	if err := c.Alive(t.Context()); err != nil {
		t.Error(err)
	}
}

func mustJSON(tb testing.TB, v any) []byte {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// A handler that panics costs its request alone, and says nothing of what it panicked with.
func TestHandlerPanic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	h := w.server.unary(func(http.ResponseWriter, *http.Request) error { panic("secret") })
	half := w.server.unary(func(w http.ResponseWriter, _ *http.Request) error {
		fmt.Fprint(w, "half")
		return errors.New("then it broke")
	})
	mux := http.NewServeMux()
	mux.Handle("/whole", h)
	mux.Handle("/half", half)
	l, err := net.Listen("unix", filepath.Join(w.home, "own.sock"))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: mux, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go srv.Serve(l)
	defer srv.Close()
	c := client.DialSocket(l.Addr().String())
	defer c.Close()
	p := problem(t, call(t.Context(), c, "GET", "/whole", nil, nil, nil))
	if p.Status != 500 || strings.Contains(fmt.Sprint(*p), "secret") {
		t.Errorf("got %+v, want a scrubbed 500", p)
	}
	if err := call(t.Context(), c, "GET", "/half", nil, nil, nil); err == nil {
		t.Error("half an answer was taken for a whole one")
	}
	if n := w.server.life.requests.Load(); n != 0 {
		t.Errorf("%d requests are still counted", n)
	}
}

func TestProblemDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	res := w.remote(t, func(r *http.Request) { r.URL.RawQuery = "limit=x&nonsense=1&since=now" })
	var doc map[string]any
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	errs, _ := doc["errors"].([]any)
	if res.StatusCode != 400 || doc["type"] != api.ProblemInvalid || doc["status"] != 400.0 || len(errs) != 3 {
		t.Errorf("got %d %v, want all three faults", res.StatusCode, doc)
	}
}

func TestEndOfServerEndsStreams(t *testing.T) {
	t.Parallel()
	best := time.Hour
	for range 5 { // a busy machine makes one end slow, and not all
		if best = min(best, endWithAStream(t)); best <= endGrace {
			return
		}
	}
	t.Errorf("the end took %v at best: it waited for a stream", best)
}

// endWithAStream is how long the end of a server takes whose stream is being read.
func endWithAStream(t *testing.T) time.Duration {
	t.Helper()
	w := newWorld(t, nil)
	w.post(t, toolUse("s", "t", "ls", ""))
	seen := make(chan struct{}, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- w.client.Events(t.Context(), api.EventsQuery{}, func(api.LogRecord) error { seen <- struct{}{}; return nil })
	}()
	<-seen
	began := time.Now()
	w.end()
	if err := <-ended; !errors.Is(err, api.ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	took := time.Since(began)
	if _, err := w.client.Hook(t.Context(), "claude-code", toolUse("s", "u", "ls", ""), events.ID{}, time.Time{}); !errors.Is(err, api.ErrNotRunning) {
		t.Errorf("got %v, want ErrNotRunning", err)
	}
	return took
}
