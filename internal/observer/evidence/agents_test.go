package evidence

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// agentCase is a tool call of an agent in the folder /p, and the files that it read and modified, between commas.
type agentCase struct {
	tool, input    string
	read, modified string
	anyName        bool // the input alone tells
}

const (
	anyName  = true
	envelope = "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: b.go\n+z\n*** Delete File: c.go\n*** End Patch\n"
	moved    = "*** Begin Patch\n*** Update File: a.go\n*** Move to: sub/b.go\n@@\n-x\n+y\n*** End Patch"
	unified  = "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-x\n+y\n--- a/b.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
)

type obj = map[string]any

// TestFilesOfAgents has, for each agent, its tools that touch files, as their makers document them. A name that nobody
// knows must not matter: where the input alone tells, each case is read under other names too.
func TestFilesOfAgents(t *testing.T) {
	t.Parallel()
	js := func(pairs ...any) string {
		m := obj{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return mustJSON(t, m)
	}
	for agent, cases := range map[string][]agentCase{
		"Claude Code":   claudeCode(js),
		"Codex":         codex(js),
		"Gemini CLI":    geminiCLI(js),
		"Cursor":        cursor(js),
		"Windsurf":      windsurf(js),
		"OpenCode":      openCode(js),
		"Copilot":       copilot(js),
		"Cline and Roo": clineAndRoo(js),
		"Zed, Goose, Kiro, Amazon Q, Pi, Continue": otherAgents(js),
		"MCP servers": mcpServers(js),
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			for _, tc := range cases {
				names := []string{tc.tool}
				if tc.anyName {
					names = append(names, "frobnicate", "X")
				}
				for _, name := range names {
					read, modified := Parse(events.ToolUsed{Tool: name, Input: tc.input, Cwd: "/p"}).Files()
					got, want := [2]string{strings.Join(read, ","), strings.Join(modified, ",")}, [2]string{tc.read, tc.modified}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s %.200s\nread, modified (-want +got):\n%s", name, tc.input, diff)
					}
				}
			}
		})
	}
}

func claudeCode(js func(...any) string) []agentCase {
	return []agentCase{
		{"Read", js("file_path", "/p/a.go", "limit", 5), "/p/a.go", "", anyName},
		{"Write", js("file_path", "/p/a.go", "content", "x"), "", "/p/a.go", anyName},
		{"Edit", js("file_path", "/p/a.go", "old_string", "x", "new_string", "y", "replace_all", true), "", "/p/a.go", anyName},
		{"MultiEdit", js("file_path", "/p/a.go", "edits", []obj{{"old_string": "x", "new_string": "y"}}), "", "/p/a.go", anyName},
		{"NotebookEdit", js("notebook_path", "/p/n.ipynb", "cell_id", "1", "new_source", "x"), "", "/p/n.ipynb", anyName},
		{"NotebookEdit", js("notebook_path", "/p/n.ipynb", "cell_id", "1", "edit_mode", "delete", "new_source", ""), "", "/p/n.ipynb", anyName},
		{"LS", js("path", "/p"), "", "", false},
		{"Grep", js("pattern", "x", "path", "/p/a.go"), "", "", anyName},
		{"TodoWrite", js("todos", []obj{{"content": "edit a.go", "status": "pending"}}), "", "", anyName},
		{"Agent", js("description", "d", "prompt", "edit a.go", "subagent_type", "Explore"), "", "", anyName},
		{"WebFetch", js("url", "https://x/a.go", "prompt", "p"), "", "", anyName},
		{"Bash", js("command", "cat a.go > b.go", "description", "d"), "", "", anyName},
	}
}

func codex(js func(...any) string) []agentCase {
	return []agentCase{
		{"apply_patch", envelope, "", "/p/a.go,/p/b.go,/p/c.go", anyName},
		{"apply_patch", js("input", moved), "", "/p/a.go,/p/sub/b.go", anyName},
		{"apply_patch", js("command", envelope), "", "/p/a.go,/p/b.go,/p/c.go", anyName},
		{"apply_patch", js("command", []string{"apply_patch", envelope}), "", "/p/a.go,/p/b.go,/p/c.go", anyName},
		{"shell", js("command", []string{"bash", "-lc", "apply_patch <<'EOF'\n" + envelope + "EOF"}), "", "/p/a.go,/p/b.go,/p/c.go", anyName},
		{"shell", js("command", []string{"bash", "-lc", "cd sub && apply_patch <<'EOF'\n" + envelope + "EOF"}), "", "/p/sub/a.go,/p/sub/b.go,/p/sub/c.go", anyName},
		{"shell", js("command", []string{"apply_patch", envelope}, "workdir", "/w"), "", "/w/a.go,/w/b.go,/w/c.go", anyName},
		{"exec_command", js("cmd", "git apply <<'EOF'\n"+unified+"EOF", "workdir", "/w"), "", "/w/a.go,/w/b.go", anyName},
		{"exec_command", js("cmd", "patch -p1 <<'EOF'\n"+unified+"EOF"), "", "/p/a.go,/p/b.go", anyName},
		{"exec_command", js("cmd", "git apply --check <<'EOF'\n"+unified+"EOF"), "", "", anyName},
		{"exec_command", js("cmd", "cat <<'EOF'\n"+unified+"EOF"), "", "", anyName},
		{"file_change", js("changes", []obj{{"path": "/p/a.go", "kind": "add"}, {"path": "/p/b.go", "kind": "delete"}}), "", "/p/a.go,/p/b.go", anyName},
		{"patch_apply", js("changes", obj{"/p/a.go": obj{"add": obj{"content": "x"}}}), "", "/p/a.go", anyName},
		{"view_image", js("path", "/p/a.png"), "/p/a.png", "", anyName},
		{"update_plan", js("plan", []obj{{"step": "edit a.go", "status": "pending"}}), "", "", anyName},
	}
}

func geminiCLI(js func(...any) string) []agentCase {
	return []agentCase{
		{"read_file", js("absolute_path", "/p/a.go"), "/p/a.go", "", anyName},
		{"read_many_files", js("paths", []string{"a.go", "src/**/*.ts"}), "/p/a.go", "", anyName},
		{"write_file", js("file_path", "a.go", "content", "x"), "", "/p/a.go", anyName},
		{"replace", js("file_path", "/p/a.go", "old_string", "x", "new_string", "y", "expected_replacements", 2), "", "/p/a.go", anyName},
		{"list_directory", js("path", "/p"), "", "", false},
		{"glob", js("pattern", "**/*.go", "path", "/p"), "", "", anyName},
		{"search_file_content", js("pattern", "x", "include", "*.go"), "", "", anyName},
		{"save_memory", js("fact", "a.go is nice"), "", "", anyName},
	}
}

func cursor(js func(...any) string) []agentCase {
	return []agentCase{
		{"edit_file", js("target_file", "a.go", "instructions", "i", "code_edit", "x"), "", "/p/a.go", anyName},
		{"search_replace", js("file_path", "a.go", "old_string", "x", "new_string", "y"), "", "/p/a.go", anyName},
		{"write", js("file_path", "a.go", "contents", "x"), "", "/p/a.go", anyName},
		{"delete_file", js("target_file", "a.go", "explanation", "e"), "", "/p/a.go", false},
		{"Delete", js("path", "/p/a.go"), "", "/p/a.go", false},
		{"read_file", js("target_file", "a.go", "should_read_entire_file", true), "/p/a.go", "", anyName},
		{"edit_notebook", js("target_notebook", "n.ipynb", "cell_idx", 1, "new_string", "x", "old_string", ""), "", "/p/n.ipynb", anyName},
		{"afterFileEdit", js("file_path", "/p/a.go", "edits", []obj{{"old_string": "x", "new_string": "y"}}), "", "/p/a.go", anyName},
		{"list_dir", js("relative_workspace_path", "src"), "", "", anyName},
		{"codebase_search", js("query", "x", "target_directories", []string{"src"}), "", "", anyName},
		{"run_terminal_cmd", js("command", "rm a.go", "is_background", false), "", "", anyName},
	}
}

func windsurf(js func(...any) string) []agentCase {
	return []agentCase{
		{"write_to_file", js("TargetFile", "/p/a.go", "CodeContent", "x", "EmptyFile", false), "", "/p/a.go", anyName},
		{"replace_file_content", js("TargetFile", "/p/a.go", "ReplacementChunks", []obj{{"TargetContent": "x", "ReplacementContent": "y"}}), "", "/p/a.go", anyName},
		{"view_file", js("AbsolutePath", "/p/a.go", "StartLine", 0), "/p/a.go", "", anyName},
		{"view_code_item", js("File", "/p/a.go", "NodePaths", []string{"x"}), "/p/a.go", "", anyName},
		{"post_write_code", js("file_path", "/p/a.go", "edits", []obj{{"old_string": "x", "new_string": "y"}}), "", "/p/a.go", anyName},
		{"run_command", js("CommandLine", "rm a.go", "Cwd", "/p"), "", "", anyName},
		{"find_by_name", js("SearchDirectory", "/p", "Pattern", "*.go"), "", "", anyName},
	}
}

func openCode(js func(...any) string) []agentCase {
	return []agentCase{
		{"read", js("filePath", "/p/a.go"), "/p/a.go", "", anyName},
		{"write", js("filePath", "/p/a.go", "content", "x"), "", "/p/a.go", anyName},
		{"edit", js("filePath", "/p/a.go", "oldString", "x", "newString", "y"), "", "/p/a.go", anyName},
		{"multiedit", js("filePath", "/p/a.go", "edits", []obj{{"filePath": "/p/a.go", "oldString": "x", "newString": "y"}}), "", "/p/a.go", anyName},
		{"patch", js("patchText", envelope), "", "/p/a.go,/p/b.go,/p/c.go", anyName},
		{"bash", js("command", "touch a.go", "workdir", "/w"), "", "", anyName},
		{"list", js("path", "/p"), "", "", false},
	}
}

func copilot(js func(...any) string) []agentCase {
	return []agentCase{
		{"create_file", js("filePath", "/p/a.go", "content", "x"), "", "/p/a.go", anyName},
		{"replace_string_in_file", js("filePath", "/p/a.go", "oldString", "x", "newString", "y"), "", "/p/a.go", anyName},
		{"multi_replace_string_in_file", js("replacements", []obj{{"filePath": "/p/a.go"}, {"filePath": "/p/b.go"}}), "", "/p/a.go,/p/b.go", anyName},
		{"insert_edit_into_file", js("filePath", "/p/a.go", "code", "x", "explanation", "e"), "", "/p/a.go", false},
		{"edit_notebook_file", js("filePath", "/p/n.ipynb", "editType", "insert", "newCode", "x"), "", "/p/n.ipynb", anyName},
		{"create", js("path", "/p/a.go", "file_text", "x"), "", "/p/a.go", anyName},
		{"view", js("path", "/p/a.go"), "/p/a.go", "", anyName},
	}
}

func clineAndRoo(js func(...any) string) []agentCase {
	return []agentCase{
		{"write_to_file", js("path", "a.go", "content", "x"), "", "/p/a.go", anyName},
		{"replace_in_file", js("path", "a.go", "diff", "------- SEARCH\nx\n=======\ny\n+++++++ REPLACE"), "", "/p/a.go", anyName},
		{"apply_diff", js("path", "a.go", "diff", "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE"), "", "/p/a.go", anyName},
		{"apply_diff", js("path", "a.go", "diff", unified), "", "/p/a.go,/p/b.go", anyName},
		{"insert_content", js("path", "a.go", "line", "1", "content", "x"), "", "/p/a.go", anyName},
		{"read_file", js("args", obj{"file": []obj{{"path": "a.go"}, {"path": "b.go"}}}), "/p/a.go,/p/b.go", "", anyName},
		{"search_files", js("path", "src", "regex", "x", "file_pattern", "*.go"), "", "", anyName},
	}
}

func otherAgents(js func(...any) string) []agentCase {
	return []agentCase{
		{"edit_file", js("path", "p/a.go", "mode", "edit", "display_description", "d"), "", "/p/p/a.go", false},
		{"move_path", js("source_path", "a.go", "destination_path", "b.go"), "", "/p/a.go,/p/b.go", false},
		{"copy_path", js("source_path", "a.go", "destination_path", "b.go"), "/p/a.go", "/p/b.go", false},
		{"delete_path", js("path", "a.go"), "", "/p/a.go", false},
		{"developer__text_editor", js("command", "str_replace", "path", "/p/a.go", "old_str", "x", "new_str", "y"), "", "/p/a.go", anyName},
		{"developer__text_editor", js("command", "view", "path", "/p/a.go"), "/p/a.go", "", anyName},
		{"fsWrite", js("path", "a.go", "text", "x"), "", "/p/a.go", false},
		{"strReplace", js("path", "a.go", "oldStr", "x", "newStr", "y"), "", "/p/a.go", anyName},
		{"fs_read", js("operations", []obj{{"mode": "Line", "path": "a.go"}}), "/p/a.go", "", anyName},
		{"edit", js("path", "a.go", "oldText", "x", "newText", "y"), "", "/p/a.go", anyName},
		{"edit_existing_file", js("filepath", "a.go", "changes", "x"), "", "/p/a.go", anyName},
	}
}

func mcpServers(js func(...any) string) []agentCase {
	return []agentCase{
		{"mcp__filesystem__write_file", js("path", "/p/a.go", "content", "x"), "", "/p/a.go", false},
		{"mcp__filesystem__edit_file", js("path", "/p/a.go", "edits", []obj{{"oldText": "x", "newText": "y"}}, "dryRun", false), "", "/p/a.go", false},
		{"mcp__filesystem__edit_file", js("path", "/p/a.go", "edits", []obj{{"oldText": "x", "newText": "y"}}, "dryRun", true), "/p/a.go", "", false},
		{"mcp__filesystem__move_file", js("source", "/p/a.go", "destination", "/p/b.go"), "", "/p/a.go,/p/b.go", false},
		{"mcp__filesystem__read_multiple_files", js("paths", []string{"/p/a.go", "/p/b.go"}), "/p/a.go,/p/b.go", "", false},
		{"mcp__filesystem__create_directory", js("path", "/p/d"), "", "", false},
		{"mcp__disk__store", js("path", "src/a.go", "contents", "x"), "", "/p/src/a.go", false},
		{"mcp__serena__replace_symbol_body", js("name_path", "F", "relative_path", "a.go", "body", "x"), "", "/p/a.go", false},
		{"mcp__serena__find_symbol", js("name_path", "F", "relative_path", "a.go"), "/p/a.go", "", false},
		{"mcp__serena__create_text_file", js("relative_path", "a.go", "content", "x"), "", "/p/a.go", false},
		{"mcp__jetbrains__replace_text_in_file", js("pathInProject", "a.go", "oldText", "x", "newText", "y"), "", "/p/a.go", false},
		{"mcp__wiki__update", js("path", "Home", "content", "x"), "", "", false},
		{"mcp__github__create_or_update_file", js("owner", "o", "repo", "n", "path", "a.go", "content", "x", "branch", "main"), "", "", false},
		{"mcp__github__push_files", js("owner", "o", "repo", "n", "files", []obj{{"path": "a.go", "content": "x"}}), "", "", false},
		{"mcp__github__get_file_contents", js("owner", "o", "repo", "n", "path", "a.go"), "", "", false},
		{"mcp__gitlab__create_or_update_file", js("project_id", "7", "file_path", "a.go", "content", "x"), "", "", false},
		{"mcp__linear__create_issue", js("title", "a.go", "content", "x"), "", "", false},
	}
}
