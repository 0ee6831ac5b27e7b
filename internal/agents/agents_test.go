package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/secrets"
)

func FuzzCodex(f *testing.F)    { fuzzDecode(f, Codex{}) }
func FuzzGemini(f *testing.F)   { fuzzDecode(f, Gemini{}) }
func FuzzCursor(f *testing.F)   { fuzzDecode(f, Cursor{}) }
func FuzzWindsurf(f *testing.F) { fuzzDecode(f, Windsurf{}) }
func FuzzOpenCode(f *testing.F) { fuzzDecode(f, OpenCode{}) }
func FuzzRaw(f *testing.F)      { fuzzDecode(f, Raw{}) }

func readFile(t *testing.T, path ...string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func mustReport(t *testing.T, a Agent, body []byte, m Meta) Report {
	t.Helper()
	r, err := a.Decode(body, m)
	if err != nil {
		t.Fatalf("%s: decode %s: %v", a.Name(), body, err)
	}
	return r
}

// TestAgentsRefuse: a payload that names no event, session or folder is refused by the field's own name.
func TestAgentsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent Agent
		body  string
		field string
	}{
		{Codex{}, `{}`, "hook_event_name"},
		{Codex{}, `{"hook_event_name":"Stop","cwd":"/p"}`, "session_id"},
		{Codex{}, `{"type":"agent-turn-complete","cwd":"/p"}`, "thread-id"},
		{Codex{}, `{"type":"agent-turn-complete","thread-id":"s"}`, "cwd"},
		{Gemini{}, `{"session_id":"s","cwd":"/p"}`, "hook_event_name"},
		{Gemini{}, `{"hook_event_name":"AfterTool","cwd":"/p"}`, "session_id"},
		{Gemini{}, `{"hook_event_name":"AfterTool","session_id":"s"}`, "cwd"},
		{Cursor{}, `{"conversation_id":"s","workspace_roots":["/p"]}`, "hook_event_name"},
		{Cursor{}, `{"hook_event_name":"stop","workspace_roots":["/p"]}`, "conversation_id"},
		{Cursor{}, `{"hook_event_name":"stop","conversation_id":"s","workspace_roots":[]}`, "cwd"},
		{Windsurf{}, `{"trajectory_id":"s","cmemd_cwd":"/p"}`, "agent_action_name"},
		{Windsurf{}, `{"agent_action_name":"pre_user_prompt","cmemd_cwd":"/p"}`, "trajectory_id"},
		{Windsurf{}, `{"agent_action_name":"pre_user_prompt","trajectory_id":"s"}`, "cwd"},
		{OpenCode{}, `{"session":"s","directory":"/p"}`, "hook"},
		{OpenCode{}, `{"hook":"event","input":{"type":"session.idle"},"directory":"/p"}`, "session"},
		{OpenCode{}, `{"hook":"event","input":{"type":"session.idle","properties":{"sessionID":"s"}}}`, "cwd"},
		{Raw{}, `{"session":"s","cwd":"/p"}`, "event"},
		{Raw{}, `{"event":"stop","cwd":"/p"}`, "session"},
		{Raw{}, `{"event":"stop","session":"s"}`, "cwd"},
		{Raw{}, `{"event":"tool","session":"s","cwd":"/p"}`, "tool"},
	} {
		_, err := c.agent.Decode([]byte(c.body), testMeta())
		var field *FieldError
		if !errors.As(err, &field) || field.Field != c.field || !errors.Is(err, ErrMissing) {
			t.Errorf("%s, %s: got %v, want %s missing", c.agent.Name(), c.body, err, c.field)
		}
	}
	for _, a := range agents() {
		var syntax *SyntaxError
		if _, err := a.Decode([]byte(`{"a":`), testMeta()); !errors.As(err, &syntax) {
			t.Errorf("%s, half of JSON: got %v", a.Name(), err)
		}
		if _, err := a.Decode([]byte(`[]`), testMeta()); !errors.Is(err, ErrNotObject) {
			t.Errorf("%s, an array: got %v", a.Name(), err)
		}
		if _, err := a.Decode(make([]byte, MaxPayload+1), testMeta()); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s, too much: got %v", a.Name(), err)
		}
	}
}

// TestRepliesOfAgents has all that each agent is ever told, by event, for a context and a notice.
func TestRepliesOfAgents(t *testing.T) {
	t.Parallel()
	const context = `{"hookSpecificOutput":{"hookEventName":"%s","additionalContext":"a <b>"}%s}`
	heard := map[string]map[string]string{
		"codex": {
			"SessionStart":     fmt.Sprintf(context, "SessionStart", `,"systemMessage":"n"`),
			"UserPromptSubmit": fmt.Sprintf(context, "UserPromptSubmit", ""),
			"PreToolUse":       fmt.Sprintf(context, "PreToolUse", ""),
		},
		"gemini-cli": {
			"SessionStart": fmt.Sprintf(context, "SessionStart", `,"systemMessage":"n"`),
			"BeforeAgent":  fmt.Sprintf(context, "BeforeAgent", ""),
		},
		"cursor":   {"sessionStart": `{"additional_context":"a <b>"}`, "beforeSubmitPrompt": `{"continue":true}`},
		"windsurf": {},
		"opencode": {"session.created": `{"context":"a <b>"}`, "session.resumed": `{"context":"a <b>"}`, "chat.message": `{"context":"a <b>"}`},
		"raw":      {"start": `{"context":"a <b>","notice":"n"}`, "prompt": `{"context":"a <b>"}`},
	}
	for agent, want := range heard {
		a, err := ByName(agent)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for _, event := range eventsOf(t, a) {
			if got := a.Reply(Report{Event: event}, Answer{Context: "a <b>", Notice: "n"}); len(got) > 0 {
				seen[event] = string(got)
			}
			if got := a.Reply(Report{Event: event}, Answer{}); len(got) > 0 && string(got) != `{"continue":true}` {
				t.Errorf("%s, %s: nothing to say became %s", agent, event, got)
			}
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", agent, diff)
		}
	}
}

// eventsOf lists the events of an agent's payloads below testdata.
func eventsOf(t *testing.T, a Agent) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", a.Name(), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, mustReport(t, a, readFile(t, a.Name(), filepath.Base(file)), testMeta()).Event)
	}
	return names
}

// TestRepliesFit: no agent is given more than MaxContext characters.
func TestRepliesFit(t *testing.T) {
	t.Parallel()
	long := ContextOpen + "\n" + strings.Repeat("é", 2*MaxContext) + "\n" + ContextClose
	for _, a := range agents() {
		for _, event := range eventsOf(t, a) {
			var reply any
			if body := a.Reply(Report{Event: event}, Answer{Context: long}); len(body) > 0 {
				if err := json.Unmarshal(body, &reply); err != nil {
					t.Fatal(err)
				}
			}
			eachText(reply, func(s string) {
				if strings.HasPrefix(s, ContextOpen) && (characters(s) > MaxContext || !strings.HasSuffix(s, ContextClose)) {
					t.Errorf("%s, %s: got %d characters, the fence closed: %v", a.Name(), event, characters(s), strings.HasSuffix(s, ContextClose))
				}
			})
		}
	}
}

func eachText(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case map[string]any:
		for _, inner := range v {
			eachText(inner, visit)
		}
	case []any:
		for _, inner := range v {
			eachText(inner, visit)
		}
	}
}

// TestCodexNotify: what the program named by notify is told has the keys of the hooks of the same turn, and two ids.
func TestCodexNotify(t *testing.T) {
	t.Parallel()
	told := mustReport(t, Codex{}, readFile(t, "codex", "agent-turn-complete.json"), testMeta())
	prompt := mustReport(t, Codex{}, readFile(t, "codex", "UserPromptSubmit.json"), testMeta())
	stop := mustReport(t, Codex{}, readFile(t, "codex", "Stop.json"), testMeta())
	if len(told.Captures) != 2 {
		t.Fatalf("got %d captures, want a prompt and a stop", len(told.Captures))
	}
	for i, hook := range []Report{prompt, stop} {
		if got, want := told.Captures[i], hook.Captures[0]; got.Key != want.Key || cmp.Diff(want.Event, got.Event) != "" {
			t.Errorf("%s differs from that of its hook:\n%s", want.Name(), cmp.Diff(want, got))
		}
	}
	if told.Captures[0].ID == told.Captures[1].ID {
		t.Errorf("both captures are called %v", told.Captures[0].ID)
	}
	bare := mustReport(t, Codex{}, []byte(`{"type":"agent-turn-complete","thread-id":"s","cwd":"/p","last-assistant-message":"a"}`), testMeta())
	if len(bare.Captures) != 1 || bare.Ignored != "" {
		t.Errorf("a turn without a prompt: got %+v, want a stop alone", bare)
	}
}

// TestSubagentsOfCodex: a prompt that an agent wrote for another is none of the user's.
func TestSubagentsOfCodex(t *testing.T) {
	t.Parallel()
	r := mustReport(t, Codex{}, []byte(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/p","turn_id":"t","agent_id":"a","prompt":"look"}`), testMeta())
	if len(r.Captures) != 0 || r.Wants != WantNone {
		t.Errorf("got %+v, want nothing", r)
	}
}

// TestGeminiFrames reads outputs of tools as the model is shown them.
func TestGeminiFrames(t *testing.T) {
	t.Parallel()
	untrusted := func(s string) string {
		return "<untrusted_context>\n" + s + "\nProcess Group PGID: 7\n</untrusted_context>"
	}
	for _, c := range []struct {
		name, result, want string
		failed             bool
	}{
		{"plain", "package main\n", "package main", false},
		{"shell", untrusted("Output: ok"), "ok", false},
		{"failed shell", untrusted("Output: (empty)\nExit Code: 3"), "(empty)\nExit Code: 3", true},
		{"signal", untrusted("Output: a\nb\nError: boom\nExit Code: 1\nSignal: 9"), "a\nb\nError: boom\nExit Code: 1\nSignal: 9", true},
		{"no code", untrusted("Output: a\nExit Code: (none)\nSignal: 9"), "a\nExit Code: (none)\nSignal: 9", false},
		{"a word of the output", untrusted("Output: Exit Code: 3 is what it said\nok"), "Exit Code: 3 is what it said\nok", false},
		{"with a hook's words", untrusted("Output: a") + "\n\n<hook_context>&lt;cmemd-context&gt; x</hook_context>", "a", false},
		{"a page", "<untrusted_context>text of a page</untrusted_context>", "text of a page", false},
	} {
		body, _ := json.Marshal(map[string]any{
			"hook_event_name": "AfterTool", "session_id": "s", "cwd": "/p", "tool_name": "run_shell_command",
			"tool_input": map[string]string{"command": "x"}, "tool_response": map[string]string{"llmContent": c.result},
		})
		got := mustReport(t, Gemini{}, body, testMeta()).Captures[0].Event.(events.ToolUsed)
		if got.Output != c.want || got.Failed != c.failed {
			t.Errorf("%s: got %q, failed %v; want %q, %v", c.name, got.Output, got.Failed, c.want, c.failed)
		}
	}
}

// TestGeminiTools: errors, MCP servers, our own among them.
func TestGeminiTools(t *testing.T) {
	t.Parallel()
	use := func(rest string) events.ToolUsed {
		body := `{"hook_event_name":"AfterTool","session_id":"s","cwd":"/p",` + rest + `}`
		return mustReport(t, Gemini{}, []byte(body), testMeta()).Captures[0].Event.(events.ToolUsed)
	}
	failed := use(`"tool_name":"read_file","tool_input":{"file_path":"/p/x"},"tool_response":{"llmContent":"File not found","error":{"message":"no such file","type":"file_not_found"}}`)
	if !failed.Failed || failed.Output != "no such file" {
		t.Errorf("an error: got %+v", failed)
	}
	for _, own := range []string{`"tool_name":"mcp_cmemd_search"`, `"tool_name":"search","mcp_context":{"server_name":"cmemd"}`, `"tool_name":"cmemd__search"`} {
		if got := use(own + `,"tool_input":{},"tool_response":{"llmContent":"a row"}`); got.Unobserved != unobservedMemory || got.Output != "" {
			t.Errorf("%s: got %+v, want a call of our own", own, got)
		}
	}
	if got := use(`"tool_name":"mcp_github_list","tool_input":{},"tool_response":{"llmContent":[{"text":"a"}]}`); got.Unobserved != "" || got.Output != `[{"text":"a"}]` {
		t.Errorf("a server of others: got %+v", got)
	}
}

// TestMemoryThatComesBack: what Gemini puts in front of a prompt is none of the user's words, nor is it the agent's.
func TestMemoryThatComesBack(t *testing.T) {
	t.Parallel()
	memory := "<hook_context>&lt;cmemd-context&gt;\nMemory of earlier work\n&lt;/cmemd-context&gt;</hook_context>"
	for _, c := range []struct{ prompt, want string }{
		{memory + "\n\nfix it", "fix it"},
		{"fix it" + memory, "fix it"},
		{memory + "\n\nfix <b>", "fix <b>"},
	} {
		body, _ := json.Marshal(map[string]any{"hook_event_name": "BeforeAgent", "session_id": "s", "cwd": "/p", "prompt": c.prompt})
		got := mustReport(t, Gemini{}, body, testMeta()).Captures[0].Event.(events.PromptSubmitted)
		if got.Text != c.want {
			t.Errorf("%q: got %q, want %q", c.prompt, got.Text, c.want)
		}
	}
	body, _ := json.Marshal(map[string]any{"hook_event_name": "BeforeAgent", "session_id": "s", "cwd": "/p", "prompt": "a <hook_context quoted"})
	if got := mustReport(t, Gemini{}, body, testMeta()).Captures[0].Event.(events.PromptSubmitted); got.Text != "a <hook_context quoted" {
		t.Errorf("a quoted tag: got %q", got.Text)
	}
}

// TestCursorFolders: the session's folder is the workspace's, a tool's its own.
func TestCursorFolders(t *testing.T) {
	t.Parallel()
	r := mustReport(t, Cursor{}, []byte(`{"hook_event_name":"afterShellExecution","conversation_id":"s","workspace_roots":["/p","/q"],"cwd":"/p/sub","command":"ls","output":""}`), testMeta())
	if e := r.Captures[0].Event.(events.ToolUsed); r.Origin.Cwd != "/p" || e.Cwd != "/p/sub" {
		t.Errorf("got session in %s, tool in %s; want /p and /p/sub", r.Origin.Cwd, e.Cwd)
	}
	r = mustReport(t, Cursor{}, []byte(`{"hook_event_name":"stop","session_id":"s","cwd":"/p","status":"completed"}`), testMeta())
	if r.Origin.Cwd != "/p" || r.Origin.AgentSession != "s" {
		t.Errorf("got %+v", r.Origin)
	}
}

// TestRawIDs: a fact that names itself is known again, whichever delivery brings it.
func TestRawIDs(t *testing.T) {
	t.Parallel()
	other := testMeta()
	other.Delivery[15]++
	body := readFile(t, "raw", "tool.json")
	first, again := mustReport(t, Raw{}, body, testMeta()), mustReport(t, Raw{}, body, other)
	if first.Captures[0].Key != again.Captures[0].Key {
		t.Error("the same fact has two keys")
	}
	unnamed := bytes.Replace(body, []byte(`"t-1"`), []byte(`""`), 1)
	first, again = mustReport(t, Raw{}, unnamed, testMeta()), mustReport(t, Raw{}, unnamed, other)
	if first.Captures[0].Key == again.Captures[0].Key {
		t.Error("two facts without names have one key")
	}
}

// TestPrivateTextOfAgents puts a marked secret and an unmarked one into each string of each payload: neither is captured.
func TestPrivateTextOfAgents(t *testing.T) {
	t.Parallel()
	secret := secrets.Make(3)[0]
	meta := testMeta()
	meta.Redact = redacting()
	for _, a := range agents() {
		files, _ := filepath.Glob(filepath.Join("testdata", a.Name(), "*.json"))
		for _, file := range files {
			var payload any
			if err := json.Unmarshal(readFile(t, a.Name(), filepath.Base(file)), &payload); err != nil {
				t.Fatal(err)
			}
			body, _ := json.Marshal(planted(payload, "", "said <private>hush-hush</private>\n"+secret.Text+"\n"))
			r, err := a.Decode(body, meta)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, c := range r.Captures {
				kept, _ := json.Marshal(c.Event)
				if bytes.Contains(kept, []byte("hush-hush")) || bytes.Contains(kept, []byte(secret.Find)) {
					t.Errorf("%s: kept %s", file, kept)
				}
			}
		}
	}
}

// planted is v with text in front of each string that may hold somebody's words; names and ids stay as they are.
func planted(v any, key, text string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			v[k] = planted(inner, k, text)
		}
	case []any:
		for i, inner := range v {
			v[i] = planted(inner, key, text)
		}
	case string:
		switch key {
		case "prompt", "text", "command", "command_line", "output", "tool_response", "last_assistant_message", "llmContent", "fileDiff",
			"content", "prompt_response", "old_string", "new_string", "user_prompt", "response", "said", "stdout", "stderr", "error",
			"compact_summary", "summary", "error_message", "mcp_result", "last-assistant-message", "input-messages":
			return text + v
		}
	}
	return v
}

func TestAgentOfTranscript(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/home/dev/.claude/projects/-p/s.jsonl":              "claude-code",
		"/home/dev/.codex/sessions/2026/01/02/rollout.jsonl": "codex",
		"/home/dev/.codex/archived_sessions/rollout.jsonl":   "codex",
		"/home/dev/.gemini/tmp/p/chats/session-1.jsonl":      "gemini-cli",
		`C:\Users\dev\.codex\sessions\rollout.jsonl`:         "codex",
		".gemini/tmp/p/chats/session-1.jsonl":                "gemini-cli",
		"/home/dev/old/session.jsonl":                        "",
		"/home/dev/.codex-sessions/rollout.jsonl":            "",
	} {
		if got, ok := AgentOfTranscript(path); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v; want %q", path, got, ok, want)
		}
	}
}

func TestAgentOfLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"type":"queue-operation","operation":"enqueue","sessionId":"s"}`:               "claude-code",
		`{"type":"system","subtype":"init","session_id":"s"}`:                            "claude-code",
		`{"timestamp":"2026-01-02T03:04:06.000Z","type":"session_meta","payload":{}}`:    "codex",
		`{"type":"thread.started","thread_id":"t"}`:                                      "codex",
		`{"sessionId":"s","projectHash":"75","kind":"main"}`:                             "gemini-cli",
		`{"type":"init","session_id":"s","model":"gemini-2.5-flash"}`:                    "gemini-cli",
		`{"type":"step_start","timestamp":1,"sessionID":"ses_1","part":{"type":"step"}}`: "opencode",
		`{"type":"session","version":3,"id":"1","cwd":"/w"}`:                             "",
		`{"role":"user","content":"a session_meta and a sessionId"}`:                     "",
		`Dear diary,`:   "",
		``:              "",
		`["sessionId"]`: "",
		`{"sessionId":`: "",
		"\ufeff" + `{"type":"thread.started","thread_id":"t"}`: "codex",
	} {
		if got, ok := AgentOfLine([]byte(line)); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v; want %q", line, got, ok, want)
		}
	}
}

// TestSharesKeys: every agent with transcripts whose hooks carry ids says so in both.
func TestSharesKeys(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"claude-code": true, "codex": true, "opencode": true, "gemini-cli": false, "cursor": true, "nobody": true} {
		if got := SharesKeys(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func checkDecode(t fataler, a Agent, body []byte) {
	r, err := a.Decode(body, testMeta())
	if err != nil {
		if len(r.Captures) != 0 {
			t.Fatalf("error %v with captures %v", err, r.Captures)
		}
		return
	}
	if (len(r.Captures) == 0) == (r.Ignored == "") {
		t.Fatalf("got %d captures and reason %q", len(r.Captures), r.Ignored)
	}
	for i, c := range r.Captures {
		if c.Origin.AgentSession == "" || c.Origin.Cwd == "" || c.Key.IsZero() || c.ID != nthID(testMeta().Delivery, i) {
			t.Fatalf("capture without session, folder, key or id: %+v", c)
		}
		checkEvent(t, c.Event)
	}
	reply := a.Reply(r, Answer{Context: "c", Notice: "n"})
	if len(reply) > 0 && !json.Valid(reply) {
		t.Fatalf("reply is no JSON: %s", reply)
	}
}

func checkEvent(t fataler, e events.Event) {
	checkText := func(s string, max int) {
		if !utf8.ValidString(s) || dropControls(s) != s || len(s) > max {
			t.Fatalf("%T: text of %d bytes is not fit to be kept: %.200q", e, len(s), s)
		}
	}
	switch e := e.(type) {
	case events.PromptSubmitted:
		checkText(e.Text, MaxPrompt)
	case events.ToolUsed:
		checkText(e.Input, MaxText)
		checkText(e.Output, MaxText)
		checkText(e.Tool, maxName)
	case events.AgentStopped:
		checkText(e.LastMessage, MaxText)
	case events.ContextCompacted:
		checkText(e.Summary, MaxText)
	}
}

func FuzzDecode(f *testing.F) { fuzzDecode(f, ClaudeCode{}) }

// fuzzDecode decodes what is made of the payloads of an agent.
func fuzzDecode(f *testing.F, a Agent) {
	files, err := filepath.Glob("testdata/" + a.Name() + "/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("payloads of %s: got %d, error %v", a.Name(), len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) { checkDecode(t, a, body) })
}

// TestFoldersAreAbsolute: of every agent, a folder that is relative or holds a NUL is refused by its name, and one that is
// absolute on any system is taken.
func TestFoldersAreAbsolute(t *testing.T) {
	t.Parallel()
	forms := map[string]string{
		"claude-code": `{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"p","cwd":%s}`,
		"codex":       `{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"p","cwd":%s}`,
		"gemini-cli":  `{"hook_event_name":"BeforeAgent","session_id":"s","prompt":"p","cwd":%s}`,
		"cursor":      `{"hook_event_name":"beforeSubmitPrompt","conversation_id":"s","prompt":"p","workspace_roots":[%s]}`,
		"windsurf":    `{"agent_action_name":"pre_user_prompt","trajectory_id":"s","tool_info":{"user_prompt":"p"},"cmemd_cwd":%s}`,
		"opencode":    `{"hook":"event","input":{"type":"session.idle","properties":{"sessionID":"s"}},"directory":%s}`,
		"raw":         `{"event":"prompt","session":"s","text":"p","cwd":%s}`,
	}
	for _, a := range agents() {
		form, ok := forms[a.Name()]
		if !ok {
			t.Errorf("%s has no form here", a.Name())
			continue
		}
		for _, cwd := range []string{`"rel/dir"`, `"."`, `"~/src"`, `"C:"`, `"/src\u0000/x"`, `"src\u0000"`} {
			var field *FieldError
			_, err := a.Decode(fmt.Appendf(nil, form, cwd), testMeta())
			if !errors.As(err, &field) || field.Field != "cwd" || !errors.Is(err, ErrNotAbsolute) {
				t.Errorf("%s in %s: got %v, want cwd not absolute", a.Name(), cwd, err)
			}
		}
		for _, cwd := range []string{`"/src"`, `"C:\\src"`, `"c:/src"`, `"\\\\server\\share\\src"`} {
			if _, err := a.Decode(fmt.Appendf(nil, form, cwd), testMeta()); err != nil {
				t.Errorf("%s in %s: got %v", a.Name(), cwd, err)
			}
		}
	}
}
