package agents

import (
	"cmp"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// Cursor is the Cursor editor's agent. A session is a conversation; its folder is the first of workspace_roots.
//
// What becomes of its hooks:
//
//	hook                        captured as               remarks
//	sessionStart                SessionOpened{startup}    memory is wanted; older versions have no such hook
//	beforeSubmitPrompt          PromptSubmitted
//	afterShellExecution         ToolUsed "Shell"          input: the command; no exit code
//	afterMCPExecution           ToolUsed "MCP:tool"
//	afterFileEdit               ToolUsed "Edit"           input: file_path, edits
//	postToolUse of other tools  ToolUsed                  those of shell, MCP and edits have their own hook, above
//	postToolUseFailure          ToolUsed, Failed          output: the error; of all tools
//	subagentStop                ToolUsed "SubagentStop"
//	afterAgentResponse          AgentStopped, stop        the hook stop does not say what the agent said
//	stop                        AgentStopped              error: failure; aborted: none, the work belongs to the next stop
//	sessionEnd                  SessionClosed{reason}     older versions have no such hook: the session's silence ends it
//	all others, known or not    -                         ignored, with a reason
//
// Only sessionStart takes memory. What comes before something happens is asked whether that may happen, and gets no word
// about it, but for beforeSubmitPrompt, where some versions insist on one: continue.
type Cursor struct{}

// Name is "cursor".
func (Cursor) Name() string { return "cursor" }

// Decode implements Agent.
func (c Cursor) Decode(payload []byte, m Meta) (Report, error) {
	return decode(c.Name(), shape{
		event: "hook_event_name", session: "conversation_id", place: (*hookPayload).placeOfCursor, fact: (*hookPayload).ofCursor,
		want: func(p *hookPayload, r *Report, e events.Event) {
			if p.event == "sessionStart" {
				r.want(e)
			}
		},
	}, payload, m)
}

// placeOfCursor finds the session and its folder, the first of the workspace.
func (p *hookPayload) placeOfCursor() {
	p.origin.AgentSession = cmp.Or(p.origin.AgentSession, p.id("session_id"))
	p.origin.Transcript = cleanName(p.text("transcript_path"), maxPath)
	root := ""
	jsonscan.Elements(p.raw("workspace_roots"), func(folder []byte) bool {
		root = stringOf(folder)
		return root == ""
	})
	p.origin.Cwd = cmp.Or(root, p.origin.Cwd)
}

func (p *hookPayload) ofCursor() fact {
	generation := p.name("generation_id")
	switch p.event {
	case "sessionStart":
		return fact{event: events.SessionOpened{Source: "startup"}}
	case "beforeSubmitPrompt":
		return p.prompted(generation, p.text("prompt"))
	case "afterShellExecution", "afterMCPExecution", "afterFileEdit", "postToolUse", "postToolUseFailure":
		return p.usedByCursor()
	case "subagentStop":
		result := p.cursorResult()
		t := p.scrubber.subagentStopped(stringOf(result), p.origin.Cwd, p.name("subagent_id"), p.name("subagent_type"))
		t.OutputSize = len(result)
		return fact{event: t}
	case "afterAgentResponse":
		return p.stopped(generation, p.text("text"))
	case "stop":
		return p.stoppedByCursor()
	case "sessionEnd":
		return p.closed()
	}
	return notRecorded(p.event)
}

// cursorResult is what came of something, which versions call by several names.
func (p *hookPayload) cursorResult() []byte { return p.raw("result_json", "result", "summary") }

// stoppedByCursor is the end of the agent's loop.
func (p *hookPayload) stoppedByCursor() fact {
	e := p.scrubber.agentStopped(events.StopDone, "")
	switch status := p.name("status"); status {
	case "aborted":
		return ignore("the turn was interrupted")
	case "error":
		e.Cause, e.Error = events.StopFailure, status
	}
	return fact{event: e}
}

func (p *hookPayload) usedByCursor() fact {
	t := events.ToolUsed{
		Tool: p.name("tool_name"), ToolUseID: p.name("tool_use_id"), Cwd: p.scrubber.text(cmp.Or(p.text("cwd"), p.origin.Cwd)),
		DurationMS: milliseconds(p.raw("duration", "duration_ms")),
	}
	input, output, server := unquoted(p.raw("tool_input")), p.raw("output", "tool_output"), ""
	switch p.event {
	case "afterShellExecution":
		t.Tool, input = "Shell", commandInput(quoted(p.text("command")))
	case "afterMCPExecution":
		if t.Tool != "" && !strings.HasPrefix(t.Tool, "MCP:") {
			t.Tool = "MCP:" + t.Tool
		}
		if isMemoryCommand(p.text("command")) {
			server = "cmemd"
		}
		output = unquoted(p.cursorResult())
	case "afterFileEdit":
		t.Tool, input = "Edit", cursorEdit(p.raw("file_path"), p.raw("edits"))
	case "postToolUse":
		if hasOwnHook(t.Tool) {
			return ignore(t.Tool + " has a hook of its own")
		}
		output = unquoted(output)
	case "postToolUseFailure":
		t.Failed, output = true, quoted(p.text("error_message"))
	}
	return p.used(t, server, input, output)
}

// hasOwnHook reports whether what a tool does is reported by a hook of its own too.
func hasOwnHook(tool string) bool {
	switch tool {
	case "Shell", "Write", "Edit", "MultiEdit", "StrReplace":
		return true
	}
	return strings.HasPrefix(tool, "MCP:")
}

// cursorEdit is the input of an edit.
func cursorEdit(file, edits []byte) []byte {
	out := []byte(`{"file_path":`)
	if kindOf(file) != '"' {
		file = []byte(`""`)
	}
	out = append(out, file...)
	if kindOf(edits) == '[' {
		out = append(append(out, `,"edits":`...), edits...)
	}
	return append(out, '}')
}

// cursorReply is the JSON that Cursor reads from sessionStart.
type cursorReply struct {
	Context string `json:"additional_context"`
}

// Reply implements Agent.
func (Cursor) Reply(r Report, a Answer) []byte {
	switch {
	case r.Event == "beforeSubmitPrompt":
		return []byte(`{"continue":true}`)
	case r.Event == "sessionStart" && a.Context != "":
		return encode(cursorReply{capContext(a.Context)})
	}
	return nil
}
