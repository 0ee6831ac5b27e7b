package agents

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// replay feeds recorded events to the plugin, as OpenCode does, and prints what it puts into the system's prompt.
const replay = `
import { readFileSync } from "node:fs"
const { Cmemd } = await import(process.argv[2])
const get = async ({ path }) => ({ data: path.id === "ses_child" ? { parentID: "ses_root" } : {} })
const hooks = await Cmemd({ directory: "/home/dev/project", client: { session: { get } } })
for (const line of readFileSync(process.argv[3], "utf8").trim().split("\n")) {
  const { hook, input, output } = JSON.parse(line)
  if (hook === "event") await hooks.event({ event: input })
  else if (hook.includes("system")) {
    output.system = []
    await hooks[hook](input, output)
    for (const text of output.system) console.log(text)
  } else if (hooks[hook]) await hooks[hook](input, output)
}
`

// play runs the plugin over the events in a file under node, with this program as its hook, and returns the reports in
// order and what it printed.
func play(t *testing.T, file string) (reports []map[string]any, printed string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not here: the plugin is not run")
	}
	s, _ := newScene(t, func(http.ResponseWriter, *http.Request, string) {})
	plugin := string(OpenCode{}.Script(s.words(t, "opencode")...))
	for _, limit := range []string{"const patience = 2000 ", "const limit = 10000 "} { // a busy machine takes longer
		if !strings.Contains(plugin, limit) {
			t.Fatalf("the plugin does not say %q", limit)
		}
		plugin = strings.Replace(plugin, limit, strings.TrimSpace(limit)+"0 ", 1)
	}
	s.write(t, "plugin.mjs", plugin)
	s.write(t, "replay.mjs", replay)
	if file, err = filepath.Abs(file); err != nil {
		t.Fatal(err)
	}
	printed = s.run(t, nil, node, filepath.Join(s.home, "replay.mjs"), filepath.Join(s.home, "plugin.mjs"), file)
	s.reports(t, OpenCode{})
	files, _ := filepath.Glob(filepath.Join(s.heard, "*.json"))
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var report map[string]any
		if err := json.Unmarshal(body, &report); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, report)
	}
	return reports, printed
}

// words is the command that runs this program as an agent's hook.
func (s *scene) words(t *testing.T, agent string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"env", hookAgent + "=" + agent, hookFolder + "=" + s.heard, self}
}

// TestPlugin: of a recorded session the plugin reports what testdata holds, in its order, and shows memory in each request.
func TestPlugin(t *testing.T) {
	t.Parallel()
	reports, printed := play(t, "testdata/opencode/events.jsonl")
	names := []string{"session.created", "chat.message", "message.said", "message.part.updated-bash", "message.part.updated-write", "message.part.updated-read",
		"message.part.updated-grep", "message.part.updated-bash-2", "session.idle"}
	if len(reports) != len(names) {
		t.Fatalf("got %d reports, want %d: %v", len(reports), len(names), reports)
	}
	for i, name := range names {
		var want map[string]any
		if err := json.Unmarshal(readFile(t, "opencode", name+".json"), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, reports[i]); diff != "" {
			t.Errorf("report %d, %s (-want +got):\n%s", i, name, diff)
		}
	}
	// Six requests of the session; memory of its start and, from its prompt on, that of the prompt.
	if got := strings.Count(printed, "mark-of-memory"); got < 2*6 {
		t.Errorf("memory was shown %d times, want 12 or more:\n%s", got, printed)
	}
}

// TestPluginResumes: a session that was begun before is resumed, a subagent works for its session, an end is told.
func TestPluginResumes(t *testing.T) {
	t.Parallel()
	event := func(kind string, properties any) string {
		raw, _ := json.Marshal(map[string]any{"hook": "event", "input": map[string]any{"type": kind, "properties": properties}})
		return string(raw)
	}
	type obj = map[string]any
	lines := []string{
		event("session.created", obj{"info": obj{"id": "ses_child", "parentID": "ses_root", "directory": "/p"}}),
		event("message.updated", obj{"sessionID": "ses_child", "info": obj{"id": "m1", "role": "assistant"}}),
		event("message.part.updated", obj{"sessionID": "ses_child", "part": obj{"id": "p1", "sessionID": "ses_child", "messageID": "m1", "type": "text", "text": "there", "time": obj{"start": 1, "end": 2}}}),
		event("session.idle", obj{"sessionID": "ses_child"}),
		event("server.connected", nil), event("file.edited", obj{"file": "x"}),
		event("message.updated", obj{"sessionID": "ses_root", "info": obj{"id": "m2", "role": "assistant", "summary": true}}),
		event("message.part.updated", obj{"sessionID": "ses_root", "part": obj{"id": "p2", "sessionID": "ses_root", "messageID": "m2", "type": "text", "text": "in short", "time": obj{"start": 1, "end": 2}}}),
		event("session.compacted", obj{"sessionID": "ses_root"}),
		event("session.deleted", obj{"info": obj{"id": "ses_root"}}),
	}
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	reports, _ := play(t, file)
	var got [][4]any
	for _, r := range reports {
		got = append(got, [4]any{r["hook_event_name"], r["session"], r["subagent"], r["said"]})
	}
	want := [][4]any{
		{"session.resumed", "ses_root", nil, nil}, {"session.created", "ses_root", "ses_child", nil},
		{"session.idle", "ses_root", "ses_child", "there"}, {"session.compacted", "ses_root", nil, "in short"},
		{"session.deleted", "ses_root", nil, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPluginCommand: the command of an installation takes the place of the one in the file.
func TestPluginCommand(t *testing.T) {
	t.Parallel()
	plain, own := string(OpenCode{}.Script()), string(OpenCode{}.Script(`/a "b"/cmemd-hook`, "opencode"))
	if !strings.Contains(plain, `const command = ["cmemd-hook", "opencode"]`) {
		t.Error("the plugin does not run cmemd-hook")
	}
	if !strings.Contains(own, `const command = ["/a \"b\"/cmemd-hook","opencode"]`) {
		t.Error("the command was not put in")
	}
}

// TestRealOpenCode: the plugin is loaded, what it reports decodes, and memory reaches the model.
func TestRealOpenCode(t *testing.T) {
	t.Parallel()
	opencode := program(t, "CMEMD_TEST_OPENCODE", "opencode")
	s, url := newScene(t, answerOpenCode)
	s.write(t, ".config/opencode/plugin/cmemd.js", string(OpenCode{}.Script(s.words(t, "opencode")...)))
	model := map[string]any{"name": "fake", "limit": map[string]any{"context": 100_000, "output": 4000}, "tool_call": true}
	s.write(t, ".config/opencode/opencode.json", map[string]any{
		"autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model", "permission": map[string]any{"bash": "allow"},
		"provider": map[string]any{"fake": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": url + "/v1", "apiKey": "none"}, "models": map[string]any{"fake-model": model},
		}},
	})
	out := s.run(t, []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}, opencode, "run", "--format", "json", "Look around")
	heard := s.reports(t, OpenCode{})
	for _, event := range []string{"session.created", "chat.message", "message.said", "message.part.updated", "session.idle"} {
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
	stop := heard["session.idle"][0].Captures[0]
	if e := stop.Event.(events.AgentStopped); e.LastMessage != "All seen." {
		t.Errorf("the agent stopped with %q", e.LastMessage)
	}
	var lines []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "{") {
			lines = append(lines, line)
		}
	}
	captures, bad, _ := readAllOf(t, "opencode", "/t/run.jsonl", strings.NewReader(strings.Join(lines, "")))
	keys := map[events.Key]bool{}
	for _, c := range captures {
		keys[c.Key] = true
	}
	said, tool := heard["message.said"][0].Captures[0], heard["message.part.updated"][0].Captures[0]
	if len(bad) > 0 || !keys[said.Key] || !keys[tool.Key] || !keys[stop.Key] {
		t.Errorf("the stream does not tell of what the plugin told, errors %v:\n%s", bad, told(captures))
	}
}

// answerOpenCode says something and calls a tool first, then ends.
func answerOpenCode(w http.ResponseWriter, r *http.Request, body string) {
	delta, finish := `{"role":"assistant","content":"A look first.","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"echo seen; exit 3\",\"description\":\"Look\"}"}}]}`, "tool_calls"
	if strings.Contains(body, `"role":"tool"`) || !strings.Contains(body, `"tools"`) {
		delta, finish = `{"role":"assistant","content":"All seen."}`, "stop"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"fake-model","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}` + "\n\n"
	fmt.Fprintf(w, chunk, delta, "null")
	fmt.Fprintf(w, chunk, "{}", `"`+finish+`"`)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// TestPromptOfOpenCodeRun: the quotes of `opencode run "..."` are not the person's.
func TestPromptOfOpenCodeRun(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"raise the limit"`: "raise the limit", `"say \"hi\" twice"`: `say "hi" twice`, `"a b" "c d"`: `"a b" "c d"`, `raise`: `raise`, `"`: `"`, `say "hi"`: `say "hi"`,
	} {
		if got := openCodeTyped([]byte(`[{"type":"text","text":` + string(quoted(text)) + `}]`)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
