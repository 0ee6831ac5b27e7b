package agents

import (
	"strings"

	"github.com/cmemd/cmemd/events"
)

// Gemini is Google's Gemini CLI.
//
// What becomes of its hooks:
//
//	hook                      captured as            remarks
//	SessionStart              SessionOpened{source}  startup, clear: memory is wanted; resume: what is new
//	BeforeAgent               PromptSubmitted        without <hook_context>, which stands before the user's words
//	AfterTool                 ToolUsed               output: what the model was given, without <untrusted_context>, or the
//	                                                 diff of a file; failed: by the error, or the exit code of a shell
//	AfterAgent                AgentStopped           the whole answer
//	SessionEnd                SessionClosed{reason}
//	PreCompress               -                      it comes before every call of the model, compressed or not
//	all others, known or not  -                      ignored, with a reason
//
// Memory goes back at SessionStart and, where that is asked for, at BeforeAgent. What Gemini gets it shows the model with
// < and > escaped, inside <hook_context>.
//
// Hooks carry no ids of prompts and tool calls: each is known by its delivery. Its chats have other keys; see SharesKeys.
type Gemini struct{}

// Name is "gemini-cli".
func (Gemini) Name() string { return "gemini-cli" }

// Decode implements Agent. Gemini CLI named its members after Claude Code's.
func (g Gemini) Decode(payload []byte, m Meta) (Report, error) {
	s := claudeShape()
	s.fact, s.want = (*hookPayload).ofGemini, wantAll
	return decode(g.Name(), s, payload, m)
}

func (p *hookPayload) ofGemini() fact {
	switch p.event {
	case "SessionStart":
		return p.opened()
	case "BeforeAgent":
		return p.prompted("", withoutHookContext(p.text("prompt")))
	case "AfterTool":
		tool, response := p.name("tool_name"), p.raw("tool_response")
		if tool == "" {
			return ignore(ignoredUnnamedTool)
		}
		return fact{event: geminiTool{
			tool: tool, server: cleanName(member(p.raw("mcp_context"), "server_name"), maxName), input: p.raw("tool_input"),
			result: rawMember(response, "llmContent"), display: rawMember(response, "returnDisplay"), failure: rawMember(response, "error"),
		}.used(&p.scrubber, events.ToolUsed{Cwd: p.scrubber.text(p.origin.Cwd)})}
	case "AfterAgent":
		return p.stopped("", withoutHookContext(p.text("prompt_response")))
	case "SessionEnd":
		return p.closed()
	}
	return notRecorded(p.event)
}

// Reply implements Agent.
func (Gemini) Reply(r Report, a Answer) []byte {
	return replyContext(r.Event, answerAt(r.Event, a, "SessionStart", "BeforeAgent"))
}

// hookContextTag is the element around what hooks gave the model.
const hookContextTag = "hook_context"

// withoutHookContext is s without what hooks of anybody put into it.
func withoutHookContext(s string) string {
	if !strings.Contains(s, "<"+hookContextTag) {
		return s
	}
	return strings.TrimSpace(cutTags(s, []string{hookContextTag}))
}

// geminiTool is a tool call as hooks and chats report it.
type geminiTool struct {
	tool, server string
	input        []byte
	result       []byte // what the model was given
	display      []byte // what the person was shown
	failure      []byte // an error, null or nothing
	failed       bool   // the agent says so
	id           string // the agent's own, or ""
}

// used fills in t. Server names of MCP tools stand in their names: mcp_server_tool.
func (g geminiTool) used(v *scrubber, t events.ToolUsed) events.ToolUsed {
	t.Tool, t.ToolUseID = g.tool, g.id
	output, failed := g.output()
	t.Failed = failed
	if strings.HasPrefix(g.tool, "mcp_cmemd_") || strings.HasPrefix(g.tool, "cmemd__") {
		g.server = "cmemd"
	}
	return v.toolUse(t, g.server, g.input, output)
}

// output is what came of the call, and whether it failed. A change to a file is reported by its diff: what the model is given
// repeats the file.
func (g geminiTool) output() (raw []byte, failed bool) {
	if kindOf(g.failure) == '{' {
		if message := member(g.failure, "message"); message != "" {
			return quoted(message), true
		}
		return g.failure, true
	}
	if diff := rawMember(g.display, "fileDiff"); !g.failed && kindOf(diff) == '"' && stringOf(diff) != "" {
		return diff, false
	}
	if kindOf(g.result) != '"' {
		return g.result, g.failed
	}
	text, failed := trusted(withoutHookContext(stringOf(g.result)))
	return quoted(text), g.failed || failed
}

const (
	untrustedOpen  = "<untrusted_context>"
	untrustedClose = "</untrusted_context>"
)

// trusted takes the text out of the element that says not to trust it: without the word before a command's output, and the
// last line, which is a number of the system's. It reports whether the lines of the frame say that a command failed.
func trusted(text string) (inner string, failed bool) {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutPrefix(text, untrustedOpen)
	if !ok {
		return text, false
	}
	inner = strings.TrimPrefix(strings.TrimSpace(strings.TrimSuffix(inner, untrustedClose)), "Output: ")
	if i := strings.LastIndexByte(inner, '\n'); i >= 0 && strings.HasPrefix(inner[i+1:], "Process Group PGID: ") {
		inner = inner[:i]
	}
	return inner, failedFrame(inner)
}

// failedFrame reports whether one of the lines that the frame puts behind an output is an exit code that is no success.
func failedFrame(text string) bool {
	for {
		i := strings.LastIndexByte(text, '\n')
		line := text[i+1:]
		if code, ok := strings.CutPrefix(line, "Exit Code: "); ok {
			return code != "0" && code != "(none)"
		}
		if i < 0 || !strings.HasPrefix(line, "Signal: ") && !strings.HasPrefix(line, "Background PIDs: ") {
			return false
		}
		text = text[:i]
	}
}
