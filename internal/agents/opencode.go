package agents

import (
	"bytes"
	"cmp"
	_ "embed" // the plugin
	"encoding/json"
	"strings"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// OpenCode has no hooks of its own: a plugin, Script, reports what it is told. Each payload names the plugin's hook
// and carries what OpenCode gave it: {hook, input, output}; beside it the folder (directory), the session that a subagent works
// for (session, subagent), and the agent's last words (said, message), which OpenCode's own event does not repeat.
//
// What becomes of them:
//
//	hook, event of the bus              captured as            remarks
//	session.created                     SessionOpened{startup} memory is wanted
//	session.resumed                     SessionOpened{resume}  of the plugin: the first sight of an older session. Memory is
//	                                                           wanted as at a start: it stands in the system's prompt, which
//	                                                           no conversation keeps
//	chat.message                        PromptSubmitted        the parts that are not synthetic; of a subagent: none
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

type openCodePayload struct {
	hook, event, directory, session, subagent string
	said, message                             string
	input, output, properties                 []byte
	sieve                                     sieve
}

// Decode implements Agent.
func (c OpenCode) Decode(payload []byte, m Meta) (Report, error) {
	p := openCodePayload{sieve: m.sieve()}
	if err := p.read(payload); err != nil {
		return Report{}, err
	}
	p.resolve()
	o := session.Origin{Agent: c.Name(), AgentSession: p.session, Cwd: p.directory}
	r, err := newReport(p.event, "hook", o, "session")
	if err != nil {
		return Report{}, err
	}
	f := p.translate(o)
	if r.want(f.event); r.Wants == WantResume {
		r.Wants = WantStartup
	}
	return r.report(m, f), nil
}

// read reads the members that mean something here.
func (p *openCodePayload) read(payload []byte) error {
	return readPayload(payload, nil, []field{
		{"hook", (*asName)(&p.hook)},
		{"directory", (*asText)(&p.directory)},
		{"session", (*asID)(&p.session)},
		{"subagent", (*asName)(&p.subagent)},
		{"said", (*asText)(&p.said)},
		{"message", (*asName)(&p.message)},
		{"input", &p.input},
		{"output", &p.output},
	})
}

// resolve finds out what happened, in which session and where.
func (p *openCodePayload) resolve() {
	p.event, p.properties = p.hook, p.input
	if p.hook == "event" {
		p.event, p.properties = cleanName(member(p.input, "type"), maxName), rawMember(p.input, "properties")
	}
	info := rawMember(p.properties, "info")
	for _, id := range []string{
		member(p.properties, "sessionID"), member(rawMember(p.properties, "part"), "sessionID"), member(info, "id"),
	} {
		p.session = cmp.Or(p.session, strings.TrimSpace(id))
	}
	p.directory = cmp.Or(p.directory, cmp.Or(member(info, "directory"), member(p.properties, "directory")))
}

func (p *openCodePayload) translate(o session.Origin) fact {
	switch p.event {
	case "session.created", "session.resumed":
		if p.subagent != "" || member(rawMember(p.properties, "info"), "parentID") != "" {
			return ignore("a subagent works for the session that called it")
		}
		source := "startup"
		if p.event == "session.resumed" {
			source = "resume"
		}
		return fact{event: events.SessionOpened{Source: source}}
	case "chat.message":
		if p.subagent != "" {
			return ignore(machineMade)
		}
		return p.sieve.prompted(o, member(rawMember(p.output, "message"), "id"), openCodeTyped(rawMember(p.output, "parts")))
	case "message.part.updated":
		return p.toolUsed(o)
	case "session.idle":
		return p.idle(o)
	case "session.error":
		return p.failed()
	case "session.compacted":
		e := p.sieve.contextCompacted(p.said, "")
		return fact{event: e, key: factKey(o, "compact", p.message, e.Summary)}
	case "session.deleted":
		if p.subagent != "" {
			return ignore("a subagent works for the session that called it")
		}
		return fact{event: events.SessionClosed{Cause: "deleted"}}
	}
	return notRecorded(p.event)
}

// openCodeTyped is what the user typed of a message's parts. Synthetic ones are the agent's: files read out, reminders.
func openCodeTyped(parts []byte) string {
	return joined(parts, func(part []byte) (string, bool) {
		return member(part, "text"), member(part, "type") == "text" && !isTrue(rawMember(part, "synthetic"))
	})
}

func (p *openCodePayload) toolUsed(o session.Origin) fact {
	part := rawMember(p.properties, "part")
	t, ended := openCodeTool(&p.sieve, part)
	if !ended {
		return ignore("the part is no tool call that ended")
	}
	t.Cwd, t.SubagentID = p.sieve.text(o.Cwd), p.subagent
	t.Redactions = p.sieve.found
	return fact{event: t, key: ToolKey(o, t.ToolUseID)}
}

// openCodeTool is the tool call in a part, and whether it ended. The same tools of MCP servers are called server_tool.
func openCodeTool(v *sieve, part []byte) (t events.ToolUsed, ended bool) {
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
	return v.use(t, server, rawMember(state, "input"), output), true
}

// idle is the end of an answer.
func (p *openCodePayload) idle(o session.Origin) fact {
	if p.subagent == "" {
		return p.sieve.stopped(o, p.message, p.said)
	}
	t := p.sieve.subagentStopped(p.said, o.Cwd, p.subagent, "")
	return fact{event: t, key: factKey(o, "subagent", p.message, t.Output)}
}

// failed is an answer that ended with an error.
func (p *openCodePayload) failed() fact {
	problem := rawMember(p.properties, "error")
	name := member(problem, "name")
	switch {
	case name == "MessageAbortedError":
		return ignore("the turn was interrupted")
	case p.subagent != "":
		return ignore("the subagent's session says what became of it")
	}
	return fact{event: p.sieve.agentFailed("", cmp.Or(name, "error"))}
}

// Reply implements Agent: the plugin puts the context into the system's prompt.
func (OpenCode) Reply(r Report, a Answer) []byte {
	switch r.Event {
	case "session.created", "session.resumed", "chat.message":
		if a.Context != "" {
			return encode(rawReply{Context: capContext(a.Context)})
		}
	}
	return nil
}
