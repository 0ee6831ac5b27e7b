package agents

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// Codex's newer models (gpt-5.6 on, Codex 0.171) have few tools of their own: they write programs for the tool exec, and these call the
// tools. Hooks report what a program called, each call under an id of its own, and nothing of the program; so do the items of a rollout.
const (
	codexProgram = "exec"
	codexWait    = "wait"  // for a program that runs on, by its cell_id
	codexCallIn  = "exec-" // the ids of calls that a program made begin so
	codexTools   = "tools."
)

// isWaiting reports whether a call only waits for a program.
func isWaiting(tool string, input []byte) bool {
	return tool == codexWait && rawMember(input, "cell_id") != nil
}

// isReported reports whether what a program did was captured call by call, or will be, or is nothing.
func (t *codexReader) isReported(call openCall, ran codexResult) bool {
	return call.tool == codexProgram && (t.itemised || ran.runsOn || !strings.Contains(stringOf(call.input), codexTools))
}

// done takes what an item says that ended: how a call went whose output follows, or a call that a program made.
func (t *codexReader) done(kind, id string, item []byte) bool {
	_, open := t.calls.get(id)
	if !open && strings.HasPrefix(id, codexCallIn) {
		return t.madeByProgram(kind, id, item)
	}
	switch kind {
	case "CommandExecution":
		t.executed(id, item)
	case "FileChange", "McpToolCall":
		if open && isFailedItem(item) {
			t.ran.put(id, codexResult{failed: true}, 0)
		}
	default:
		return false
	}
	return true
}

// isFailedItem reports whether an item says of itself that it did not come to its end.
func isFailedItem(item []byte) bool {
	status := member(item, "status")
	return status == "failed" || status == "declined"
}

// madeByProgram captures a call that a program made, as hooks report it.
func (t *codexReader) madeByProgram(kind, id string, item []byte) bool {
	u := events.ToolUsed{ToolUseID: id, Failed: isFailedItem(item), SubagentID: t.subagent, SubagentType: t.role}
	var server string
	var input, output []byte
	switch kind {
	case "CommandExecution":
		command, _ := codexCommand(rawMember(item, "command"))
		u.Tool, input, output = "Bash", commandInput(quoted(command)), rawMember(item, "aggregated_output")
		ran := codexRan(item)
		u.Failed, u.DurationMS = u.Failed || ran.failed, ran.durationMS
	case "FileChange":
		u.Tool, input, output = "apply_patch", commandInput(quoted(codexPatch(rawMember(item, "changes")))), rawMember(item, "stdout")
	case "McpToolCall":
		server = member(item, "server")
		u.Tool = cleanName(codexMCP+server+"__"+member(item, "tool"), maxName)
		input, output = rawMember(item, "arguments"), rawMember(item, "result")
		if kindOf(output) != '{' {
			output = rawMember(item, "error")
		}
	default:
		return false
	}
	t.itemised = true
	v := t.scrubber()
	u.Cwd = v.text(cmp.Or(codexFolder(member(item, "cwd")), t.origin.Cwd))
	t.capture(t.at, ToolKey(t.origin, id), v.toolUse(u, server, input, output))
	return true
}

// codexFolder is the folder that a file URL names, or that folder itself.
func codexFolder(folder string) string {
	u, err := url.Parse(folder)
	if err != nil || u.Scheme != "file" {
		return folder
	}
	if len(u.Path) > 2 && u.Path[2] == ':' { // of Windows
		return u.Path[1:]
	}
	return u.Path
}

// codexPatch is the patch that the changes of an item came of, in the form in which models write one.
func codexPatch(changes []byte) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	jsonscan.Members(changes, func(key, change []byte) bool {
		file := string(key)
		switch member(change, "type") {
		case "add":
			b.WriteString("*** Add File: " + file + "\n")
			for line := range strings.Lines(member(change, "content")) {
				b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
			}
		case "delete":
			b.WriteString("*** Delete File: " + file + "\n")
		default:
			b.WriteString("*** Update File: " + file + "\n")
			if to := member(change, "move_path"); to != "" {
				b.WriteString("*** Move to: " + to + "\n")
			}
			diff := member(change, "unified_diff")
			b.WriteString(diff)
			if diff != "" && !strings.HasSuffix(diff, "\n") {
				b.WriteString("\n")
			}
		}
		return true
	})
	b.WriteString("*** End Patch\n")
	return b.String()
}
