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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

func FuzzCodexRollout(f *testing.F) { fuzzTranscript(f, "codex") }
func FuzzGeminiChat(f *testing.F)   { fuzzTranscript(f, "gemini-cli") }
func FuzzOpenCodeRun(f *testing.F)  { fuzzTranscript(f, "opencode") }

func fuzzTranscript(f *testing.F, agent string) {
	files, err := filepath.Glob("testdata/" + agent + "/transcripts/*.jsonl")
	if err != nil || len(files) == 0 {
		f.Fatalf("transcripts of %s: got %d, error %v", agent, len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
		for line := range bytes.Lines(body) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		captures, bad, p := readAllOf(t, agent, "/t/s1.jsonl", bytes.NewReader(body))
		checkTranscript(t, captures)
		if p.Offset+p.Partial != int64(len(body)) || p.Malformed != len(bad) {
			t.Errorf("got %+v and %d errors of %d bytes", p, len(bad), len(body))
		}
	})
}

func transcriptOf(t *testing.T, agent, name string) []session.Capture {
	t.Helper()
	captures, bad, _ := readAllOf(t, agent, "/t/"+name, bytes.NewReader(readFile(t, agent, "transcripts", name)))
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	return captures
}

// TestAgentsTwice: what hooks and transcripts of one session both report has one key and says the same.
func TestAgentsTwice(t *testing.T) {
	t.Parallel()
	const rollout = "rollout-2026-11-20T16-53-14-00000000-0000-4000-8000-000000000001.jsonl"
	for _, c := range []struct {
		agent, file string
		want        map[string]int // by hook
	}{
		{"codex", rollout, map[string]int{"PostToolUse": 2, "UserPromptSubmit": 1, "Stop": 1, "agent-turn-complete": 2}},
		{"opencode", "run.jsonl", map[string]int{"message.part.updated": 5, "message.said": 1, "session.idle": 1}},
	} {
		captures := transcriptOf(t, c.agent, c.file)
		byKey := map[events.Key]events.Event{}
		for _, cap := range captures {
			byKey[cap.Key] = cap.Event
		}
		a, err := ByName(c.agent)
		if err != nil {
			t.Fatal(err)
		}
		shared := map[string]int{}
		files, _ := filepath.Glob(filepath.Join("testdata", c.agent, "*.json"))
		for _, file := range files {
			r := mustReport(t, a, readFile(t, c.agent, filepath.Base(file)), testMeta())
			for _, hook := range r.Captures {
				got, ok := byKey[hook.Key]
				if !ok {
					continue
				}
				shared[r.Event]++
				// Only a transcript knows how a command of Codex ended; sizes are those of either form; a stream names no folder.
				same := cmpopts.IgnoreFields(events.ToolUsed{}, "InputSize", "OutputSize", "Failed", "DurationMS", "Cwd")
				if diff := cmp.Diff(hook.Event, got, same); diff != "" {
					t.Errorf("%s (-hook +transcript):\n%s", file, diff)
				}
			}
		}
		if diff := cmp.Diff(c.want, shared); diff != "" {
			t.Errorf("%s, reported twice (-want +got):\n%s", c.agent, diff)
		}
	}
}

// TestGeminiTwice: a chat and the stream of the same session name its tool calls alike.
func TestGeminiTwice(t *testing.T) {
	t.Parallel()
	keys := map[events.Key]bool{}
	for _, c := range transcriptOf(t, "gemini-cli", "session.jsonl") {
		keys[c.Key] = true
	}
	tools := 0
	for _, c := range transcriptOf(t, "gemini-cli", "stream.jsonl") {
		if _, ok := c.Event.(events.ToolUsed); ok && keys[c.Key] {
			tools++
		}
	}
	if tools != 4 {
		t.Errorf("got %d tool calls that both name, want 4", tools)
	}
}

// told writes captures down: one a line.
func told(captures []session.Capture) string {
	var lines []string
	for _, c := range captures {
		switch e := c.Event.(type) {
		case events.SessionOpened:
			lines = append(lines, "open "+c.Origin.AgentSession+" "+c.Origin.Cwd)
		case events.PromptSubmitted:
			lines = append(lines, "prompt "+e.Text)
		case events.ToolUsed:
			how := ""
			if e.Failed {
				how = " failed"
			}
			lines = append(lines, fmt.Sprintf("tool %s%s %s -> %s", e.Tool, how, e.Input, e.Output))
		case events.AgentStopped:
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("stop %s %s %s", e.Cause, e.Error, e.LastMessage)))
		case events.ContextCompacted:
			lines = append(lines, "compact "+e.Summary)
		}
	}
	return strings.Join(lines, "\n")
}

// TestRollouts reads the forms that Codex has written over its versions.
func TestRollouts(t *testing.T) {
	t.Parallel()
	const meta = `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"s","cwd":"/p"}}`
	line := func(kind, payload string) string {
		return `{"timestamp":"2026-01-02T03:04:06Z","type":"` + kind + `","payload":` + payload + `}`
	}
	item := func(payload string) string { return line("response_item", payload) }
	say := func(role, text string) string {
		quoted, _ := json.Marshal(text)
		kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
		return item(fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":%q,"text":%s}]}`, role, kind, quoted))
	}
	call := func(name, arguments string) string {
		quoted, _ := json.Marshal(arguments)
		return item(fmt.Sprintf(`{"type":"function_call","name":%q,"arguments":%s,"call_id":"c1"}`, name, quoted))
	}
	output := func(raw string) string {
		return item(`{"type":"function_call_output","call_id":"c1","output":` + raw + `}`)
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"an answer without the end of its turn", []string{meta, say("user", "go"), say("assistant", "a"), say("assistant", "b")},
			"open s /p\nprompt go\nstop stop  b"},
		{"two prompts", []string{meta, say("user", "go"), say("assistant", "a"), say("user", "on"), say("assistant", "b")},
			"open s /p\nprompt go\nstop stop  a\nprompt on\nstop stop  b"},
		{"words before a call are not the last", []string{meta, say("assistant", "a"), call("shell", `{"command":["bash","-lc","ls"]}`), output(`"x"`)},
			"open s /p\ntool Bash {\"command\":\"ls\"} -> x"},
		{"shell with metadata", []string{meta, call("shell", `{"command":["bash","-lc","ls"],"workdir":"/w"}`), output(`"{\"output\":\"no\\n\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.5}}"`)},
			"open s /p\ntool Bash failed {\"command\":\"ls\"} -> no\n"},
		{"shell of words", []string{meta, call("shell", `{"command":["git","status"]}`), output(`{"content":"clean","success":true}`)},
			"open s /p\ntool Bash {\"command\":\"git status\"} -> clean"},
		{"framed output", []string{meta, call("exec_command", `{"cmd":"false"}`), output(`"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nboom"`)},
			"open s /p\ntool Bash failed {\"command\":\"false\"} -> boom"},
		{"a frame that a program prints", []string{meta, call("exec_command", `{"cmd":"cat log"}`), output(`"it said\nExit code: 1\nOutput:\nboom"`)},
			"open s /p\ntool Bash {\"command\":\"cat log\"} -> it said\nExit code: 1\nOutput:\nboom"},
		{"older events tell of the end", []string{meta, call("shell_command", `{"command":"x"}`),
			line("event_msg", `{"type":"exec_command_end","call_id":"c1","aggregated_output":"whole","exit_code":1,"duration":{"secs":1,"nanos":5000000}}`), output(`"cut"`)},
			"open s /p\ntool Bash failed {\"command\":\"x\"} -> whole"},
		{"a patch", []string{meta, item(`{"type":"custom_tool_call","name":"apply_patch","call_id":"c1","input":"*** Begin Patch\n*** End Patch"}`),
			item(`{"type":"custom_tool_call_output","call_id":"c1","output":"{\"output\":\"Success\",\"metadata\":{\"exit_code\":0}}"}`)},
			"open s /p\ntool apply_patch {\"command\":\"*** Begin Patch\\n*** End Patch\"} -> Success"},
		{"a local shell", []string{meta, item(`{"type":"local_shell_call","call_id":"c1","action":{"type":"exec","command":["ls","-l"]}}`), output(`"x"`)},
			"open s /p\ntool Bash {\"command\":\"ls -l\"} -> x"},
		{"a web search", []string{meta, item(`{"type":"web_search_call","id":"ws1","status":"completed","action":{"type":"search","query":"q"}}`)},
			"open s /p\ntool web_search {\"type\":\"search\",\"query\":\"q\"} -> "},
		{"contents", []string{meta, call("mcp__x__y", `{}`), output(`[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:"}]`)},
			"open s /p\ntool mcp__x__y {} -> a"},
		{"our own", []string{meta, call("mcp__cmemd__search", `{"query":"x"}`), output(`"a row"`)},
			"open s /p\ntool mcp__cmemd__search  -> "},
		{"a call without a result", []string{meta, call("exec_command", `{"cmd":"sleep 9"}`)}, ""},
		{"a result without a call", []string{meta, output(`"x"`)}, ""},
		{"what Codex says in the user's place", []string{meta, say("user", "<environment_context>\n <cwd>/p</cwd>\n</environment_context>"),
			say("user", "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nbe good\n</INSTRUCTIONS>"), say("user", "<user_instructions>x</user_instructions>"),
			say("user", "<turn_aborted>\nx\n</turn_aborted>"), say("user", "<environment_context>x</environment_context>\ngo")},
			"open s /p\nprompt go"},
		{"a mark of its own", []string{meta, item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"a reminder"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["reminders.x"]}}`)}, ""},
		{"an aborted turn", []string{meta, say("user", "go"), say("assistant", "a"), line("event_msg", `{"type":"turn_aborted"}`), say("user", "on")},
			"open s /p\nprompt go\nprompt on"},
		{"a failed turn", []string{meta, line("event_msg", `{"type":"task_started","turn_id":"t1"}`), say("user", "go"), line("event_msg", `{"type":"error","message":"boom","codex_error_info":"usage_limit_exceeded"}`),
			line("event_msg", `{"type":"task_complete","turn_id":"t1","last_agent_message":null}`)},
			"open s /p\nprompt go\nstop failure usage_limit_exceeded"},
		{"a failed turn that says so at its end", []string{meta, line("event_msg", `{"type":"task_started","turn_id":"t1"}`), say("user", "go"),
			line("event_msg", `{"type":"task_complete","turn_id":"t1","last_agent_message":null,"error":{"message":"boom","codex_error_info":"other"}}`)},
			"open s /p\nprompt go\nstop failure other"},
		{"a program that was aborted", []string{meta, item(`{"type":"custom_tool_call","call_id":"c1","name":"exec","input":"await tools.exec_command({cmd: 'ls'});"}`),
			item(`{"type":"custom_tool_call_output","call_id":"c1","output":"aborted by user after 7.9s"}`), line("event_msg", `{"type":"turn_aborted"}`),
			line("event_msg", `{"type":"item_completed","item":{"type":"CommandExecution","id":"exec-1","command":["bash","-lc","ls"],"cwd":"file:///p","aggregated_output":"x","exit_code":0}}`)},
			"open s /p\ntool Bash {\"command\":\"ls\"} -> x"},
		{"the end of a turn, once", []string{meta, line("event_msg", `{"type":"task_started","turn_id":"t1"}`), say("assistant", "a"), line("event_msg", `{"type":"task_complete","turn_id":"t1","last_agent_message":"a"}`),
			line("event_msg", `{"type":"task_started","turn_id":"t2"}`), say("user", "on")},
			"open s /p\nstop stop  a\nprompt on"},
		{"compacted", []string{meta, say("user", "go"), line("compacted", `{"message":"what was done"}`)}, "open s /p\nprompt go\ncompact what was done"},
		{"a fork keeps its own name", []string{meta, strings.Replace(meta, `"s"`, `"parent"`, 1), say("user", "go")}, "open s /p\nprompt go"},
		{"a subagent", []string{strings.Replace(meta, `"id":"s"`, `"id":"child","session_id":"s"`, 1), say("user", "look"), call("exec_command", `{"cmd":"ls"}`), output(`"x"`),
			say("assistant", "there"), line("event_msg", `{"type":"task_complete","last_agent_message":"there"}`)},
			"open s /p\ntool Bash {\"command\":\"ls\"} -> x\ntool SubagentStop  -> there"},
		{"the oldest form", []string{`{"id":"s","timestamp":"2025-05-02T03:04:05Z","instructions":null,"git":{"branch":"main"}}`, `{"record_type":"state"}`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`,
			`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c1"}`, `{"type":"function_call_output","call_id":"c1","output":"x"}`},
			"open s \nprompt go\ntool Bash {\"command\":\"ls\"} -> x"},
		{"named by its file", []string{say("user", "go")}, "open s1 \nprompt go"},
	} {
		captures, bad, _ := readAllOf(t, "codex", "/t/s1.jsonl", strings.NewReader(strings.Join(c.lines, "\n")+"\n"))
		if len(bad) > 0 {
			t.Errorf("%s: %v", c.name, bad)
		}
		checkTranscript(t, captures)
		if diff := cmp.Diff(c.want, told(captures)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestExecStream: what `codex exec --json` prints has no time: it is refused, line by line, rather than taken for nothing.
func TestExecStream(t *testing.T) {
	t.Parallel()
	const stream = `{"type":"thread.started","thread_id":"s"}` + "\n" + `{"type":"item.completed","item":{"id":"item_5","type":"command_execution"}}` + "\n"
	captures, bad, p := readAllOf(t, "codex", "/t/s1.jsonl", strings.NewReader(stream))
	var field *FieldError
	if len(captures) != 0 || p.Malformed != 2 || !errors.As(bad[0], &field) || field.Field != "timestamp" {
		t.Errorf("got %d captures, errors %v; want two lines without a timestamp", len(captures), bad)
	}
}

// TestChats reads what Gemini CLI writes and prints beside the recorded sessions.
func TestChats(t *testing.T) {
	t.Parallel()
	const meta = `{"sessionId":"s","projectHash":"h","startTime":"2026-01-02T03:04:05Z","kind":"main"}`
	record := func(kind, rest string) string {
		return `{"timestamp":"2026-01-02T03:04:06Z","type":"` + kind + `",` + rest + `}`
	}
	shell := func(status string) string {
		return `{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"` + status + `","result":[{"functionResponse":{"response":{"output":"<untrusted_context>\nOutput: x\n</untrusted_context>\n\n<hook_context>MEMORY</hook_context>"}}}]}`
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a turn", []string{meta, record("user", `"id":"u1","content":[{"text":"<hook_context>M</hook_context>\n\ngo"}]`), record("gemini", `"id":"g1","content":"done"`)},
			"open s \nprompt go\nstop stop  done"},
		{"a record that grows", []string{meta, record("gemini", `"id":"g1","content":"a"`), record("gemini", `"id":"g1","content":"a","toolCalls":[`+shell("executing")+`]`),
			record("gemini", `"id":"g1","content":"a","toolCalls":[`+shell("success")+`]`), record("gemini", `"id":"g1","content":"a","toolCalls":[`+shell("success")+`]`)},
			"open s \ntool run_shell_command {\"command\":\"ls\"} -> x"},
		{"a cancelled call", []string{meta, record("gemini", `"id":"g1","content":"","toolCalls":[`+shell("cancelled")+`]`)},
			"open s \ntool run_shell_command failed {\"command\":\"ls\"} -> x"},
		{"an error", []string{meta, record("gemini", `"id":"g1","content":"","toolCalls":[{"id":"c1","name":"read_file","args":{},"status":"error","result":[{"functionResponse":{"response":{"error":"no such file"}}}]}]`)},
			"open s \ntool read_file failed {} -> no such file"},
		{"directories", []string{strings.Replace(meta, `"kind"`, `"directories":["/d"],"kind"`, 1), record("user", `"id":"u1","content":"go"`)}, "open s /d\nprompt go"},
		{"a place that is none", []string{meta, `{"$set":{"messages":[{"content":[{"text":"- **Workspace Directories:**\n  - relative"}]}]}}`, record("user", `"id":"u1","content":"go"`)}, "open s \nprompt go"},
		{"a subagent", []string{strings.Replace(meta, `"main"`, `"subagent"`, 1), record("user", `"id":"u1","content":"look"`), record("gemini", `"id":"g1","content":"there"`)}, "open s \nstop stop  there"},
		{"kinds of no interest", []string{meta, record("info", `"content":"x"`), record("warning", `"content":"x"`)}, ""},
		{"stream, in pieces", []string{`{"type":"init","timestamp":"2026-01-02T03:04:05Z","session_id":"s"}`, record("message", `"role":"user","content":"go"`),
			record("message", `"role":"assistant","content":"do","delta":true`), record("message", `"role":"assistant","content":"ne","delta":true`), record("result", `"status":"success"`)},
			"open s \nprompt go\nstop stop  done"},
		{"stream, an error", []string{`{"type":"init","timestamp":"2026-01-02T03:04:05Z","session_id":"s"}`, record("tool_use", `"tool_name":"read_file","tool_id":"c1","parameters":{}`),
			record("tool_result", `"tool_id":"c1","status":"error","error":{"type":"x","message":"no such file"}`)}, "open s \ntool read_file failed {} -> no such file"},
		{"stream, an exit code", []string{`{"type":"init","timestamp":"2026-01-02T03:04:05Z","session_id":"s"}`, record("tool_use", `"tool_name":"run_shell_command","tool_id":"c1","parameters":{}`),
			record("tool_result", `"tool_id":"c1","status":"success","output":"Command exited with code: 3"`)}, "open s \ntool run_shell_command failed {} -> Command exited with code: 3"},
	} {
		captures, bad, _ := readAllOf(t, "gemini-cli", "/t/s1.jsonl", strings.NewReader(strings.Join(c.lines, "\n")+"\n"))
		if len(bad) > 0 {
			t.Errorf("%s: %v", c.name, bad)
		}
		checkTranscript(t, captures)
		if diff := cmp.Diff(c.want, told(captures)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestRuns reads what OpenCode prints beside the recorded run.
func TestRuns(t *testing.T) {
	t.Parallel()
	line := func(kind, part string) string {
		return `{"type":"` + kind + `","timestamp":1795193711128,"sessionID":"s","part":` + part + `}`
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"two texts of a message", []string{line("text", `{"messageID":"m1","text":"a"}`), line("text", `{"messageID":"m1","text":"b"}`), line("step_finish", `{"messageID":"m1","reason":"stop"}`)},
			"open s \nstop stop  a\nb"},
		{"tools go on", []string{line("text", `{"messageID":"m1","text":"a"}`), line("step_finish", `{"messageID":"m1","reason":"tool-calls"}`), line("step_finish", `{"messageID":"m2","reason":"length"}`)},
			"open s \nstop stop"},
		{"an error", []string{`{"type":"error","timestamp":1795193711128,"sessionID":"s","error":{"name":"APIError","data":{}}}`}, "open s \nstop failure APIError"},
		{"a call that goes on", []string{line("tool_use", `{"type":"tool","tool":"bash","callID":"c1","state":{"status":"running"}}`)}, ""},
	} {
		captures, bad, _ := readAllOf(t, "opencode", "/t/s1.jsonl", strings.NewReader(strings.Join(c.lines, "\n")+"\n"))
		if len(bad) > 0 {
			t.Errorf("%s: %v", c.name, bad)
		}
		if diff := cmp.Diff(c.want, told(captures)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	for line, want := range map[string]string{`{"type":"text","timestamp":1795193711128}`: "sessionID", `{"type":"text","sessionID":"s"}`: "timestamp"} {
		_, bad, _ := readAllOf(t, "opencode", "/t/s1.jsonl", strings.NewReader(line+"\n"))
		var field *FieldError
		if len(bad) != 1 || !errors.As(bad[0], &field) || field.Field != want {
			t.Errorf("%s: got %v, want %s missing", line, bad, want)
		}
	}
}

// TestPublicRollouts reads rollouts that others made up for their own readers.
func TestPublicRollouts(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "fixtures", "transcripts", "public", "other-agents", "codex-*.jsonl"))
	if len(files) == 0 {
		t.Skip("the public transcripts are not here")
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		captures, bad, _ := readAllOf(t, "codex", file, bytes.NewReader(body))
		checkTranscript(t, captures)
		prompts := 0
		for _, c := range captures {
			if _, ok := c.Event.(events.PromptSubmitted); ok {
				prompts++
			}
		}
		if len(bad) > 0 || prompts != 1 {
			t.Errorf("%s: got %d prompts, errors %v; want one and none", filepath.Base(file), prompts, bad)
		}
	}
}
