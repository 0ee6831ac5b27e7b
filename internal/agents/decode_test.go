package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// payload is a hook payload of Claude Code: the common fields and then pairs of name and value.
func payload(event string, pairs ...any) []byte {
	m := map[string]any{"session_id": "s1", "cwd": "/p", "hook_event_name": event}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

func mustDecode(t *testing.T, body []byte) Report {
	t.Helper()
	r, err := ClaudeCode{}.Decode(body, testMeta())
	if err != nil {
		t.Fatalf("decode %s: %v", body, err)
	}
	return r
}

func mustCapture[E events.Event](t *testing.T, body []byte) E {
	t.Helper()
	r := mustDecode(t, body)
	if len(r.Captures) != 1 {
		t.Fatalf("decode %s: got %d captures (ignored: %q), want 1", body, len(r.Captures), r.Ignored)
	}
	e, ok := r.Captures[0].Event.(E)
	if !ok {
		t.Fatalf("decode %s: got %T", body, r.Captures[0].Event)
	}
	return e
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body, field string
		reason            error
	}{
		{"no session", `{"cwd":"/p","hook_event_name":"Stop"}`, "session_id", ErrMissing},
		{"blank session", `{"session_id":" ","cwd":"/p","hook_event_name":"Stop"}`, "session_id", ErrMissing},
		{"session a number", `{"session_id":7,"cwd":"/p","hook_event_name":"Stop"}`, "session_id", ErrMissing},
		{"session null", `{"session_id":null,"cwd":"/p","hook_event_name":"Stop"}`, "session_id", ErrMissing},
		{"no cwd", `{"session_id":"s","hook_event_name":"Stop"}`, "cwd", ErrMissing},
		{"no event", `{"session_id":"s","cwd":"/p"}`, "hook_event_name", ErrMissing},
		{"long session", `{"session_id":"` + strings.Repeat("s", 513) + `","cwd":"/p","hook_event_name":"Stop"}`, "session_id", ErrTooLong},
		{"long cwd", `{"session_id":"s","cwd":"/` + strings.Repeat("p", 4096) + `","hook_event_name":"Stop"}`, "cwd", ErrTooLong},
		{"array", `[1]`, "payload", ErrNotObject},
		{"null", `null`, "payload", ErrNotObject},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := ClaudeCode{}.Decode([]byte(c.body), testMeta())
			var field *FieldError
			if !errors.As(err, &field) || field.Field != c.field || !errors.Is(err, c.reason) {
				t.Errorf("got error %v, want one of field %s: %v", err, c.field, c.reason)
			}
		})
	}
}

func TestDecodeNotJSON(t *testing.T) {
	t.Parallel()
	for body, offset := range map[string]int64{`{"a":1,}`: 8, ``: 0, `{"a":`: 5, `{} x`: 4, "\xff": 1} {
		_, err := ClaudeCode{}.Decode([]byte(body), testMeta())
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("decode %q: got error %v, want a SyntaxError at %d", body, err, offset)
		}
	}
}

func TestDecodeTooLarge(t *testing.T) {
	t.Parallel()
	_, err := ClaudeCode{}.Decode(make([]byte, MaxPayload+1), testMeta())
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("got error %v, want ErrTooLarge", err)
	}
}

func TestUnknownIsIgnored(t *testing.T) {
	t.Parallel()
	r := mustDecode(t, payload("TeaTime", "sugar", map[string]any{"lumps": 2}))
	if len(r.Captures) != 0 || r.Ignored != "TeaTime is not recorded" || r.Wants != WantNone {
		t.Errorf("unknown event: got %+v", r)
	}
	e := mustCapture[events.PromptSubmitted](t, payload("UserPromptSubmit", "prompt", "go", "mood", []int{1}))
	if e.Text != "go" {
		t.Errorf("unknown field: got prompt %q, want go", e.Text)
	}
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", MaxPrompt)
	for _, c := range []struct {
		name, prompt string
		want         events.PromptSubmitted
		machine      bool
	}{
		{"plain", "fix it", events.PromptSubmitted{Text: "fix it"}, false},
		{"trimmed", "  fix it\n", events.PromptSubmitted{Text: "fix it"}, false},
		{"blank", "", events.PromptSubmitted{}, false},
		{"private part", "use <private>pw</private>this", events.PromptSubmitted{Text: "use this"}, false},
		{"all private", "<private>pw</private>\n", events.PromptSubmitted{Private: true}, false},
		{"private and reminder", "<private>a</private><system-reminder>b</system-reminder>", events.PromptSubmitted{Private: true}, false},
		{"unclosed private", "<private>pw", events.PromptSubmitted{Private: true}, false},
		{"notification", "<task-notification>\n<result>x</result>\n</task-notification>", events.PromptSubmitted{}, true},
		{"notification, then words", "<task-notification>x</task-notification>\nnow stop", events.PromptSubmitted{Text: "now stop"}, false},
		{"words about one", "why <task-notification>x</task-notification>?", events.PromptSubmitted{Text: "why <task-notification>x</task-notification>?"}, false},
		{"unclosed notification", "<task-notification> is what?", events.PromptSubmitted{Text: "<task-notification> is what?"}, false},
		{"command", "<command-name>/model</command-name>\n  <command-args></command-args>", events.PromptSubmitted{}, true},
		{"command output", "<local-command-stdout>ok</local-command-stdout>", events.PromptSubmitted{}, true},
		{"shell beside", "<bash-input>ls</bash-input>", events.PromptSubmitted{}, true},
		{"interrupted", "[Request interrupted by user]", events.PromptSubmitted{}, true},
		{"interrupted at a tool", "[Request interrupted by user for tool use]", events.PromptSubmitted{}, true},
		{"about interruptions", "[Request interrupted by user] is what I saw", events.PromptSubmitted{Text: "[Request interrupted by user] is what I saw"}, false},
		{"old caveat", caveatPrefix + ". DO NOT respond", events.PromptSubmitted{}, true},
		{"continued", continuedPrefix + ". The summary", events.PromptSubmitted{}, true},
		{"only a reminder", "<system-reminder>date</system-reminder>", events.PromptSubmitted{}, true},
		{"own context", "a " + ContextOpen + "memory" + ContextClose + "b", events.PromptSubmitted{Text: "a b"}, false},
		{"capped", "x" + long, events.PromptSubmitted{Text: "x" + long[:MaxPrompt-2]}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := mustDecode(t, payload("UserPromptSubmit", "prompt", c.prompt))
			if c.machine {
				if len(r.Captures) != 0 || r.Ignored == "" {
					t.Errorf("got captures %v, reason %q; want none and a reason", r.Captures, r.Ignored)
				}
				return
			}
			c.want.Size = len(c.prompt)
			if diff := cmp.Diff(c.want, r.Captures[0].Event); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestOwnCalls(t *testing.T) {
	t.Parallel()
	mcp := func(name string) any { return map[string]any{"name": name, "source": "x"} }
	for _, c := range []struct {
		tool   string
		server any
		input  any
		own    bool
	}{
		{"mcp__cmemd__search", nil, nil, true},
		{"mcp__plugin_cmemd_cmemd__search", nil, nil, true},
		{"mcp__plugin_x_cmemd__search", nil, nil, true},
		{"renamed", mcp("cmemd"), nil, true},
		{"renamed", mcp("plugin:cmemd:cmemd"), nil, true},
		{"ReadMcpResourceTool", nil, map[string]any{"server": "cmemd", "uri": "memory://x"}, true},
		{"ReadMcpResourceTool", nil, map[string]any{"server": "demo", "uri": "memory://cmemd"}, false},
		{"mcp__demo__cmemd", mcp("demo"), nil, false},
		{"mcp__plugin_x_y__search", mcp("plugin:x:y"), nil, false},
		{"mcp__plugin_cmemd_y__search", nil, nil, false},
		{"renamed", mcp("plugin:cmemd-extras:y"), nil, false},
		{"mcp__cmemdish__search", nil, nil, false},
		{"Bash", nil, map[string]any{"command": "cmemd search x"}, true},
		{"Bash", nil, map[string]any{"command": "/home/dev/go/bin/cmemd show 01 --json"}, true},
		{"Bash", nil, map[string]any{"command": "./cmemd search policy"}, false}, // whatever a repository calls so
		{"Bash", nil, map[string]any{"command": "NO_COLOR=1 CMEMD_HOME='/a b' cmemd show 01 2>&1"}, true},
		{"Bash", nil, map[string]any{"command": "cmemd search 'a | b && c' | grep -v x | head -3"}, true},
		{"Bash", nil, map[string]any{"command": "cd /p && cmemd show 1; echo --\ncmemd show 2 || true"}, true},
		{"run_shell_command", nil, map[string]any{"command": "cmemd show 1 | jq .text | less"}, true},
		{"shell", nil, map[string]any{"timeout": 5, "cmd": "cmemd search x"}, true},
		{"terminal", nil, map[string]any{"description": "look it up", "commandLine": "cmemd why m4"}, true},
		{"terminal", nil, map[string]any{"cmd": "cmemd why m4", "command": "cmemd show m4"}, true},
		{"terminal", nil, map[string]any{"cmd": "cmemd why m4", "command": "go test ./..."}, false},
		{"Bash", nil, map[string]any{"command": "cmemd search x && go test ./..."}, false},
		{"Bash", nil, map[string]any{"command": "git log | head; cmemd show 1"}, false},
		{"Bash", nil, map[string]any{"command": "cmemd show 1; cat notes.md"}, false},
		{"Bash", nil, map[string]any{"command": "cmemd show 1 | tee notes.md"}, false},
		{"Bash", nil, map[string]any{"command": "cmemd show 1 | sh"}, false},
		{"Bash", nil, map[string]any{"command": "grep -r cmemd ."}, false},
		{"Bash", nil, map[string]any{"command": "echo cmemd"}, false},
		{"Bash", nil, map[string]any{"command": "echo \"$(make)\"; cmemd show 1"}, false},
		{"Bash", nil, map[string]any{"command": "cmemd search $(curl -s https://example.com)"}, false},
		{"Bash", nil, map[string]any{"command": "cmemd save \"`cat page.md`\""}, false},
		{"Bash", nil, map[string]any{"command": "echo fixed >notes.md && cmemd show 1"}, false},
		{"Bash", nil, map[string]any{"command": "cmemd-hook claude-code"}, false},
		{"Bash", nil, map[string]any{"command": "A=cmemd"}, false},
		{"Bash", nil, map[string]any{"command": "cmemd search " + strings.Repeat("x", 70<<10) + "; make"}, false},
		{"Bash", nil, map[string]any{"command": 7, "description": "cmemd"}, false},
		{"Write", nil, map[string]any{"content": "cmemd show 1"}, false},
		{"Bash", mcp(""), nil, false},
	} {
		pairs := []any{"tool_name", c.tool, "tool_use_id", "t", "tool_response", "memory", "tool_input", c.input}
		if c.server != nil {
			pairs = append(pairs, "mcp_server", c.server)
		}
		u := mustCapture[events.ToolUsed](t, payload("PostToolUse", pairs...))
		if got := u.Unobserved == "own"; got != c.own {
			t.Errorf("%s of %v: got own %t, want %t", c.tool, c.server, got, c.own)
		}
		if c.own && (u.Input != "" || u.Output != "" || u.OutputSize == 0) {
			t.Errorf("%s: got input %q, output %q of %d bytes; want none, sizes kept", c.tool, u.Input, u.Output, u.OutputSize)
		}
	}
}

func TestToolTexts(t *testing.T) {
	t.Parallel()
	u := mustCapture[events.ToolUsed](t, payload("PostToolUse", "tool_name", "Write", "tool_use_id", "t",
		"tool_input", map[string]any{"content": "keep <private>pw</private>this"},
		"tool_response", map[string]any{"a": []any{"<private>x</private>", "y"}, "data": strings.Repeat("QUJD", 100)}))
	if want := `{"content":"keep this"}`; u.Input != want {
		t.Errorf("input: got %s, want %s", u.Input, want)
	}
	if want := `{"a":["","y"],"data":"[cmemd: 400 bytes of base64 left out]"}`; u.Output != want {
		t.Errorf("output: got %s, want %s", u.Output, want)
	}
	u = mustCapture[events.ToolUsed](t, payload("PostToolUse", "tool_name", "Bash", "tool_response", nil))
	if u.Output != "" || u.Input != "" || u.OutputSize != 0 {
		t.Errorf("null: got %+v, want no texts", u)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	key := func(body []byte) events.Key { return mustDecode(t, body).Captures[0].Key }
	o := session.Origin{Agent: "claude-code", AgentSession: "s1"}
	tool := payload("PostToolUse", "tool_name", "Bash", "tool_use_id", "t1")
	if got, want := key(tool), events.KeyOf(o.Session().String(), "t1"); got != want || got != ToolKey(o, "t1") {
		t.Errorf("tool: got key %v, want %v", got, want)
	}
	if got, want := key(payload("PostToolUseFailure", "tool_name", "Bash", "tool_use_id", "t1")), key(tool); got != want {
		t.Errorf("failed tool: got key %v, want %v", got, want)
	}
	delivery := deliveryKey(testMeta().Delivery)
	for _, body := range [][]byte{
		payload("SessionStart"), payload("SessionEnd"), payload("UserPromptSubmit", "prompt", "x"),
		payload("Stop"), payload("PostToolUse", "tool_name", "Bash"),
		payload("SubagentStop", "agent_type", "x", "last_assistant_message", "x"),
	} {
		if got := key(body); got != delivery {
			t.Errorf("%s: got key %v, want that of the delivery, %v", body, got, delivery)
		}
	}
	again := payload("Stop", "prompt_id", "p1", "last_assistant_message", "yes", "stop_hook_active", true)
	if got := key(again); got != delivery {
		t.Errorf("stop after a stop hook: got key %v, want that of the delivery, %v", got, delivery)
	}
	distinct := map[events.Key]string{}
	for _, body := range [][]byte{
		payload("UserPromptSubmit", "prompt_id", "p1", "prompt", "yes"),
		payload("UserPromptSubmit", "prompt_id", "p2", "prompt", "yes"),
		payload("UserPromptSubmit", "prompt_id", "p1", "prompt", "yes please"),
		payload("Stop", "prompt_id", "p1", "last_assistant_message", "yes"),
		payload("Stop", "prompt_id", "p1", "last_assistant_message", "no"),
		payload("PostCompact", "prompt_id", "p1", "compact_summary", "yes"),
		payload("SubagentStop", "agent_id", "p1", "agent_type", "x", "last_assistant_message", "yes"),
	} {
		k := key(body)
		if other, seen := distinct[k]; seen {
			t.Errorf("%s and %s share key %v", body, other, k)
		}
		distinct[k] = string(body)
	}
	if k := deliveryKey(events.ID{}); !k.IsZero() {
		t.Errorf("no delivery: got key %v, want none", k)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	if a, b := fingerprint(" a\n b"), fingerprint("ab\t"); a != b {
		t.Errorf("white space: got %s and %s, want one", a, b)
	}
	long := strings.Repeat("é ", 5000)
	if a, b := fingerprint(long), fingerprint(strings.ReplaceAll(long, " ", "")); a != b || !strings.HasPrefix(a, "10000.") {
		t.Errorf("long text: got %s and %s, want one of 10000 bytes", a, b)
	}
	// It must not tell what a text said: of 10,000 texts of one length very many share each.
	seen := map[string]int{}
	for i := range 10_000 {
		seen[fingerprint(fmt.Sprintf("%04d", i))]++
	}
	if len(seen) > 256 {
		t.Errorf("got %d fingerprints of one length, want at most 256", len(seen))
	}
}

func TestCompactSummary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, want string }{
		"hook":        {"<analysis>long</analysis>\n<summary>\n1. Done.\n</summary>", "1. Done."},
		"no analysis": {"<summary>1. Done.</summary>", "1. Done."},
		"bare":        {"1. Done.", "1. Done."},
		"unclosed":    {"<analysis>a</analysis>\n<summary>1. Done.", "<summary>1. Done."},
		"private":     {"<summary>1. <private>x</private>Done.</summary>", "1. Done."},
		"transcript":  {continuedPrefix + ".\n\nSummary:\n1. Done.\n\nIf you need specific details from before compaction (x)\nContinue the conversation from where it left off", "1. Done."},
		"old":         {continuedPrefix + ". The conversation is summarized below:\nAnalysis:\na\n\nSummary:\n1. Done.\n\nPlease continue the conversation from where we left it off", "1. Done."},
		"other words": {continuedPrefix + ".\n1. Done.", "1. Done."},
	} {
		if got := new(scrubber).compactSummary(c.raw); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestWants(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]Want{
		"startup": WantStartup, "": WantStartup, "clear": WantClear, "compact": WantCompact,
		"resume": WantResume, "fork": WantResume, "unheard of": WantResume,
	} {
		if got := mustDecode(t, payload("SessionStart", "source", source)).Wants; got != want {
			t.Errorf("source %q: got want %q, want %q", source, got, want)
		}
	}
	if got := mustDecode(t, payload("Stop", "source", "startup")).Wants; got != WantNone {
		t.Errorf("Stop: got want %q, want none", got)
	}
}

func TestWantsBrief(t *testing.T) {
	t.Parallel()
	read := func(input map[string]any, more ...any) []byte {
		return payload("PreToolUse", append([]any{"tool_name", "Read", "tool_input", input}, more...)...)
	}
	for name, c := range map[string]struct {
		payload      []byte
		want         Want
		prompt, file string
	}{
		"prompt":             {payload("UserPromptSubmit", "prompt", "fix <private>it</private> now"), WantPrompt, "fix  now", ""},
		"private prompt":     {payload("UserPromptSubmit", "prompt", "<private>fix it</private>"), WantNone, "", ""},
		"machine's prompt":   {payload("UserPromptSubmit", "prompt", "<task-notification>x</task-notification>"), WantNone, "", ""},
		"read":               {read(map[string]any{"file_path": "/a/b.go"}), WantFile, "", "/a/b.go"},
		"read in part":       {read(map[string]any{"file_path": "/a/b.go", "offset": 10, "limit": 20, "pages": "1-5"}), WantFile, "", "/a/b.go"},
		"read by a subagent": {read(map[string]any{"file_path": "/a/b.go"}, "agent_id", "a"), WantNone, "", ""},
		"write":              {read(map[string]any{"file_path": "/a/b.go", "content": "x"}), WantNone, "", ""},
		"edit":               {read(map[string]any{"old_string": "x", "file_path": "/a/b.go"}), WantNone, "", ""},
		"shell":              {read(map[string]any{"command": "cat x"}), WantNone, "", ""},
		"no input":           {payload("PreToolUse", "tool_name", "Read"), WantNone, "", ""},
		"after it was read":  {payload("PostToolUse", "tool_name", "Read", "tool_input", map[string]any{"file_path": "/a/b.go"}), WantNone, "", ""},
	} {
		got := mustDecode(t, c.payload)
		if got.Wants != c.want || got.Prompt != c.prompt || got.File != c.file {
			t.Errorf("%s: got %q, prompt %q, file %q, want %q, %q, %q", name, got.Wants, got.Prompt, got.File, c.want, c.prompt, c.file)
		}
	}
}

func TestSubagents(t *testing.T) {
	t.Parallel()
	u := mustCapture[events.ToolUsed](t, payload("PostToolUse", "tool_name", "Bash", "agent_id", "a", "agent_type", "Explore"))
	if u.SubagentID != "a" || u.SubagentType != "Explore" {
		t.Errorf("in a subagent: got %q %q, want a Explore", u.SubagentID, u.SubagentType)
	}
	u = mustCapture[events.ToolUsed](t, payload("PostToolUse", "tool_name", "Bash", "agent_type", "reviewer"))
	if u.SubagentID != "" || u.SubagentType != "" {
		t.Errorf("agent started as a type: got subagent %q %q, want none", u.SubagentID, u.SubagentType)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given any
		want  int64
	}{{12, 12}, {12.9, 12}, {-3, 0}, {"12", 0}, {nil, 0}, {json.Number("1e300"), 0}} {
		u := mustCapture[events.ToolUsed](t, payload("PostToolUse", "tool_name", "Bash", "duration_ms", c.given))
		if u.DurationMS != c.want {
			t.Errorf("duration %v: got %d ms, want %d", c.given, u.DurationMS, c.want)
		}
	}
}

func TestByName(t *testing.T) {
	t.Parallel()
	a, err := ByName("claude-code")
	if err != nil || a.Name() != "claude-code" {
		t.Errorf("claude-code: got %v, error %v", a, err)
	}
	_, err = ByName("hal")
	if !errors.Is(err, ErrUnknownAgent) || !strings.Contains(err.Error(), "claude-code") {
		t.Errorf("hal: got error %v, want ErrUnknownAgent with the known names", err)
	}
}

func TestSetOrigin(t *testing.T) {
	t.Parallel()
	r := mustDecode(t, payload("SessionStart"))
	o := r.Origin
	o.Project = "p"
	r.SetOrigin(o)
	if r.Origin != o || r.Captures[0].Origin != o {
		t.Errorf("got %+v and %+v, want %+v", r.Origin, r.Captures[0].Origin, o)
	}
}

// anyJSON draws a JSON value.
func anyJSON() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny[bool]), rapid.Map(rapid.Float64Range(-1e9, 1e9), toAny[float64]),
		rapid.Map(rapid.String(), toAny[string]),
		rapid.Map(rapid.SampledFrom([]string{"<private>x", "<task-notification>", ContextOpen + "a" + ContextClose, "\x00\x1b[1m"}), toAny[string]),
	)
	return rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(leaf, 0, 4), toAny[[]any]),
		rapid.Map(rapid.MapOfN(rapid.String(), leaf, 0, 4), toAny[map[string]any]))
}

func toAny[T any](v T) any { return v }

// TestDecodeAnything: whatever fields a payload has, decoding ends in a report whose captures name a session, are valid
// text without control characters, and hold nothing private; or in an error.
func TestDecodeAnything(t *testing.T) {
	t.Parallel()
	fields := []string{"prompt", "prompt_id", "tool_name", "tool_use_id", "tool_input", "tool_response", "error",
		"agent_id", "agent_type", "last_assistant_message", "compact_summary", "trigger", "source", "reason",
		"duration_ms", "mcp_server", "transcript_path", "session_id", "cwd", "other"}
	names := []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStop", "Stop",
		"StopFailure", "PostCompact", "SessionEnd", "PreToolUse"}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(rapid.SampledFrom(fields), anyJSON()).Draw(t, "fields")
		m["hook_event_name"] = rapid.SampledFrom(names).Draw(t, "event")
		if rapid.IntRange(0, 9).Draw(t, "named") > 0 {
			m["session_id"], m["cwd"] = "s", "/p"
		}
		body, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		checkDecode(t, ClaudeCode{}, body)
	})
}

type fataler interface {
	Fatalf(format string, args ...any)
}

// BenchmarkDecode decodes a PostToolUse of 1 kB: the capture path has to take more than 6,000 of them a second.
func BenchmarkDecode(b *testing.B) {
	body := payload("PostToolUse", "prompt_id", "00000000-0000-4000-8000-000000000002", "permission_mode", "default",
		"transcript_path", "/home/dev/.claude/projects/-home-dev-project/00000000-0000-4000-8000-000000000001.jsonl",
		"effort", map[string]any{"level": "medium"}, "tool_name", "Bash", "tool_use_id", "toolu_000000000000000000000001",
		"tool_input", map[string]any{"command": "go test ./...", "description": "Run the tests"}, "duration_ms", 12,
		"tool_response", map[string]any{"stdout": strings.Repeat("ok  \tgithub.com/x/y\t0.3s\n", 20), "stderr": "", "interrupted": false})
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (ClaudeCode{}).Decode(body, testMeta()); err != nil {
			b.Fatal(err)
		}
	}
}
