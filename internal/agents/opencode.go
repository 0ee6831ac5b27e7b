package agents

import (
	"bytes"
	"cmp"
	_ "embed" // the plugin
	"encoding/json"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// OpenCode has no hooks of its own: a plugin, Script, reports what it hears. Each payload names the plugin's hook
// and carries what OpenCode gave it: {hook, input, output}; beside it the folder (directory), the session that a subagent works
// for (session, subagent), and the agent's last words (said, message), which OpenCode's own events do not repeat.
//
// What becomes of them:
//
//	hook, event of the bus              captured as            remarks
//	session.created                     SessionOpened{startup} memory is wanted
//	session.resumed                     SessionOpened{resume}  of the plugin: the first sight of an older session. Memory is
//	                                                           wanted as at a start: it stands in the system's prompt, which
//	                                                           no conversation keeps
//	chat.message                        PromptSubmitted        the parts that are not synthetic; of a subagent: none
//	message.said                        AgentSaid              of the plugin: what a message says before its tool calls
//	message.part.updated, tool ended    ToolUsed               completed or error; failed also by a shell's exit code
//	session.idle                        AgentStopped           of a subagent: ToolUsed "SubagentStop"
//	session.error                       AgentStopped, failure  an abort: none
//	session.compacted                   ContextCompacted
//	session.deleted                     SessionClosed
//	tool.execute.after                  -                      does not come where a tool failed: the bus tells of both
//	all others, known or not            -                      ignored, with a reason
type OpenCode struct{}

//go:embed opencode/plugin.js
var openCodePlugin []byte

// Script is the plugin file for OpenCode's plugin folder. It runs command, "cmemd-hook" and its arguments, for each
// report; none means cmemd-hook as it is found on the PATH. The caller owns the result.
func (OpenCode) Script(command ...string) []byte {
	if len(command) == 0 {
		return bytes.Clone(openCodePlugin)
	}
	words, _ := json.Marshal(command) // strings always encode
	return bytes.Replace(openCodePlugin, []byte(`["cmemd-hook", "opencode"]`), words, 1)
}

// Name is "opencode".
func (OpenCode) Name() string { return "opencode" }

// Decode implements Agent.
func (c OpenCode) Decode(payload []byte, m Meta) (Report, error) {
	return decode(c.Name(), shape{
		event: "hook", session: "session", place: (*hookPayload).placeOfOpenCode, fact: (*hookPayload).ofOpenCode,
		want: func(_ *hookPayload, r *Report, e events.Event) {
			if r.want(e); r.Wants == WantResume {
				r.Wants = WantStartup
			}
		},
	}, payload, m)
}

// busProperties are what OpenCode says of what happened: behind the type of the event where the bus carried it.
func (p *hookPayload) busProperties() []byte {
	if p.name("hook") == "event" {
		return rawMember(p.raw("input"), "properties")
	}
	return p.raw("input")
}

// placeOfOpenCode finds out what happened, in which session and where.
func (p *hookPayload) placeOfOpenCode() {
	if p.event == "event" {
		p.event = cleanName(member(p.raw("input"), "type"), maxName)
	}
	properties := p.busProperties()
	info := rawMember(properties, "info")
	for _, id := range []string{
		member(properties, "sessionID"), member(rawMember(properties, "part"), "sessionID"), member(info, "id"),
	} {
		p.origin.AgentSession = cmp.Or(p.origin.AgentSession, strings.TrimSpace(id))
	}
	p.origin.Cwd = cmp.Or(p.text("directory"), cmp.Or(member(info, "directory"), member(properties, "directory")))
}

func (p *hookPayload) ofOpenCode() fact {
	subagent, message, said, properties := p.name("subagent"), p.name("message"), p.text("said"), p.busProperties()
	switch p.event {
	case "session.created", "session.resumed":
		if subagent != "" || member(rawMember(properties, "info"), "parentID") != "" {
			return ignore(subagentReason)
		}
		source := "startup"
		if p.event == "session.resumed" {
			source = "resume"
		}
		return fact{event: events.SessionOpened{Source: source}}
	case "chat.message":
		if subagent != "" {
			return ignore(machineMade)
		}
		output := p.raw("output")
		return p.prompted(member(rawMember(output, "message"), "id"), openCodeTyped(rawMember(output, "parts")))
	case "message.part.updated":
		return p.usedByOpenCode(subagent, rawMember(properties, "part"))
	case "message.said":
		return p.saidInOpenCode(subagent, message, said)
	case "session.idle":
		if subagent == "" {
			return p.stopped(message, said)
		}
		return p.subagentStopped(message, said, subagent, "")
	case "session.error":
		return p.failedInOpenCode(subagent, member(rawMember(properties, "error"), "name"))
	case "session.compacted":
		return p.compacted(message, said, "")
	case "session.deleted":
		if subagent != "" {
			return ignore(subagentReason)
		}
		return fact{event: events.SessionClosed{Cause: "deleted"}}
	}
	return notRecorded(p.event)
}

// subagentReason is why the life of a subagent's session is not recorded.
const subagentReason = "a subagent works for the session that called it"

// openCodeTyped is what the user typed of a message's parts. Synthetic ones are the agent's: files read out, reminders.
func openCodeTyped(parts []byte) string {
	return withoutRunQuotes(joined(parts, func(part []byte) (string, bool) {
		return member(part, "text"), member(part, "type") == "text" && !isTrue(rawMember(part, "synthetic"))
	}))
}

// withoutRunQuotes takes a prompt out of the quotes into which `opencode run` puts an argument with a blank in it.
func withoutRunQuotes(prompt string) string {
	inner, begins := strings.CutPrefix(prompt, `"`)
	inner, ends := strings.CutSuffix(inner, `"`)
	if !begins || !ends || strings.Contains(strings.ReplaceAll(inner, `\"`, ""), `"`) {
		return prompt
	}
	return strings.ReplaceAll(inner, `\"`, `"`)
}

// saidInOpenCode is what the agent said before the tool calls of a message.
func (p *hookPayload) saidInOpenCode(subagent, message, said string) fact {
	if subagent != "" {
		return ignore(subagentReason)
	}
	e, ok := (&finalText{text: said}).remark(&p.scrubber)
	if !ok {
		return ignore("nothing was said")
	}
	return fact{event: e, key: factKey(p.origin, "said", message, e.Text)}
}

func (p *hookPayload) usedByOpenCode(subagent string, part []byte) fact {
	t, ended := openCodeTool(&p.scrubber, part)
	if !ended {
		return ignore("the part is no tool call that ended")
	}
	t.Cwd, t.SubagentID = p.scrubber.text(p.origin.Cwd), subagent
	t.Redactions = p.scrubber.found
	return fact{event: t, key: ToolKey(p.origin, t.ToolUseID)}
}

// openCodeTool is the tool call in a part, and whether it ended. The same tools of MCP servers are called server_tool.
func openCodeTool(v *scrubber, part []byte) (t events.ToolUsed, ended bool) {
	state := rawMember(part, "state")
	status := member(state, "status")
	t = events.ToolUsed{
		Tool: cleanName(member(part, "tool"), maxName), ToolUseID: cleanName(member(part, "callID"), maxName),
		Failed: status == "error" || isNonZero(rawMember(rawMember(state, "metadata"), "exit")),
	}
	if member(part, "type") != "tool" || t.Tool == "" || status != "completed" && status != "error" {
		return t, false
	}
	times := rawMember(state, "time")
	start, _ := json.Number(rawMember(times, "start")).Int64()
	end, _ := json.Number(rawMember(times, "end")).Int64()
	if start > 0 && end > start {
		t.DurationMS = end - start
	}
	output := rawMember(state, "output")
	if status == "error" {
		output = rawMember(state, "error")
	}
	server := ""
	if strings.HasPrefix(t.Tool, "cmemd_") {
		server = "cmemd"
	}
	return v.toolUse(t, server, rawMember(state, "input"), output), true
}

// failedInOpenCode is an answer that ended with an error.
func (p *hookPayload) failedInOpenCode(subagent, name string) fact {
	switch {
	case name == "MessageAbortedError":
		return ignore("the turn was interrupted")
	case subagent != "":
		return ignore("the subagent's session says what became of it")
	}
	return p.failed("", "", cmp.Or(name, "error"))
}

// Reply implements Agent: the plugin puts the context into the system's prompt.
func (OpenCode) Reply(r Report, a Answer) []byte {
	return replyRaw(answerAt(r.Event, a, "", "session.created", "session.resumed", "chat.message"))
}
