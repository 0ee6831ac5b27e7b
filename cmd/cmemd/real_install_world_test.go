package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/internal/api/client"
)

// agentModel is the model that an agent asks in these tests, on loopback: it has it run a command, read a file that is not
// there, say something before each, and say at last what it did.
type agentModel struct {
	*httptest.Server
	mu    sync.Mutex // guards asked
	asked []string   // the bodies of what the agent itself asked
}

func newAgentModel(t *testing.T) *agentModel {
	m := &agentModel{}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() { m.CloseClientConnections(); m.Close() })
	return m
}

func (m *agentModel) questions() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.asked...)
}

// ServeHTTP answers by how many tools were used already. What has no tools is a small question of the client's own.
func (m *agentModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var asked struct {
		Tools []any `json:"tools"`
	}
	answer := anthropicStream("A cart", false)
	if json.Unmarshal(body, &asked) == nil && len(asked.Tools) > 0 {
		m.mu.Lock()
		m.asked = append(m.asked, string(body))
		m.mu.Unlock()
		switch bytes.Count(body, []byte(`"type":"tool_result"`)) {
		case 0:
			answer = agentToolStream("Marmalade is said first, because the cart waits for it.", "toolu_a", "Bash", map[string]any{"command": "echo marmalade", "description": "say it"})
		case 1:
			answer = agentToolStream("Now the file that is nowhere.", "toolu_b", "Read", map[string]any{"file_path": "/nowhere/at/all.go"})
		default:
			answer = anthropicStream("The cart keeps one lock of marmalade now.", false)
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, answer)
}

// agentToolStream is an answer that says something and calls one tool.
func agentToolStream(said, id, name string, input map[string]any) string {
	var b strings.Builder
	for _, e := range []map[string]any{
		{"type": "message_start", "message": map[string]any{
			"id": "msg_" + id, "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001", "content": []any{},
			"usage": map[string]any{"input_tokens": 200, "output_tokens": 1},
		}},
		{"type": "content_block_start", "index": 0, "content_block": map[string]any{"type": "text", "text": ""}},
		{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "text_delta", "text": said}},
		{"type": "content_block_stop", "index": 0},
		{"type": "content_block_start", "index": 1, "content_block": map[string]any{"type": "tool_use", "id": id, "name": name, "input": map[string]any{}}},
		{"type": "content_block_delta", "index": 1, "delta": map[string]any{"type": "input_json_delta", "partial_json": clitest.JSON(input)}},
		{"type": "content_block_stop", "index": 1},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": "tool_use"}, "usage": map[string]any{"output_tokens": 34}},
		{"type": "message_stop"},
	} {
		b.WriteString("event: " + e["type"].(string) + "\ndata: " + clitest.JSON(e) + "\n\n")
	}
	return b.String()
}

// personsWorld is a person's home with a real agent, and a daemon beside it.
type personsWorld struct {
	matrixWorld
	model  *agentModel
	person string
}

// newPersonsWorld starts the daemon. Its programs, and the agent of that name at path, are on the person's PATH; it listens at an address
// too, unless that is empty.
func newPersonsWorld(t *testing.T, agent, path, listen string) *personsWorld {
	t.Helper()
	w := &personsWorld{matrixWorld: matrixWorld{program: newProgram(t), ctx: t.Context()}, model: newAgentModel(t), person: t.TempDir()}
	w.cwd = t.TempDir()
	bin := filepath.Dir(w.path)
	w.buildHook(filepath.Join(bin, "cmemd-hook"))
	if err := os.Symlink(path, filepath.Join(bin, agent)); err != nil {
		t.Fatal(err)
	}
	w.env = []string{
		"HOME=" + w.person, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(),
		"ANTHROPIC_BASE_URL=" + w.model.URL, "ANTHROPIC_API_KEY=sk-ant-api03-of-nobody", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CMEMD_LISTEN=" + listen,
	}
	if err := writeSettings(w.home, []string{"listen=" + listen}); err != nil {
		t.Fatal(err)
	}
	w.client = client.Dial(w.home)
	t.Cleanup(w.client.Close)
	w.daemon = w.serve(w.ctx)
	t.Cleanup(func() {
		if w.daemon != nil {
			_ = w.daemon.Process.Kill()
			_ = w.daemon.Wait()
		}
	})
	return w
}

// buildHook builds the program that hooks run, as it is released.
func (w *personsWorld) buildHook(path string) {
	w.t.Helper()
	c := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "github.com/cmemd/cmemd/cmd/cmemd-hook")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Skipf("cmemd-hook cannot be built here: %v\n%s", err, out)
	}
}

// ran is what a command says that goes well.
func (w *personsWorld) ran(name string, args ...string) string {
	w.t.Helper()
	c := w.command(w.ctx, args...)
	if name != "cmemd" {
		c.Path, c.Args[0] = filepath.Join(filepath.Dir(w.path), name), name
	}
	c.Dir = w.cwd
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		w.t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &out, &said)
	}
	return out.String()
}

// install puts cmemd into Claude Code, and wants it done.
func (w *personsWorld) install(args ...string) {
	w.t.Helper()
	var all []struct{ State string }
	out := w.ran("cmemd", append([]string{"install", "claude-code", "--yes", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 || all[0].State != "installed" {
		w.t.Fatalf("%v\n%s", err, out)
	}
}

// seen is what the client's stream says of a session: what ran as hooks, in their order.
type seen struct {
	hooks  []hookRun
	result string
}

// hookRun is one hook as the client tells of it.
type hookRun struct {
	ID      string        `json:"hook_id"`
	Event   string        `json:"hook_event"`
	Outcome string        `json:"outcome"`
	Output  string        `json:"stdout"`
	Said    string        `json:"stderr"`
	took    time.Duration // between the two lines of it in the client's stream
}

// session has the client answer one prompt.
func (w *personsWorld) session(prompt string) (s seen) {
	w.t.Helper()
	c := w.command(w.ctx, "-p", prompt, "--output-format", "stream-json", "--verbose", "--include-hook-events", "--allowedTools", "Bash", "Read")
	c.Path, c.Args[0], c.Dir = filepath.Join(filepath.Dir(w.path), "claude"), "claude", w.cwd
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	began := map[string]time.Time{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var e struct {
			Type    string `json:"type"`
			Subtype string `json:"subtype"`
			Result  string `json:"result"`
			hookRun
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			w.t.Fatalf("%v: %s", err, lines.Bytes())
		}
		switch {
		case e.Type == "system" && e.Subtype == "hook_started":
			began[e.ID] = time.Now()
		case e.Type == "system" && e.Subtype == "hook_response":
			e.took = time.Since(began[e.ID])
			s.hooks = append(s.hooks, e.hookRun)
		case e.Type == "result":
			s.result = e.Result
		}
	}
	if err := c.Wait(); err != nil || lines.Err() != nil {
		w.t.Fatalf("claude: %v, %v: %s", err, lines.Err(), &said)
	}
	return s
}
