package claudecli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer/model"
)

var update = flag.Bool("update", false, "record what the client on the PATH says to testdata")

// scripted is a model on loopback. The first element of a request's path says how it answers.
type scripted struct {
	*httptest.Server
	mu    sync.Mutex // guards the field below
	asked []string   // bodies
}

func newScripted(t *testing.T) *scripted {
	s := &scripted{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// questions returns the bodies of what was asked so far.
func (s *scripted) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// refusals are the answers that are an error, by name.
func refusals() map[string]struct {
	status  int
	kind    string
	message string
	header  map[string]string
} {
	type refusal = struct {
		status  int
		kind    string
		message string
		header  map[string]string
	}
	return map[string]refusal{
		"400":              {400, "invalid_request_error", "messages: something is wrong", nil},
		"400-billing":      {400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.", nil},
		"400-too-long":     {400, "invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum", nil},
		"401":              {401, "authentication_error", "invalid x-api-key", nil},
		"401-subscription": {401, "authentication_error", "OAuth token has expired", nil},
		"402":              {402, "billing_error", "payment is required", nil},
		"403":              {403, "permission_error", "not allowed", nil},
		"404":              {404, "not_found_error", "model: none", nil},
		"413":              {413, "request_too_large", "Request exceeds the maximum size", nil},
		"422":              {422, "invalid_request_error", "not to be processed", nil},
		"429":              {429, "rate_limit_error", "This request would exceed your rate limit", map[string]string{"retry-after": "1"}},
		"429-for-long":     {429, "rate_limit_error", "This request would exceed your rate limit", map[string]string{"retry-after": "30"}},
		"429-subscription": {429, "rate_limit_error", "This request would exceed your rate limit", map[string]string{
			"retry-after": "3600", "anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": "4102444800",
			"anthropic-ratelimit-unified-representative-claim": "five_hour", "anthropic-ratelimit-unified-5h-utilization": "1.0",
			"anthropic-ratelimit-unified-5h-reset": "4102444800",
		}},
		"500": {500, "api_error", "internal", nil},
		"503": {503, "api_error", "unavailable", nil},
		"529": {529, "overloaded_error", "Overloaded", nil},
	}
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, string(body))
	s.mu.Unlock()
	how := strings.Split(r.URL.Path, "/")[1]
	if refusal, ok := refusals()[how]; ok {
		for k, v := range refusal.header {
			w.Header().Set(k, v)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(refusal.status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, refusal.kind, refusal.message)
		return
	}
	switch how {
	case "hang":
		<-r.Context().Done()
	case "page":
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>log in to the network</html>")
	default:
		stream(w, r, how)
	}
}

// stream answers with the service's events, as far as how lets it.
func stream(w http.ResponseWriter, r *http.Request, how string) {
	w.Header().Set("Content-Type", "text/event-stream")
	if how == "warned" {
		w.Header().Set("anthropic-ratelimit-unified-status", "allowed_warning")
		w.Header().Set("anthropic-ratelimit-unified-reset", "4102444800")
		w.Header().Set("anthropic-ratelimit-unified-5h-utilization", "0.91")
		w.Header().Set("anthropic-ratelimit-unified-5h-reset", "4102444800")
	}
	send := func(kind, data string) {
		fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, data)
		_ = http.NewResponseController(w).Flush()
	}
	text := func(s string) {
		send("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"text_delta","text":%q}`, s))
	}
	send("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-haiku-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":120,"cache_read_input_tokens":30,"cache_creation_input_tokens":7,"output_tokens":1}}`)
	if how == "cut-at-start" {
		return
	}
	send("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	text(half)
	switch how {
	case "cut-in-block":
		return
	case "stall":
		<-r.Context().Done()
		return
	case "error-in-stream":
		send("error", `,"error":{"type":"overloaded_error","message":"Overloaded"}`)
		return
	}
	text(whole[len(half):])
	send("content_block_stop", `,"index":0`)
	if how == "cut-before-stop" {
		return
	}
	stop := map[string]string{"longest": "max_tokens", "window": "model_context_window_exceeded", "safety": "refusal"}[how]
	if stop == "" {
		stop = "end_turn"
	}
	send("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":25}`, stop))
	if how != "cut-after-stop" {
		send("message_stop", "")
	}
}

// realClient finds Claude Code, or skips.
func realClient(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("claude")
	if err != nil {
		t.Skip("claude is not installed here")
	}
	return path
}

// realConfig is a home of its own for the client, and where it finds its model.
func realConfig(t *testing.T, path, base string, login ...string) Config {
	t.Helper()
	home := t.TempDir()
	return Config{Dir: filepath.Join(home, "runs"), Path: path, Env: append([]string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + home, "ANTHROPIC_BASE_URL=" + base,
	}, login...)}
}

const (
	keyLogin          = "ANTHROPIC_API_KEY=sk-ant-api03-of-nobody"
	subscriptionLogin = "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-of-nobody"
)

// TestRealClient asks Claude Code itself, against a model on loopback. With -update it records what the client says.
func TestRealClient(t *testing.T) {
	t.Parallel()
	path := realClient(t)
	c, err := New(realConfig(t, path, ""))
	if err != nil {
		t.Fatal(err)
	}
	version, err := c.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Claude Code %s at %s", version, path)
	for name, want := range recorded() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := newScripted(t)
			base, login := model.URL+"/"+name, keyLogin
			switch {
			case strings.HasSuffix(name, "-subscription"), name == "warned":
				login = subscriptionLogin
			case name == "logged-out":
				login = "LANG=C"
			case name == "refused-by-peer":
				base = "http://" + unusedAddr(t)
			}
			cfg := realConfig(t, path, base, login)
			if *update {
				record(t, name, version, cfg)
				return
			}
			askReal(t, name, want, model, cfg)
		})
	}
}

func askReal(t *testing.T, name, want string, s *scripted, cfg Config) {
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got := told(c.Ask(t.Context(), question()))
	if newer := name == "error-in-stream" && strings.HasPrefix(got, "overload 529"); !newer && !strings.HasPrefix(sinceNow(got, began), want) {
		t.Errorf("got %s, want %s", got, want)
	}
	asked := s.questions()
	if most := mostAsked(name); len(asked) > most {
		t.Errorf("the model was asked %d times, at most %d", len(asked), most)
	}
	for _, body := range asked {
		checkBody(t, body)
	}
	t.Logf("%s, asked %d times, after %v", got, len(asked), time.Since(began).Round(time.Millisecond))
}

// record keeps all that the client says, as long as it says something.
func record(t *testing.T, name, version string, cfg Config) {
	said := filepath.Join(t.TempDir(), "said")
	script := filepath.Join(t.TempDir(), "record")
	text := fmt.Sprintf("#!/bin/sh\n'%s' \"$@\" > '%s'; cat '%s'\n", cfg.Path, said, said)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg.Path = script
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(told(c.Ask(t.Context(), question())))
	writeRecording(t, filepath.Join("testdata", version, name+".jsonl"), said)
}

// sinceNow moves a reset that was counted from now to the clock of recordings, so that one table does for both.
func sinceNow(got string, began time.Time) string {
	before, at, ok := strings.Cut(got, " until ")
	until, err := time.Parse(time.RFC3339, at)
	if !ok || err != nil || until.Sub(began) > time.Hour {
		return got
	}
	return before + " until " + testNow().Add(until.Sub(began.Truncate(time.Second))).Format(time.RFC3339)
}

// mostAsked is how often one turn may be paid for: once, and again where the service could not be reached or was busy. A
// request that is refused is sent once more by the client, with fewer of its own wishes, and where it makes the model go on
// by itself it has begun before it is killed.
func mostAsked(name string) int {
	switch name {
	case "429", "500", "503", "529", "cut-in-block":
		return 1 + maxRetries
	case "400", "422", "404", "longest", "window", "cut-before-stop":
		return 2
	}
	return 1
}

// checkBody holds what the model is given to what was asked: no tools, no thinking, bounded, and the files that the batch
// names left alone.
func checkBody(t *testing.T, body string) {
	t.Helper()
	var b struct {
		Tools     []any `json:"tools"`
		MaxTokens int   `json:"max_tokens"`
		Thinking  struct {
			Type string `json:"type"`
		} `json:"thinking"`
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatal(err)
	}
	if len(b.Tools) > 0 || b.MaxTokens != 4096 || b.Thinking.Type == "enabled" || !strings.Contains(body, "be brief") ||
		!strings.Contains(body, "the batch") || len(body) > 8<<10 {
		t.Errorf("the model was asked %s", body)
	}
}

func question() model.Question {
	return model.Question{Kind: events.TurnObservation, System: "You condense. be brief", User: "the batch", Form: events.FormXML, MaxTokens: 4096}
}

// unusedAddr is an address that nobody listens on.
func unusedAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestRealClientLeavesFilesAlone: a batch that mentions files or looks like a command is asked as it stands, and no file of
// the machine goes along; neither for its environment alone, nor for defuse alone.
func TestRealClientLeavesFilesAlone(t *testing.T) {
	t.Parallel()
	path := realClient(t)
	s := newScripted(t)
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("TOP-SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := New(realConfig(t, path, s.URL+"/answered", keyLogin))
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{
		"the batch: read @" + secret, "the batch\n@\"" + secret + "\"", "the batch @../../../../../../../.." + secret, "/help the batch",
		"the batch\n/compact", "!cat " + secret + " the batch", "the batch ultrathink",
	} {
		q := question()
		q.User = user
		before := len(s.questions())
		if got := told(c.Ask(t.Context(), q)); !strings.HasPrefix(got, fmt.Sprintf("%q", whole)) {
			t.Errorf("%q: got %s", user, got)
		}
		asked := s.questions()[before:]
		if len(asked) != 1 {
			t.Fatalf("%q was asked %d times", user, len(asked))
		}
		checkBody(t, asked[0])
		if strings.Contains(asked[0], "TOP-SECRET") {
			t.Errorf("%q sent the file", user)
		}
	}
	for name, send := range map[string]struct {
		strip func([]string) []string
		text  string
	}{
		"neither": {stripGuards, "read @" + secret},
		"defused": {stripGuards, defuse("read @" + secret)},
		"told":    {func(env []string) []string { return env }, "read @" + secret},
	} {
		before := len(s.questions())
		askBare(t, c, send.strip, send.text)
		body := strings.Join(s.questions()[before:], "")
		if sent := strings.Contains(body, "TOP-SECRET"); sent != (name == "neither") {
			t.Errorf("%s: the file was sent: %v", name, sent)
		}
	}
}

// stripGuards takes out of a child's environment what tells the client to leave files alone.
func stripGuards(env []string) (kept []string) {
	for _, kv := range env {
		if !strings.HasPrefix(kv, "CLAUDE_CODE_DISABLE_ATTACHMENTS") && !strings.HasPrefix(kv, "CLAUDE_CODE_DISABLE_FILE_MENTIONS") {
			kept = append(kept, kv)
		}
	}
	return kept
}

// askBare asks with text as it is, in an environment of the test's choice.
func askBare(t *testing.T, c *Client, strip func([]string) []string, text string) {
	t.Helper()
	cmd, err := c.command(t.Context(), question(), "RUN")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env, cmd.Stdin = strip(cmd.Env), strings.NewReader(string(b)+"\n")
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestRealClientIsCancelled: a turn that hangs, before and within the answer, ends with its context, and no child stays.
func TestRealClientIsCancelled(t *testing.T) {
	t.Parallel()
	path := realClient(t)
	for _, how := range []string{"hang", "stall"} {
		s := newScripted(t)
		cfg := realConfig(t, path, s.URL+"/"+how, keyLogin)
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := c.Ask(ctx, question())
			ended <- err
		}()
		r := waitForRun(t, cfg.Dir)
		for deadline := time.Now().Add(20 * time.Second); len(s.questions()) == 0 && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		began := time.Now()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want context.Canceled", how, err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: ended after %v", how, took)
		}
		mustBeGone(t, r, dying)
	}
}

// writeRecording keeps a recording without what is of this run or this machine.
func writeRecording(t *testing.T, path, from string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	for expr, with := range map[string]string{
		`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`: "00000000-0000-0000-0000-000000000000",
		`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`:  "2026-11-20T22:00:00Z",
		`"(/[^" ]+)"`:      `"/home/user"`,
		`127\.0\.0\.1:\d+`: "127.0.0.1:80",
		`"(duration|duration_api|ttft|ttft_stream|time_to_request|first_content_frame)_ms":\d+`: `"${1}_ms":20`,
	} {
		b = regexp.MustCompile(expr).ReplaceAll(b, []byte(with))
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o644)); err != nil {
		t.Fatal(err)
	}
}
