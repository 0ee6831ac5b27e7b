package evidence

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

func TestShape(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		tool events.ToolUsed
		want Shape
	}{
		{"edit", used("Edit", `{"file_path":"/p/a.go","old_string":"a","new_string":"b"}`, `{}`), Shape{Kind: Edit}},
		{"edit of another agent", used("edit", `{"path":"a.ts","oldText":"a","newText":"b"}`, ``), Shape{Kind: Edit}},
		{"write", used("write_file", `{"file_path":"/p/a.go","content":"x"}`, ``), Shape{Kind: Edit}},
		{"delete", used("delete_file", `{"target_file":"a.go"}`, ``), Shape{Kind: Edit}},
		{"edits with their own paths", used("batch", `{"edits":[{"filePath":"a","new_string":""}]}`, ``), Shape{Kind: Edit}},
		{"patch as text", used("apply_patch", "*** Begin Patch\n*** Update File: a.go\n@@\n-a\n+b\n*** End Patch", ``), Shape{Kind: Edit}},
		{"patch as a command", used("shell", `{"command":["apply_patch","*** Begin Patch\n*** Add File: a.go\n+b\n*** End Patch"]}`, ``), Shape{Kind: Edit}},
		{"editor that views", used("str_replace_based_edit_tool", `{"command":"view","path":"/p/a.go"}`, ``), Shape{Kind: Read}},
		{"editor that edits", used("str_replace_based_edit_tool", `{"command":"str_replace","path":"/p/a.go","old_str":"a"}`, ``), Shape{Kind: Edit}},
		{"cut in the content", used("Write", `{"file_path":"/p/a.go","content":"packa`, ``), Shape{Kind: Edit}},
		{"read", used("Read", `{"file_path":"/p/a.go","offset":3}`, ``), Shape{Kind: Read}},
		{"read, cut", used("Read", `{"file_path":"/p/a.go","off`, ``), Shape{Kind: Read}},
		{"read, told by the answer", used("View", `{`, `{"type":"text","file":{"filePath":"/p/a.go"}}`), Shape{Kind: Read}},
		{"search", used("Grep", `{"pattern":"x","path":"/p","output_mode":"content"}`, ``), Shape{Kind: Search, Query: "x"}},
		{"list", used("LS", `{"path":"/p"}`, ``), Shape{Kind: Search}},
		{"web page", used("WebFetch", `{"url":"https://go.dev","prompt":"what"}`, ``), Shape{Kind: Web, Target: "https://go.dev"}},
		{"web search", used("WebSearch", `{"query":"go generics"}`, ``), Shape{Kind: Web, Query: "go generics"}},
		{"task", used("Agent", `{"description":"d","prompt":"p","subagent_type":"Explore"}`, ``), Shape{Kind: Task, Target: "Explore"}},
		{"MCP", used("mcp__linear-server__get_issue", `{"id":"ENT-98"}`, `"x"`), Shape{Kind: MCP, Target: "linear-server"}},
		{"MCP that writes", used("mcp__fs__write_file", `{"path":"a","content":""}`, ``), Shape{Kind: MCP, Target: "fs"}},
		{"other", used("TodoWrite", `{"todos":[{"content":"x"}]}`, ``), Shape{Kind: Other}},
		{"nothing", used("", ``, ``), Shape{Kind: Other}},
		{"command", used("Bash", `{"command":"ls","description":"d"}`, `{"stdout":"a\nb","stderr":"","interrupted":false}`),
			Shape{Kind: Command, Command: "ls", Output: "a\nb"}},
		{"command with stderr", used("Bash", `{"command":"ls"}`, `{"stdout":"a","stderr":"e"}`), Shape{Kind: Command, Command: "ls", Output: "a\ne"}},
		{"interrupted", used("Bash", `{"command":"ls"}`, `{"stdout":"","interrupted":true}`), Shape{Kind: Command, Command: "ls", Failed: true}},
		{"background", used("Bash", `{"command":"ls","run_in_background":true}`, ``), Shape{Kind: Command, Command: "ls", Background: true}},
		{"command as a list", used("shell", `{"command":["bash","-lc","go test ./..."],"workdir":"/p"}`, `{"output":"ok","metadata":{"exit_code":0}}`),
			Shape{Kind: Command, Command: "go test ./...", Output: "ok", ExitKnown: true}},
		{"command as plain words", used("shell", `{"command":["go","vet"]}`, ``), Shape{Kind: Command, Command: "go vet"}},
		{"exec_command", used("exec_command", `{"cmd":"rg --files","workdir":"/tmp"}`, "Process exited with code 2\nx"),
			Shape{Kind: Command, Command: "rg --files", Output: "Process exited with code 2\nx", ExitCode: 2, ExitKnown: true, Failed: true}},
		{"Gemini's exit code", used("run_shell_command", `{"command":"make"}`, `{"llmContent":"Output: x\nExit Code: 1\n"}`),
			Shape{Kind: Command, Command: "make", Output: "Output: x\nExit Code: 1\n", ExitCode: 1, ExitKnown: true, Failed: true}},
		{"a program that talks of exit codes", used("Bash", `{"command":"cat log"}`, `{"stdout":"Exit code 1","stderr":""}`),
			Shape{Kind: Command, Command: "cat log", Output: "Exit code 1"}},
		{"plain output", used("Bash", `{"command":"ls"}`, "main.go\n"), Shape{Kind: Command, Command: "ls", Output: "main.go\n"}},
		{"output as a JSON string", used("Bash", `{"command":"ls"}`, `"main.go\n"`), Shape{Kind: Command, Command: "ls", Output: "main.go\n"}},
		{"list of texts", used("Bash", `{"command":"ls"}`, `{"content":[{"type":"text","text":"a"},{"text":"b"}]}`),
			Shape{Kind: Command, Command: "ls", Output: "a\nb"}},
		{"commit", used("Bash", `{"command":"git add . && git commit -m x"}`, `{"stdout":"[main (root-commit) 4b44602] first commit\n 1 file changed"}`),
			Shape{Kind: Command, Command: "git add . && git commit -m x", Output: "[main (root-commit) 4b44602] first commit\n 1 file changed",
				Commits: []Commit{{"main", "4b44602", "first commit", 1}}}},
		{"a log that looks like one", used("Bash", `{"command":"cat log"}`, `{"stdout":"[main 4b44602] first"}`),
			Shape{Kind: Command, Command: "cat log", Output: "[main 4b44602] first"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, Parse(tc.tool).Shape()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	failed := used("Bash", `{"command":"exit 3"}`, "Exit code 3")
	failed.Failed = true
	want := Shape{Kind: Command, Command: "exit 3", Output: "Exit code 3", ExitCode: 3, ExitKnown: true, Failed: true}
	if diff := cmp.Diff(want, Parse(failed).Shape()); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
}

func used(tool, input, output string) events.ToolUsed {
	return events.ToolUsed{Tool: tool, Input: input, Output: output, Cwd: "/p"}
}

func TestTailKeepsRunes(t *testing.T) {
	t.Parallel()
	s := Parse(used("Bash", `{"command":"x"}`, strings.Repeat("ü", maxTail))).Shape().Output
	if len(s) > maxTail || strings.Trim(s, "ü") != "" || len(s) < maxTail-2 {
		t.Errorf("%d bytes, %q", len(s), s[:8])
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRealCalls reads the payloads that real clients sent.
func TestRealCalls(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "agents", "testdata")
	want := map[string]struct {
		kind           Kind
		read, modified string
	}{
		"claude-code/PostToolUse-Agent.json":               {kind: Task},
		"claude-code/PostToolUse-Bash.json":                {kind: Command},
		"claude-code/PostToolUse-Edit.json":                {kind: Edit, modified: "/home/dev/project/main.go"},
		"claude-code/PostToolUse-Read.json":                {kind: Read, read: "/home/dev/project/main.go"},
		"claude-code/PostToolUse-ReadMcpResourceTool.json": {kind: Other},
		"claude-code/PostToolUse-ToolSearch.json":          {kind: Search},
		"claude-code/PostToolUse-Write.json":               {kind: Edit, modified: "/home/dev/project/notes.md"},
		"claude-code/PostToolUse-mcp__demo__recall.json":   {kind: MCP},
		"codex/PostToolUse-Bash.json":                      {kind: Command},
		"gemini-cli/AfterTool-read_file.json":              {kind: Read, read: "/home/dev/project/main.go"},
		"gemini-cli/AfterTool-run_shell_command.json":      {kind: Command},
		"gemini-cli/AfterTool-write_file.json":             {kind: Edit, modified: "/home/dev/project/notes.md"},
	}
	for name, w := range want {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		var hook struct {
			Cwd      string          `json:"cwd"`
			Tool     string          `json:"tool_name"`
			Input    json.RawMessage `json:"tool_input"`
			Response json.RawMessage `json:"tool_response"`
		}
		if err := json.Unmarshal(b, &hook); err != nil {
			t.Fatal(err)
		}
		tool := events.ToolUsed{Tool: hook.Tool, Input: string(hook.Input), Output: string(hook.Response), Cwd: hook.Cwd}
		if got := Parse(tool).Shape().Kind; got != w.kind {
			t.Errorf("%s: %s, want %s", name, got, w.kind)
		}
		read, modified := Parse(tool).Files()
		if strings.Join(read, ",") != w.read || strings.Join(modified, ",") != w.modified {
			t.Errorf("%s: read %q, modified %q, want %q, %q", name, read, modified, w.read, w.modified)
		}
		tool.Input = "" // what a client left out of the input is in its answer
		if _, modified := Parse(tool).Files(); w.kind == Edit && strings.Join(modified, ",") != w.modified {
			t.Errorf("%s without its input: modified %q, want %q", name, modified, w.modified)
		}
	}
}

// TestQueryIsWhatIsSearchedFor, not where.
func TestQueryIsWhatIsSearchedFor(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"glob":"*.ts","pattern":"TODO"}`: "TODO",
		`{"pattern":"TODO","glob":"*.ts"}`: "TODO",
		`{"glob":"*.ts"}`:                  "*.ts",
	} {
		if got := Parse(events.ToolUsed{Tool: "Grep", Input: in}).Shape().Query; got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}
