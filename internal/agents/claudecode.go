package agents

import (
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// ClaudeCode is Anthropic's Claude Code. The tables in the package comment say what becomes of its events.
type ClaudeCode struct{}

// Name is "claude-code".
func (ClaudeCode) Name() string { return "claude-code" }

// Decode implements Agent.
func (c ClaudeCode) Decode(payload []byte, m Meta) (Report, error) {
	s := claudeShape()
	s.fact = func(p *hookPayload) fact { return p.ofClaude(p.name("prompt_id")) }
	return decode(c.Name(), s, payload, m)
}

// claudeShape is the shape of Claude Code's payloads, and of those of the agents that follow it, but for what becomes of them.
func claudeShape() shape {
	return shape{
		event: "hook_event_name", session: "session_id", want: wantOfClaude,
		place: func(p *hookPayload) { p.origin.Transcript = cleanName(p.text("transcript_path"), maxPath) },
	}
}

// wantOfClaude wants memory before a file is read too. A subagent has a conversation of its own, of which nobody knows what it
// holds.
func wantOfClaude(p *hookPayload, r *Report, e events.Event) {
	if p.event != "SessionStart" && p.text("agent_id") != "" {
		return
	}
	if r.want(e); p.event != "PreToolUse" {
		return
	}
	if file := fileToRead(p.raw("tool_input")); file != "" {
		r.Wants, r.File = WantFile, file
	}
}

// fileToRead is the file that a tool call is about to read, told by the shape of its input: it names a file and, beside
// it, no words to write or to look for.
func fileToRead(input []byte) (file string) {
	if !isObject(input) {
		return ""
	}
	jsonscan.Members(input, func(key, value []byte) bool {
		switch {
		case string(key) == "file_path":
			file = stringOf(value)
		case string(key) != "pages" && kindOf(value) != 'n' && !isNumber(value):
			file = ""
			return false
		}
		return true
	})
	if len(file) > maxPath || strings.ContainsRune(file, 0) {
		return ""
	}
	return file
}

// isNumber reports whether a JSON value is a number.
func isNumber(value []byte) bool {
	k := kindOf(value)
	return k == '-' || '0' <= k && k <= '9'
}

// ofClaude says what a payload of Claude Code's shape becomes. PromptID is the agent's own id of the prompt.
func (p *hookPayload) ofClaude(promptID string) fact {
	switch p.event {
	case "SessionStart":
		return p.opened()
	case "UserPromptSubmit":
		return p.prompted(promptID, p.text("prompt"))
	case "PostToolUse":
		return p.usedByClaude(p.raw("tool_response"))
	case "PostToolUseFailure":
		return p.usedByClaude(p.raw("error"))
	case "SubagentStop":
		id, kind := p.name("agent_id"), p.name("agent_type")
		if kind == "" { // its words come in PostCompact
			return ignore("the subagent has no type: it is the agent's own summariser")
		}
		return p.subagentStopped(id, p.text(lastWords), id, kind)
	case "Stop":
		f := p.stopped(promptID, p.text(lastWords))
		if p.flag("stop_hook_active") {
			f.key = events.Key{} // it may have said the same at the stop before
		}
		return f
	case "StopFailure":
		f := p.failed(promptID, p.text(lastWords), p.text("error"))
		f.event = withoutFailureText(f.event.(events.AgentStopped))
		return f
	case "PostCompact":
		return p.compacted(promptID, p.text("compact_summary"), p.name("trigger"))
	case "SessionEnd":
		return p.closed()
	}
	return notRecorded(p.event)
}

// withoutFailureText is a stop after an error without what Claude Code writes in the place of the agent's words, which says how its request
// failed: that is no work, and no finding. The key of the stop is made of that text all the same.
func withoutFailureText(e events.AgentStopped) events.AgentStopped {
	e.LastMessage = ""
	return e
}

// lastWords is the member with what the agent said last.
const lastWords = "last_assistant_message"

func (p *hookPayload) usedByClaude(output []byte) fact {
	t := events.ToolUsed{
		ToolUseID: p.name("tool_use_id"), Tool: p.name("tool_name"), Failed: p.event == "PostToolUseFailure",
		Cwd: p.scrubber.text(p.origin.Cwd), SubagentID: p.name("agent_id"), DurationMS: milliseconds(p.raw("duration_ms")),
	}
	if t.SubagentID != "" {
		t.SubagentType = p.name("agent_type")
	}
	return p.used(t, member(p.raw("mcp_server"), "name"), p.raw("tool_input"), output)
}

// Reply implements Agent. Only the start of a session, a prompt and the reading of a file are answered: at Stop a context
// would make the agent go on, and be asked for again at the next Stop. A notice goes out at the start alone.
func (ClaudeCode) Reply(r Report, a Answer) []byte {
	return replyContext(r.Event, answerAt(r.Event, a, "SessionStart", "UserPromptSubmit", "PreToolUse"))
}
