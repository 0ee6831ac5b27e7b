package agents

import (
	"encoding/json"
	"strings"

	"github.com/cmemd/cmemd/internal/harness"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// What Codex writes, in its words.

// handover is how a compacted conversation begins, before the summary (Codex 0.171).
const handover = "Another language model started to solve this problem and produced a summary of its thinking process."

// withoutHandover is a summary without the sentences with which it is handed to the model, which end with a colon.
func withoutHandover(text string) string {
	if !strings.HasPrefix(text, handover) {
		return text
	}
	if _, summary, ok := strings.Cut(text, ":\n"); ok {
		return summary
	}
	return text
}

// codexTyped is what the user typed of a text in the user's place, and whether it is anything.
func codexTyped(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "# AGENTS.md instructions") {
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = strings.TrimSpace(rest)
		}
	}
	text = cutLeading(text, harness.Codex())
	return text, text != ""
}

// codexMCP begins the namespaces of the tools of MCP servers.
const codexMCP = "mcp__"

// codexNamed is a tool's name as hooks report it: that of an MCP server's has the server before it.
func codexNamed(namespace, name string) string {
	if !strings.HasPrefix(namespace, codexMCP) || strings.HasPrefix(name, codexMCP) {
		return name
	}
	return cleanName(strings.TrimSuffix(namespace, "__")+"__"+name, maxName)
}

// codexCall is a tool call as hooks report it: a shell command is Bash's, in whichever of its forms the model gave it; a
// patch stands where a command does. Workdir is where a command ran, if the call says.
func codexCall(tool string, input []byte) (name string, given []byte, workdir string) {
	switch tool {
	case "exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec":
		workdir = member(input, "workdir")
		for _, key := range []string{"cmd", "command"} {
			if command, ok := codexCommand(rawMember(input, key)); ok {
				return "Bash", commandInput(quoted(command)), workdir
			}
		}
	case "apply_patch":
		if kindOf(input) == '"' {
			return tool, commandInput(input), ""
		}
		if patch := rawMember(input, "input"); kindOf(patch) == '"' {
			return tool, commandInput(patch), ""
		}
	}
	return tool, input, workdir
}

// codexCommand is the shell line in a command, which may be a list of words.
func codexCommand(raw []byte) (string, bool) {
	if kindOf(raw) == '"' {
		return stringOf(raw), true
	}
	var words []string
	jsonscan.Elements(raw, func(word []byte) bool {
		words = append(words, stringOf(word))
		return true
	})
	if len(words) == 3 && (words[1] == "-lc" || words[1] == "-c") {
		return words[2], true
	}
	return strings.Join(words, " "), len(words) > 0
}

// codexResult is what came of a call. Of the frame around a command's output, which is the model's, only the exit code counts.
type codexResult struct {
	output     string
	failed     bool
	runsOn     bool // a program of which this is not the end
	durationMS int64
}

// codexRan is how a command went by the item that says so.
func codexRan(item []byte) codexResult {
	took := rawMember(item, "duration")
	secs, _ := json.Number(rawMember(took, "secs")).Int64()
	nanos, _ := json.Number(rawMember(took, "nanos")).Int64()
	ran := codexResult{output: member(item, "aggregated_output"), failed: isNonZero(rawMember(item, "exit_code"))}
	if d := secs*1000 + nanos/1e6; secs >= 0 && secs < 1e12 && d > 0 {
		ran.durationMS = d
	}
	return ran
}

// codexOutput reads the output of a call in the forms of all versions: a text, perhaps framed; a text that holds an object of
// output and metadata; such an object; a list of contents.
func codexOutput(raw []byte) codexResult {
	raw = unquoted(raw)
	switch kindOf(raw) {
	case '{':
		out := codexResult{output: member(raw, "output"), failed: string(rawMember(raw, "success")) == "false"}
		if content := rawMember(raw, "content"); content != nil {
			out.output = codexContent(content)
		}
		meta := rawMember(raw, "metadata")
		out.failed = out.failed || isNonZero(rawMember(meta, "exit_code"))
		if secs, err := json.Number(rawMember(meta, "duration_seconds")).Float64(); err == nil && secs > 0 && secs < 1e9 {
			out.durationMS = int64(secs * 1000)
		}
		if out.output == "" && rawMember(raw, "output") == nil && rawMember(raw, "content") == nil {
			out.output = string(raw)
		}
		return out
	case '[':
		out := unframed(codexContent(raw))
		out.output = strings.TrimPrefix(out.output, "\n") // that joins the frame to what follows
		return out
	}
	return unframed(stringOf(raw))
}

// unframed takes a command's output out of the lines that tell the model how it went.
func unframed(text string) codexResult {
	head, output, ok := strings.Cut(text, "\nOutput:\n")
	if !ok || len(head) > 1024 || !isFrame(head) {
		aborted := strings.HasPrefix(text, "aborted by user after ") // what a program called may run on
		return codexResult{output: text, failed: aborted || isNotRun(text), runsOn: aborted}
	}
	out := codexResult{output: output}
	for line := range strings.Lines(head) {
		out.failed = out.failed || strings.HasPrefix(line, programFailed)
		out.runsOn = out.runsOn || strings.HasPrefix(line, programRuns)
		for _, form := range []string{"Process exited with code ", "Exit code: "} {
			if code, ok := strings.CutPrefix(strings.TrimSpace(line), form); ok && code != "0" {
				out.failed = true
			}
		}
	}
	return out
}

// The lines that stand above a program's output where it did not come to its end (Codex 0.171).
const (
	programFailed = "Script failed"
	programRuns   = "Script running with cell ID "
)

// isNotRun reports whether what stands in the place of an output says that the tool was never run (Codex 0.169 and 0.171): there is none
// of that name, or its patch does not fit.
func isNotRun(text string) bool {
	for _, begin := range []string{"unsupported call: ", "unsupported custom tool call: ", "apply_patch verification failed: "} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// isFrame reports whether head is made of the lines that stand above a command's output.
func isFrame(head string) bool {
	for line := range strings.Lines(head) {
		known := false
		for _, form := range []string{
			"Chunk ID: ", "Wall time: ", "Process exited with code ", "Process running with session ID ", "Exit code: ",
			"Original token count: ", "Total output lines: ", "Wall time ", "Script completed", programFailed, programRuns,
		} {
			known = known || strings.HasPrefix(line, form)
		}
		if !known {
			return false
		}
	}
	return true
}

// codexContent is the text of a content: a string, or a list of parts of which only texts are quoted.
func codexContent(raw []byte) string {
	return joined(raw, func(part []byte) (string, bool) {
		kind := member(part, "type")
		return member(part, "text"), kind == "text" || kind == "input_text" || kind == "output_text" || kind == "Text"
	})
}
