package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// readAll reads a transcript of Claude Code to its end.
func readAll(t *testing.T, r io.Reader) (captures []session.Capture, bad []error, p Progress) {
	t.Helper()
	return readAllOf(t, "claude-code", "/t/s1.jsonl", r)
}

// readAllOf reads an agent's transcript to its end.
func readAllOf(t *testing.T, agent, path string, r io.Reader) (captures []session.Capture, bad []error, p Progress) {
	t.Helper()
	tr, err := ReadTranscript(agent, r, path)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range tr.Captures() {
		if err != nil {
			bad = append(bad, err)
			continue
		}
		captures = append(captures, c)
	}
	return captures, bad, tr.Progress()
}

// TestTranscripts reads each transcript below testdata and compares what it becomes with its golden file.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/transcripts/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d transcripts, error %v; want some", len(files), err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		agent := filepath.Base(filepath.Dir(filepath.Dir(file)))
		captures, bad, p := readAllOf(t, agent, "/t/"+filepath.Base(file), f)
		if len(captures) == 0 {
			t.Fatalf("%s: nothing was captured: %v, %+v", file, bad, p)
		}
		got := marshal(t, map[string]any{
			"captures": goldenCaptures(captures), "progress": p, "malformed": fmt.Sprint(bad), "origin": captures[0].Origin,
		})
		compareGolden(t, goldenPath(file), got)
	}
}

// TestOneSessionTwice: what the recorded hooks of a session report, its transcript reports under the same keys, and in
// the same words.
func TestOneSessionTwice(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/claude-code/transcripts/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	captures, _, _ := readAll(t, f)
	byKey := map[events.Key]events.Event{}
	for _, c := range captures {
		byKey[c.Key] = c.Event
	}
	shared := map[string]int{}
	files, _ := filepath.Glob("testdata/claude-code/*.json")
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := mustDecode(t, body)
		if len(r.Captures) == 0 || r.Origin.AgentSession != captures[0].Origin.AgentSession {
			continue
		}
		c := r.Captures[0]
		if u, ok := c.Event.(events.ToolUsed); ok && u.SubagentID != "" || c.Key == deliveryKey(testMeta().Delivery) {
			continue // in the subagent's own transcript; in none
		}
		got, ok := byKey[c.Key]
		if !ok {
			t.Errorf("%s: its key is not in the transcript: %+v", filepath.Base(file), c.Event)
			continue
		}
		shared[r.Event]++
		if diff := cmp.Diff(c.Event, got, sameFact()); diff != "" {
			t.Errorf("%s: hook and transcript differ (-hook +transcript):\n%s", filepath.Base(file), diff)
		}
	}
	want := map[string]int{"PostToolUse": 5, "PostToolUseFailure": 2, "UserPromptSubmit": 1, "Stop": 2, "PostCompact": 1}
	if diff := cmp.Diff(want, shared); diff != "" {
		t.Errorf("reported twice (-want +got):\n%s", diff)
	}
}

// TestCodexProgramTwice: what hooks report of the calls that a program made, the rollout reports under the same keys, and not the
// program as well.
func TestCodexProgramTwice(t *testing.T) {
	t.Parallel()
	path := "testdata/codex/transcripts/rollout-2026-11-29T11-47-47-00000000-0000-4000-8000-000000000100.jsonl"
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	captures, _, _ := readAllOf(t, "codex", path, f)
	byKey := map[events.Key]events.ToolUsed{}
	for _, c := range captures {
		u, ok := c.Event.(events.ToolUsed)
		if byKey[c.Key] = u; ok && u.Tool == codexProgram && !u.Failed {
			t.Errorf("a program was captured beside what it called: %s", u.Input)
		}
	}
	files, _ := filepath.Glob("testdata/codex/PostToolUse-program-*.json")
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hook := mustReport(t, Codex{}, body, testMeta()).Captures[0]
		u := hook.Event.(events.ToolUsed)
		if got, ok := byKey[hook.Key]; !ok || got.Tool != u.Tool || got.Unobserved != u.Unobserved {
			t.Errorf("%s: the hook reports %+v, the rollout %+v", file, u, got)
		}
	}
	if len(files) != 3 {
		t.Errorf("got %d payloads of a program's calls, want 3", len(files))
	}
}

// TestSubagentsTranscriptIsNotTheSessions: a session that is first seen in the transcript of its subagent is not said to have that one.
func TestSubagentsTranscriptIsNotTheSessions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ agent, path, text, want string }{
		{"claude-code", "/t/s/subagents/agent-a.jsonl", `{"type":"user","isSidechain":true,"agentId":"a","sessionId":"s","cwd":"/p","timestamp":"2026-11-20T10:00:00Z","message":{"content":"look"}}`, "/t/s.jsonl"},
		{"claude-code", "/t/s.jsonl", `{"type":"user","sessionId":"s","cwd":"/p","timestamp":"2026-11-20T10:00:00Z","message":{"content":"look"}}`, "/t/s.jsonl"},
		{"codex", "/t/rollout-a.jsonl", `{"timestamp":"2026-11-20T10:00:00Z","type":"session_meta","payload":{"id":"a","session_id":"s"}}
{"timestamp":"2026-11-20T10:00:00Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t","last_agent_message":"seen"}}`, ""},
	} {
		captures, bad, _ := readAllOf(t, c.agent, c.path, strings.NewReader(c.text+"\n"))
		if len(bad) > 0 || len(captures) == 0 || captures[0].Origin.AgentSession != "s" || captures[0].Origin.Transcript != c.want {
			t.Errorf("%s: got %+v, errors %v, want session s with transcript %q", c.path, captures, bad, c.want)
		}
	}
}

// sameFact leaves out what only one side knows: hooks measure a duration; sizes are those of either form; the order of
// an input's members is the model's in one and the agent's in the other; a subagent is called Task by the model.
func sameFact() cmp.Option {
	return cmp.Options{
		cmpopts.IgnoreFields(events.ToolUsed{}, "DurationMS", "InputSize", "OutputSize", "Input", "Tool"),
		cmpopts.IgnoreFields(events.ContextCompacted{}, "Size"),
	}
}

// TestPublicTranscripts reads real sessions of many versions: everything is understood, the numbers are those that
// another program counted, and a second reading repeats the first.
func TestPublicTranscripts(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "..", "shared", "fixtures", "transcripts", "public", "claude-code")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("the public transcripts are not here: %v", err)
	}
	for name, want := range map[string]string{ // prompts, tools, failed, stops, malformed lines
		"entire-eight-tool-errors":       "2 66 8 2 0",
		"entire-long-62-tools-2-commits": "1 62 4 1 0",
		"entire-much-progress":           "3 17 0 3 0",
		"entire-one-commit-a":            "2 13 0 2 0",
		"entire-one-commit-b":            "3 9 0 3 0",
		"entire-one-commit-c":            "2 14 0 2 0",
		"entire-one-commit-short":        "2 4 0 2 0",
		"entire-queued-prompts":          "3 5 1 3 0",
		"entire-resumed-with-summaries":  "4 27 2 4 0",
		"entire-summaries-and-progress":  "5 31 2 4 0",
		"entire-two-commits":             "1 15 2 1 0",
		"log-edge-cases":                 "3 1 1 1 4",
		"log-representative":             "4 2 0 3 0",
		"viewer-long":                    "2 167 23 2 0",
		"viewer-mid":                     "1 21 3 1 0",
		"viewer-small":                   "1 12 1 1 0",
	} {
		body, err := os.ReadFile(filepath.Join(folder, name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		captures, bad, p := readAll(t, bytes.NewReader(body))
		if got := count(captures, bad); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		checkTranscript(t, captures)
		again, _, _ := readAll(t, iotest.OneByteReader(bytes.NewReader(body)))
		if diff := cmp.Diff(captures, again); diff != "" {
			t.Errorf("%s: the second reading differs:\n%s", name, diff)
		}
		if p.Offset != int64(len(body)) || p.Partial != 0 || p.Malformed != len(bad) {
			t.Errorf("%s: got %+v of %d bytes", name, p, len(body))
		}
	}
}

func count(captures []session.Capture, bad []error) string {
	var prompts, tools, failed, stops int
	for _, c := range captures {
		switch e := c.Event.(type) {
		case events.PromptSubmitted:
			prompts++
		case events.ToolUsed:
			tools++
			if e.Failed {
				failed++
			}
		case events.AgentStopped:
			stops++
		}
	}
	return fmt.Sprint(prompts, tools, failed, stops, len(bad))
}

// checkTranscript checks what holds for each transcript's captures.
func checkTranscript(t fataler, captures []session.Capture) {
	seen := map[events.Key]bool{}
	opened := map[string]bool{}
	for _, c := range captures {
		if c.Key.IsZero() || c.ID.Version() != 7 || c.Origin.AgentSession == "" || c.Origin.Cwd == "" && c.Origin.Agent == "claude-code" {
			t.Fatalf("capture without key, id, session or folder: %+v", c)
		}
		if _, ok := c.Event.(events.SessionOpened); ok {
			opened[c.Origin.AgentSession] = true
		}
		if !opened[c.Origin.AgentSession] {
			t.Fatalf("%s captured before its session was opened", c.Name())
		}
		if !IsClockTime(c.At) {
			t.Fatalf("captured as of %v", c.At)
		}
		if p, ok := c.Event.(events.PromptSubmitted); ok {
			if _, machine := new(scrubber).promptSubmitted(p.Text); machine && p.Text != "" {
				t.Fatalf("machine-made prompt: %q", p.Text)
			}
		}
		if seen[c.Key] && !c.At.IsZero() {
			continue // a line that the transcript holds twice
		}
		seen[c.Key] = true
		checkEvent(t, c.Event)
	}
}

// Lines for small transcripts. Each has its own uuid.
func line(n int, kind, rest string) string {
	return fmt.Sprintf(`{"type":%q,"sessionId":"s1","cwd":"/p","uuid":"u%d","timestamp":"2026-01-02T03:04:%02dZ",%s}`, kind, n, n, rest)
}

func user(n int, text string) string {
	return line(n, "user", fmt.Sprintf(`"promptId":"p%d","message":{"role":"user","content":%q}`, n, text))
}

func assistant(n int, blocks string) string {
	return line(n, "assistant", `"message":{"role":"assistant","content":[`+blocks+`]}`)
}

func said(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }

func call(id, tool string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{"x":1}}`, id, tool)
}

func result(n int, id, content, more string) string {
	return line(n, "user", fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}%s`, id, content, more))
}

// brief names a capture in a few words.
func brief(c session.Capture) string {
	switch e := c.Event.(type) {
	case events.PromptSubmitted:
		return "prompt " + e.Text
	case events.AgentSaid:
		return "said " + e.Text
	case events.ToolUsed:
		return strings.Join(strings.Fields(fmt.Sprint("tool ", e.Tool, " ", e.SubagentID, " ", e.Unobserved, " ", map[bool]string{true: "failed"}[e.Failed], " ", e.Output)), " ")
	case events.AgentStopped:
		return strings.TrimSpace(fmt.Sprint(e.Cause, " ", e.LastMessage, " ", e.Error))
	case events.ContextCompacted:
		return "compacted " + e.Trigger + " " + e.Summary
	case events.SessionOpened:
		return "opened " + c.Origin.AgentSession
	}
	return c.Name()
}

func TestTranscriptLines(t *testing.T) {
	t.Parallel()
	side := `"isSidechain":true,`
	for _, c := range []struct {
		name  string
		lines []string
		want  []string // after "opened s1"
	}{
		{"a turn", []string{user(1, "go"), assistant(2, said("looking")), assistant(3, call("t1", "Read")), result(4, "t1", `"ok"`, ""), assistant(5, said("done"))},
			[]string{"prompt go", "said looking", "tool Read ok", "stop done"}},
		{"two turns", []string{user(1, "a"), assistant(2, said("x")), user(3, "b"), assistant(4, said("y"))},
			[]string{"prompt a", "stop x", "prompt b", "stop y"}},
		{"text and call in one line", []string{user(1, "a"), assistant(2, said("x")+","+call("t1", "Read"))},
			[]string{"prompt a", "said x"}},
		{"texts around a call in one line", []string{user(1, "a"), assistant(2, said("x")+","+call("t1", "Read")+","+said("y")), assistant(3, said("z"))},
			[]string{"prompt a", "said x", "said y", "stop z"}},
		{"stopped in the middle", []string{user(1, "a"), line(2, "assistant", `"message":{"stop_reason":"tool_use","content":[`+said("x")+`]}`)},
			[]string{"prompt a", "said x"}},
		{"interrupted", []string{user(1, "a"), assistant(2, said("half")), user(3, "[Request interrupted by user]"), user(4, "b")},
			[]string{"prompt a", "said half", "prompt b"}},
		{"denied", []string{user(1, "a"), assistant(2, call("t1", "Bash")),
			line(3, "user", `"message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]},"toolUseResult":"Error: no"`)},
			[]string{"prompt a", "tool Bash failed no"}},
		{"structured result", []string{assistant(2, call("t1", "Read")), result(3, "t1", `"plain"`, `,"toolUseResult":{"a": 1}`)},
			[]string{`tool Read {"a":1}`}},
		{"two results in a line", []string{assistant(1, call("t1", "A")+","+call("t2", "B")),
			line(2, "user", `"message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"2"},{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"1"},{"type":"image"}]}]},"toolUseResult":{"x":1}`)},
			[]string{"tool B 2", "tool A 1 [image]"}},
		{"result without call", []string{user(1, "a"), result(2, "t9", `"x"`, "")}, []string{"prompt a"}},
		{"result twice", []string{assistant(1, call("t1", "A")), result(2, "t1", `"x"`, ""), result(3, "t1", `"x"`, "")}, []string{"tool A x"}},
		{"own call", []string{assistant(1, call("t1", "mcp__cmemd__search")), result(2, "t1", `"memory"`, "")}, []string{"tool mcp__cmemd__search own"}},
		{"own command", []string{assistant(1, `{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cmemd show 7 | head"}}`), result(2, "t1", `"memory"`, "")},
			[]string{"tool Bash own"}},
		{"meta", []string{line(1, "user", `"isMeta":true,"message":{"content":"skill text"}`)}, nil},
		{"side chain", []string{user(1, "a"), line(2, "user", side+`"message":{"content":"task"}`),
			line(3, "assistant", side+`"parentUuid":"u2","message":{"content":[`+call("t1", "Read")+`]}`),
			line(4, "user", side+`"parentUuid":"u3","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`),
			line(5, "assistant", side+`"parentUuid":"u4","message":{"content":[`+said("sub done")+`]}`)},
			[]string{"prompt a", "tool Read u2 x"}},
		{"subagent's end", []string{line(1, "assistant", side+`"agentId":"a7","attributionAgent":"Explore","message":{"stop_reason":"end_turn","content":[`+said("seen")+`]}`)},
			[]string{"tool SubagentStop a7 seen"}},
		{"subagent's file", []string{line(1, "assistant", side+`"agentId":"a7","message":{"content":[`+call("t1", "Read")+`]}`),
			line(2, "user", side+`"agentId":"a7","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`)},
			[]string{"tool Read a7 x"}},
		{"local command", []string{user(1, "a"), assistant(2, said("x")),
			line(3, "user", `"isMeta":true,"message":{"content":"<local-command-caveat>c</local-command-caveat>"}`),
			user(4, "<command-name>/model</command-name><command-args>opus</command-args>"), user(5, "<local-command-stdout>ok</local-command-stdout>"), user(6, "b")},
			[]string{"prompt a", "stop x", "prompt b"}},
		{"typed command", []string{user(1, "<command-message>pr is running</command-message>\n<command-name>/pr</command-name>\n<command-args>now please</command-args>")},
			[]string{"prompt /pr now please"}},
		{"notification", []string{user(1, "a"), assistant(2, said("x")), user(3, "<task-notification>n</task-notification>"), assistant(4, said("y"))},
			[]string{"prompt a", "stop x", "stop y"}},
		{"compaction", []string{user(1, "a"), assistant(2, said("x")), line(3, "system", `"subtype":"compact_boundary","compactMetadata":{"trigger":"auto"}`),
			line(4, "user", `"isCompactSummary":true,"message":{"content":"`+continuedPrefix+`.\nSummary:\n1. Done."}`)},
			[]string{"prompt a", "stop x", "compacted auto 1. Done."}},
		{"old compaction", []string{user(1, continuedPrefix+".\nSummary:\n1. Done.")}, []string{"compacted  1. Done."}},
		{"queued prompt", []string{user(1, "a"), line(2, "attachment", `"attachment":{"type":"queued_command","commandMode":"prompt","prompt":"and b"}`)},
			[]string{"prompt a", "prompt and b"}},
		{"queued notification", []string{user(1, "a"), line(2, "attachment", `"attachment":{"type":"queued_command","commandMode":"task-notification","prompt":"x"}`)},
			[]string{"prompt a"}},
		{"failed call", []string{user(1, "a"), line(2, "assistant", `"isApiErrorMessage":true,"error":"rate_limit","message":{"model":"<synthetic>","content":[`+said("Limit")+`]}`)},
			[]string{"prompt a", "failure  rate_limit"}},
		{"synthetic", []string{user(1, "a"), line(2, "assistant", `"message":{"model":"<synthetic>","content":[`+said("No response requested.")+`]}`)},
			[]string{"prompt a"}},
		{"image", []string{line(1, "user", `"message":{"content":[{"type":"image","source":{}},{"type":"text","text":"see"}]}`)},
			[]string{"prompt [image]\nsee"}},
		{"private", []string{user(1, "<private>x</private>")}, []string{"prompt "}},
		{"reminder beside a result", []string{assistant(1, call("t1", "A")),
			line(2, "user", `"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"},{"type":"text","text":"<system-reminder>y</system-reminder>"}]}`)},
			[]string{"tool A x"}},
		{"two sessions", []string{user(1, "a"), assistant(2, said("x")), strings.ReplaceAll(user(3, "b"), `"s1"`, `"s2"`), user(4, "c")},
			[]string{"prompt a", "opened s2", "stop x", "prompt b", "prompt c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			captures, bad, _ := readAll(t, strings.NewReader(strings.Join(c.lines, "\n")+"\n"))
			var got []string
			for _, c := range captures {
				got = append(got, brief(c))
			}
			if diff := cmp.Diff(append([]string{"opened s1"}, c.want...), got); diff != "" || len(bad) > 0 {
				t.Errorf("errors %v, -want +got:\n%s", bad, diff)
			}
			checkTranscript(t, captures)
		})
	}
}

func TestTranscriptTimesAndPlaces(t *testing.T) {
	t.Parallel()
	text := line(1, "user", `"gitBranch":"main","message":{"content":"a"}`) + "\n" +
		`{"type":"user","uuid":"u2","message":{"content":"b"},"cwd":"/p/q","gitBranch":"HEAD"}` + "\n"
	captures, _, _ := readAll(t, strings.NewReader(text))
	last := captures[len(captures)-1]
	if want := time.Date(2026, 1, 2, 3, 4, 1, 0, time.UTC); !last.At.Equal(want) {
		t.Errorf("a line without a time: got %v, want that of the line before, %v", last.At, want)
	}
	if first := captures[0].Origin; first.GitBranch != "main" || first.Cwd != "/p" || first.Transcript != "/t/s1.jsonl" {
		t.Errorf("first origin: got %+v", first)
	}
	if last.Origin.GitBranch != "" || last.Origin.Cwd != "/p/q" || last.Origin.AgentSession != "s1" {
		t.Errorf("last origin: got %+v, want /p/q of s1 without a branch", last.Origin)
	}
	if ms, want := captures[0].ID[:6], captures[0].At.UnixMilli(); fmt.Sprintf("%x", ms) != fmt.Sprintf("%012x", want) {
		t.Errorf("id: got time %x, want %x", ms, want)
	}
}

func TestTranscriptFaults(t *testing.T) {
	t.Parallel()
	text := user(1, "a") + "\n" + `{"type":"user"` + "\n\n" + `[1]` + "\n" + line(4, "user", `"message":"x"`) + "\n" + user(5, "b") + "\n" + `{"type":"us`
	captures, bad, p := readAll(t, strings.NewReader(text))
	if len(captures) != 3 {
		t.Errorf("got %d captures, want the session and two prompts", len(captures))
	}
	var lines []int
	for _, err := range bad {
		var e *LineError
		if !errors.As(err, &e) {
			t.Fatalf("got error %v, want a LineError", err)
		}
		lines = append(lines, e.Line)
	}
	if diff := cmp.Diff([]int{2, 4, 5}, lines); diff != "" {
		t.Errorf("malformed lines, -want +got:\n%s", diff)
	}
	want := Progress{Lines: 6, Offset: int64(len(text) - 11), Partial: 11, Malformed: 3, Skipped: map[string]int{}, Last: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("progress, -want +got:\n%s", diff)
	}
}

// TestTranscriptWithAMark: the byte order mark that a transcript begins with is no part of its first line.
func TestTranscriptWithAMark(t *testing.T) {
	t.Parallel()
	text := user(1, "a") + "\n" + user(2, "b") + "\n"
	want, _, p := readAll(t, strings.NewReader(text))
	got, bad, marked := readAll(t, strings.NewReader("\xef\xbb\xbf"+text))
	if diff := cmp.Diff(want, got); diff != "" || len(bad) > 0 {
		t.Errorf("errors %v, -want +got:\n%s", bad, diff)
	}
	if p.Offset += 3; !cmp.Equal(p, marked) {
		t.Errorf("got progress %+v, want %+v", marked, p)
	}
	for _, begin := range []string{"\xef", "\xef\xbb", "\xef\xbb\xbf"} {
		if _, bad, p := readAll(t, strings.NewReader(begin)); len(bad) > 0 || p.Offset+p.Partial != int64(len(begin)) {
			t.Errorf("%q: errors %v, progress %+v", begin, bad, p)
		}
	}
}

// TestTranscriptGrows: reading a transcript that has grown repeats what was captured before under the same keys.
func TestTranscriptGrows(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("testdata/claude-code/transcripts/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	whole, _, _ := readAll(t, bytes.NewReader(body))
	keys := map[events.Key]bool{}
	for _, c := range whole {
		keys[c.Key] = true
	}
	for at := 1000; at < len(body); at += 7919 {
		part, bad, p := readAll(t, bytes.NewReader(body[:at]))
		if len(bad) > 0 || p.Offset+p.Partial != int64(at) {
			t.Fatalf("first %d bytes: errors %v, progress %+v", at, bad, p)
		}
		for _, c := range part {
			if !keys[c.Key] {
				t.Errorf("first %d bytes: %s is not in the whole", at, brief(c))
			}
		}
	}
}

func TestTranscriptNamesNoSession(t *testing.T) {
	t.Parallel()
	const text = `{"type":"user","cwd":"/p","uuid":"u","timestamp":"2026-01-02T03:04:05Z","message":{"content":"a"}}`
	captures, bad, _ := readAll(t, strings.NewReader(text))
	if len(captures) != 2 || captures[0].Origin.AgentSession != "s1" {
		t.Errorf("got %d captures of %+v, errors %v; want 2 of s1, as the file is called", len(captures), captures, bad)
	}
	for body, field := range map[string]string{text: "sessionId", strings.ReplaceAll(text, "cwd", "dir"): "sessionId",
		`{"type":"user","sessionId":"s","timestamp":"2026-01-02T03:04:05Z","message":{"content":"a"}}`: "cwd"} {
		for c, err := range (ClaudeCode{}).Transcript(strings.NewReader(body), "").Captures() {
			var e *FieldError
			if !errors.As(err, &e) || e.Field != field || !errors.Is(err, ErrMissing) {
				t.Errorf("%s: got %+v, error %v; want a FieldError of %s", body, c, err, field)
			}
		}
	}
}

func TestTranscriptReadError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	captures, bad, _ := readAll(t, io.MultiReader(strings.NewReader(user(1, "a")+"\n"), iotest.ErrReader(broken)))
	if len(captures) != 2 || len(bad) != 1 || !errors.Is(bad[0], broken) {
		t.Errorf("got %d captures, errors %v; want 2 and the reader's", len(captures), bad)
	}
}

// zeros gives n zero bytes.
func zeros(n int64) io.Reader { return io.LimitReader(zeroReader{}, n) }

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestTranscriptLongLine(t *testing.T) {
	t.Parallel()
	in := io.MultiReader(zeros(MaxLine+1), strings.NewReader("\n"+user(1, "a")+"\n"))
	captures, bad, p := readAll(t, in)
	if len(captures) != 2 || len(bad) != 1 || !errors.Is(bad[0], ErrTooLong) || p.Lines != 2 {
		t.Errorf("got %d captures, errors %v, progress %+v; want 2 and ErrTooLong", len(captures), bad, p)
	}
}

func TestTranscriptManyKinds(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	for i := range 500 {
		fmt.Fprintf(&in, "{\"type\":\"kind%d\"}\n", i)
	}
	_, _, p := readAll(t, strings.NewReader(in.String()))
	if len(p.Skipped) > maxKinds+1 || p.Skipped["other"] != 500-maxKinds {
		t.Errorf("got %d kinds, %d others; want %d and %d", len(p.Skipped), p.Skipped["other"], maxKinds+1, 500-maxKinds)
	}
}

func TestTranscriptStopsEarly(t *testing.T) {
	t.Parallel()
	n := 0
	for range (ClaudeCode{}).Transcript(strings.NewReader(user(1, "a")+"\n"+user(2, "b")+"\n"), "").Captures() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("got %d captures after a break, want 1", n)
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add([]byte(user(1, "go") + "\n" + assistant(2, call("t1", "Read")) + "\n" + result(3, "t1", `"ok"`, "") + "\n" + assistant(4, said("done")) + "\n"))
	f.Add([]byte(line(1, "user", `"isSidechain":true,"message":{"content":[1,"x",{"type":"text"}]}`) + "\n{}\n[\n" + user(2, "<command-name>/x</command-name>")))
	f.Add([]byte(line(1, "system", `"subtype":"compact_boundary","compactMetadata":[]`) + "\n\r\n" + line(2, "attachment", `"attachment":{"type":"queued_command","prompt":[]}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		captures, bad, p := readAll(t, bytes.NewReader(body))
		checkTranscript(t, captures)
		if p.Offset+p.Partial != int64(len(body)) || p.Malformed != len(bad) {
			t.Errorf("got %+v and %d errors of %d bytes", p, len(bad), len(body))
		}
	})
}
