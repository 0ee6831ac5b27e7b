package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"github.com/cmemd/cmemd/testkit/race"
)

// What follows runs the agents themselves against a scripted model on loopback, with this program as their hook: it decodes
// what they send and answers as the daemon would. They are looked for on the PATH, or where CMEMD_TEST_CODEX and
// CMEMD_TEST_GEMINI say, and skipped with a word where they are not.

const (
	hookAgent  = "CMEMD_TEST_HOOK"   // in the environment: this program is the hook of that agent
	hookFolder = "CMEMD_TEST_FOLDER" // and writes down there what it heard
	realMemory = ContextOpen + "\nmark-of-memory <x>\n" + ContextClose
	realNotice = "[cmemd-notice: mark-of-notice]"
)

func TestMain(m *testing.M) {
	if agent := os.Getenv(hookAgent); agent != "" {
		if err := beHook(agent, os.Getenv(hookFolder)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beHook is one call of the hook.
func beHook(agent, folder string) error {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	name := fmt.Sprint(time.Now().UnixNano())
	a, err := ByName(agent)
	if err != nil {
		return err
	}
	r, err := a.Decode(body, testMeta())
	if err != nil {
		return os.WriteFile(filepath.Join(folder, name+".bad"), fmt.Append(body, "\n", err), 0o600)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), body, 0o600); err != nil {
		return err
	}
	var answer Answer
	if r.Wants != WantNone {
		answer = Answer{Context: realMemory, Notice: realNotice}
	}
	_, err = os.Stdout.Write(a.Reply(r, answer))
	return err
}

// scene is an agent at work: a home of its own, a project, a model, and what its hooks heard.
type scene struct {
	home, project, heard string
	mu                   sync.Mutex // guards asked
	asked                []string   // bodies of requests to the model
}

// newScene has a model that answers each request as answer says; how many came before is its argument.
func newScene(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, body string)) (*scene, string) {
	t.Helper()
	s := &scene{home: t.TempDir(), project: t.TempDir(), heard: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.asked = append(s.asked, string(body))
		s.mu.Unlock()
		answer(w, r, string(body))
	}))
	t.Cleanup(server.Close)
	return s, server.URL
}

// hook is the command line that runs this program as an agent's hook.
func (s *scene) hook(t *testing.T, agent string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s=%s %s='%s' '%s'", hookAgent, agent, hookFolder, s.heard, self)
}

// run runs an agent in the project, and returns all that it printed.
func (s *scene) run(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = s.project, append([]string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1", "GORACE=" + os.Getenv("GORACE")}, env...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}

func (s *scene) write(t *testing.T, path string, v any) {
	t.Helper()
	body, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		body = string(raw)
	}
	path = filepath.Join(s.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

// registered is a hook for each event, in the shape that Codex and Gemini CLI share with Claude Code.
func registered(command string, timeout int, names ...string) map[string]any {
	all := map[string]any{}
	for _, event := range names {
		all[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command, "timeout": timeout}}}}
	}
	return all
}

// reports decodes what the hooks heard. What did not decode is an error.
func (s *scene) reports(t *testing.T, a Agent) map[string][]Report {
	t.Helper()
	if bad, _ := filepath.Glob(filepath.Join(s.heard, "*.bad")); len(bad) > 0 {
		body, _ := os.ReadFile(bad[0])
		t.Errorf("%d payloads did not decode: %s", len(bad), body)
	}
	files, _ := filepath.Glob(filepath.Join(s.heard, "*.json"))
	all := map[string][]Report{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := mustReport(t, a, body, testMeta())
		all[r.Event] = append(all[r.Event], r)
	}
	return all
}

// requests returns the requests that hold mark.
func (s *scene) requests(mark string) (with, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range s.asked {
		if strings.Contains(body, mark) {
			with++
		}
	}
	return with, len(s.asked)
}

// program finds an agent, or skips.
func program(t *testing.T, variable, name string) string {
	t.Helper()
	race.SkipProcesses(t)
	if testing.Short() {
		t.Skip("runs a program of others")
	}
	path := os.Getenv(variable)
	if path == "" {
		path = name
	}
	path, err := exec.LookPath(path)
	if err != nil {
		t.Skipf("%s is not here: set %s, or install it", name, variable)
	}
	return path
}

// TestRealCodex: each hook of Codex decodes, no reply is refused, memory reaches the model, and the rollout tells what
// the hooks told under the same keys.
func TestRealCodex(t *testing.T) {
	t.Parallel()
	codex := program(t, "CMEMD_TEST_CODEX", "codex")
	s, url := newScene(t, answerCodex)
	hook := s.hook(t, "codex")
	s.write(t, ".codex/config.toml", `model = "gpt-5.2-codex"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "`+url+`/v1"
wire_api = "responses"
`)
	s.write(t, ".codex/hooks.json", map[string]any{"hooks": registered(hook, 10,
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")})
	out := s.run(t, nil, codex, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
		"--dangerously-bypass-hook-trust", "Look around")
	for _, word := range []string{"invalid", "hook returned", "hook exited"} {
		if strings.Contains(out, word) {
			t.Errorf("Codex complains of a hook:\n%s", out)
		}
	}
	heard := s.reports(t, Codex{})
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"} {
		if len(heard[event]) == 0 {
			t.Errorf("%s was not heard", event)
		}
	}
	if with, all := s.requests("mark-of-memory"); with < 2 || with != all {
		t.Errorf("memory stands in %d of %d requests, want all", with, all)
	}
	if t.Failed() {
		t.Fatal(out)
	}
	s.compareRollout(t, heard)
}

// compareRollout reads the rollout of the session that hooks told of.
func (s *scene) compareRollout(t *testing.T, heard map[string][]Report) {
	t.Helper()
	path := heard["SessionStart"][0].Origin.Transcript
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	captures, bad, _ := readAllOf(t, "codex", path, bytes.NewReader(body))
	if len(bad) > 0 {
		t.Error(bad)
	}
	keys := map[string]string{}
	for _, c := range captures {
		keys[c.Key.String()] = c.Name()
	}
	for _, event := range []string{"UserPromptSubmit", "PostToolUse", "Stop"} {
		if c := heard[event][0].Captures[0]; keys[c.Key.String()] != c.Name() {
			t.Errorf("%s: the rollout does not tell of %+v:\n%s", event, c.Event, told(captures))
		}
	}
	if strings.Contains(told(captures), "mark-of-memory") {
		t.Errorf("memory came back:\n%s", told(captures))
	}
}

// answerCodex calls a tool first, then ends.
func answerCodex(w http.ResponseWriter, r *http.Request, body string) {
	if !strings.HasSuffix(r.URL.Path, "/responses") {
		http.NotFound(w, r)
		return
	}
	item := `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"exec_command","arguments":"{\"cmd\":\"echo seen; exit 3\"}"}`
	if strings.Contains(body, `"function_call_output"`) {
		item = `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"All seen."}]}`
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []string{
		`{"type":"response.created","response":{"id":"resp_1"}}`,
		`{"type":"response.output_item.done","output_index":0,"item":` + item + `}`,
		`{"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":1,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":2}}}`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", event)
	}
}

// TestRealGemini: each hook of Gemini CLI decodes, memory reaches the model and is none of the user's words when it comes
// back, in hooks and in the chat.
func TestRealGemini(t *testing.T) {
	t.Parallel()
	gemini := program(t, "CMEMD_TEST_GEMINI", "gemini")
	s, url := newScene(t, answerGemini)
	s.write(t, ".gemini/settings.json", map[string]any{
		"hooks": registered(s.hook(t, "gemini-cli"), 10_000, "SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent",
			"PreCompress", "SessionEnd"),
		"security":  map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": map[string]any{"enabled": false}},
		"telemetry": map[string]any{"enabled": false}, "general": map[string]any{"enableAutoUpdate": false},
		"privacy": map[string]any{"usageStatisticsEnabled": false},
	})
	out := s.run(t, []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true"}, gemini,
		"--yolo", "-m", "gemini-2.5-flash", "-p", "Look around")
	heard := s.reports(t, Gemini{})
	for _, event := range []string{"SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"} {
		if len(heard[event]) == 0 {
			t.Errorf("%s was not heard", event)
		}
	}
	if with, all := s.requests("mark-of-memory"); with < 2 {
		t.Errorf("memory stands in %d of %d requests, want two or more", with, all)
	}
	if t.Failed() {
		t.Fatal(out)
	}
	if got := heard["BeforeAgent"][0].Prompt; got != "Look around" {
		t.Errorf("the prompt is %q", got)
	}
	path := heard["SessionStart"][0].Origin.Transcript
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	captures, bad, _ := readAllOf(t, "gemini-cli", path, bytes.NewReader(body))
	text := told(captures)
	if len(bad) > 0 || strings.Contains(text, "mark-of-memory") || !strings.Contains(text, "prompt Look around\n") ||
		!strings.Contains(text, "tool run_shell_command failed") || !strings.Contains(text, "open "+heard["SessionStart"][0].Origin.AgentSession+" "+s.project) {
		t.Errorf("the chat of %s in %s says, errors %v:\n%s", heard["SessionStart"][0].Origin.AgentSession, s.project, bad, text)
	}
}

// answerGemini calls a tool first, then ends.
func answerGemini(w http.ResponseWriter, r *http.Request, body string) {
	part := `{"functionCall":{"name":"run_shell_command","args":{"command":"echo seen; exit 3"}}}`
	if strings.Contains(body, `"functionResponse"`) {
		part = `{"text":"All seen."}`
	}
	answer := `{"candidates":[{"content":{"role":"model","parts":[` + part + `]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`
	if strings.Contains(r.URL.Path, "streamGenerateContent") {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answer)
}
