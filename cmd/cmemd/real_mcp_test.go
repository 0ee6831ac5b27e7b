package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// askingModel is a model on loopback that asks memory: for the schemas of two tools, which clients keep back, then search, then
// get with the handle that this found.
type askingModel struct {
	*httptest.Server
	mu      sync.Mutex // guards the fields below
	told    bool       // the server's instructions
	results []string   // of tools, in their order
}

func newAskingModel(t *testing.T) *askingModel {
	m := &askingModel{}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() { m.CloseClientConnections(); m.Close() })
	return m
}

// ServeHTTP answers what is asked of a model, and nothing else.
func (m *askingModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, m.answer(body))
}

// answer is the next step after what the last message brought.
func (m *askingModel) answer(body []byte) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !bytes.Contains(body, []byte(`"ToolSearch"`)) {
		return anthropicStream("A title", false) // of what the client asks beside the conversation
	}
	m.told = m.told || bytes.Contains(body, []byte("How to ask, cheapest first"))
	last, all := lastResult(body)
	if all == 0 { // the client waits for its servers here, and not before
		return toolStream("toolu_0", "ToolSearch", map[string]any{"query": "select:mcp__cmemd__search,mcp__cmemd__get", "max_results": 5})
	}
	if all > len(m.results) {
		m.results = append(m.results, last)
	}
	switch all {
	case 1:
		return toolStream("toolu_1", "mcp__cmemd__search", map[string]any{"query": "tuesday release"})
	case 2:
		return toolStream("toolu_2", "mcp__cmemd__get", map[string]any{"ids": regexp.MustCompile(`\bm[0-9]+\b`).FindAllString(last, 1)})
	}
	return anthropicStream("They are cut on Tuesdays.", false)
}

// lastResult is the text of the last tool's result in a request, and how many there are.
func lastResult(body []byte) (text string, all int) {
	var b struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(body, &b) // what is no request has no results
	for _, m := range b.Messages {
		var parts []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(m.Content, &parts) != nil {
			continue
		}
		for _, p := range parts {
			if p.Type == "tool_result" {
				text, all = string(p.Content), all+1
			}
		}
	}
	return text, all
}

// toolStream is an answer of the service that calls a tool.
func toolStream(id, name string, in map[string]any) string {
	s := anthropicStream(clitest.JSON(in), true)
	s = strings.ReplaceAll(s, `"id":"toolu_1"`, `"id":"`+id+`"`)
	return strings.ReplaceAll(s, `"name":"record"`, `"name":"`+name+`"`)
}

// TestRealClientAsksMemory has Claude Code itself use the server, over standard input and output and over HTTP: the model is
// told the server's instructions, loads the schemas, and gets what search and get say.
func TestRealClientAsksMemory(t *testing.T) {
	t.Parallel()
	path := realClaude(t)
	p, endpoint, token := servedOverHTTP(t)
	cwd := t.TempDir()
	client := client.Dial(p.home)
	defer client.Close()
	saved, err := api.SaveRoute.Call(t.Context(), client, api.Memory{Project: filepath.Base(cwd), ProjectRoot: cwd, Text: "Releases are cut on Tuesdays: the farm idles then"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.SearchRoute.Call(t.Context(), client, api.SearchQuery{After: saved.Position}); err != nil {
		t.Fatal(err)
	}
	for name, server := range map[string]map[string]any{
		"stdio": {"type": "stdio", "command": p.path, "args": []string{"mcp"}, "env": map[string]string{"CMEMD_HOME": p.home, "CMEMD_NO_START": "1"}},
		"http":  {"type": "http", "url": endpoint, "headers": map[string]string{"Authorization": "Bearer " + token}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := newAskingModel(t)
			c := exec.CommandContext(t.Context(), path, "-p", "When are releases cut?", "--output-format", "json", "--strict-mcp-config",
				"--mcp-config", clitest.JSON(map[string]any{"mcpServers": map[string]any{"cmemd": server}}),
				"--allowedTools", "mcp__cmemd__search,mcp__cmemd__get,ToolSearch", "--model", "claude-haiku-4-5")
			c.Dir = cwd
			c.Env = append(p.command(t.Context()).Env, "HOME="+t.TempDir(), "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=sk-ant-api03-of-nobody",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "TMPDIR="+t.TempDir(), "ENABLE_TOOL_SEARCH=true")
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "They are cut on Tuesdays.") {
				t.Fatalf("%v: %s", err, out)
			}
			checkAnswers(t, model)
		})
	}
}

func checkAnswers(t *testing.T, m *askingModel) {
	t.Helper()
	if !m.told {
		t.Error("the client did not tell the model the server's instructions")
	}
	if len(m.results) != 3 || !strings.Contains(m.results[1], "1 of 1 rows in project") || !strings.Contains(m.results[2], "the farm idles then") ||
		!strings.Contains(m.results[2], "cmemd-context") {
		t.Errorf("the tools said %q", m.results)
	}
}
