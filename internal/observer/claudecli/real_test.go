package claudecli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/socket"
)

var update = flag.Bool("update", false, "record what the client on the PATH says to testdata")

// realClient finds Claude Code, or skips.
func realClient(t *testing.T) string {
	t.Helper()
	race.SkipProcesses(t)
	path, err := exec.LookPath(cmp.Or(os.Getenv("CMEMD_TEST_CLAUDE"), "claude"))
	if err != nil {
		t.Skip("Claude Code is not installed here: these tests look for `claude` on the PATH, or for what CMEMD_TEST_CLAUDE names")
	}
	return path
}

// realConfig is a home of its own for the client, and where it finds its model.
func realConfig(t *testing.T, path, base string, login ...string) Config {
	t.Helper()
	home := t.TempDir()
	return Config{Dir: filepath.Join(home, "runs"), Path: path, Model: "claude-haiku-4-5", Env: append([]string{
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
				base = "http://" + socket.FreeAddress(t)
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
	writeProgram(t, script, text)
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
	case "408", "429", "500", "502", "503", "504", "529", "cut-in-block":
		return 1 + maxRetries
	case "400", "422", "404", "longest", "window", "cut-before-stop":
		return 2
	}
	return 1
}

// TestRealClientTakesTheDefaultModel, which nobody has to name, and has it think as little as it can.
func TestRealClientTakesTheDefaultModel(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	cfg := realConfig(t, realClient(t), s.URL+"/answered", keyLogin)
	cfg.Model = ""
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Ask(t.Context(), question())
	if err != nil || r.Text.RawText() != whole {
		t.Fatalf("got %+v, %v", r, err)
	}
	for _, body := range s.questions() {
		checkBody(t, body)
		if !strings.Contains(body, `"model":"`+defaultModel+`"`) || !strings.Contains(body, `"effort":"low"`) {
			t.Errorf("asked %s", body)
		}
	}
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

// TestRealClientUsesTheLogin: a subscription's login, which the client keeps in its own folder, works though none of the
// person's settings are read; what those settings would run is not run.
func TestRealClientUsesTheLogin(t *testing.T) {
	t.Parallel()
	path := realClient(t)
	if runtime.GOOS != "linux" {
		t.Skip("the login is kept elsewhere")
	}
	s := newScripted(t)
	cfg := realConfig(t, path, s.URL+"/answered")
	folder := filepath.Join(filepath.Dir(cfg.Dir), ".claude")
	ran := filepath.Join(t.TempDir(), "ran")
	hook := fmt.Sprintf(`{"hooks":[{"type":"command","command":"touch %s"}]}`, ran)
	for name, text := range map[string]string{
		".credentials.json": `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-of-nobody","refreshToken":"sk-ant-ort01-of-nobody",
"expiresAt":4102444800000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}`,
		"settings.json": fmt.Sprintf(`{"hooks":{"SessionStart":[%s],"UserPromptSubmit":[%s],"Stop":[%s],"SessionEnd":[%s]},
"env":{"ANTHROPIC_MODEL":"none"},"model":"none"}`, hook, hook, hook, hook),
		"CLAUDE.md": "speak of the weather",
	} {
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := told(c.Ask(t.Context(), question())); !strings.HasPrefix(got, fmt.Sprintf("%q", whole)) {
		t.Fatal(got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.logins) != 1 || s.logins[0] != "Bearer sk-ant-oat01-of-nobody" {
		t.Errorf("logged in by %q", s.logins)
	}
	checkBody(t, s.asked[0])
	if strings.Contains(s.asked[0], "weather") {
		t.Error("the person's instructions were sent")
	}
	if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a hook was run: %v", err)
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
		for deadline := time.Now().Add(time.Minute); len(s.questions()) == 0 && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		began := time.Now()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want context.Canceled", how, err)
		}
		if took := time.Since(began); took > dying {
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
