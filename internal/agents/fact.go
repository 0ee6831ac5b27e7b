package agents

import (
	"cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
)

// fact is what a payload becomes: an event, with its key if something in the payload names it, or why there is none.
type fact struct {
	event   events.Event
	key     events.Key
	ignored string
	refused error // the payload will never be taken
}

// ignore is a payload of which nothing is captured.
func ignore(why string) fact { return fact{ignored: why} }

// notRecorded is a payload whose event means nothing here.
func notRecorded(event string) fact { return ignore(event + " is not recorded") }

// ignoredUnnamedTool is a report of a tool call that names no tool.
const ignoredUnnamedTool = "the payload names no tool"

// machineMade is a prompt of which no word is the user's.
const machineMade = "the prompt was made by the agent, not by the user"

// opened is the start of a session.
func (p *hookPayload) opened() fact {
	return fact{event: events.SessionOpened{Source: cmp.Or(p.name("source"), "startup")}}
}

// prompted is a prompt. ID is the agent's own of it, or "".
func (p *hookPayload) prompted(id, text string) fact {
	prompt, machine := p.scrubber.promptSubmitted(text)
	if machine {
		return ignore(machineMade)
	}
	return fact{event: prompt, key: factKey(p.origin, "prompt", id, prompt.Text)}
}

// used is a tool call, of which t says all but what the tool was given and what came of it. Server is the MCP server that it
// belongs to, if the agent says.
func (p *hookPayload) used(t events.ToolUsed, server string, input, output []byte) fact {
	if t.Tool == "" {
		return ignore(ignoredUnnamedTool)
	}
	return fact{event: p.scrubber.toolUse(t, server, input, output), key: ToolKey(p.origin, t.ToolUseID)}
}

// subagentStopped is the end of a subagent's answer. What names it is the agent's own id of it, or "".
func (p *hookPayload) subagentStopped(what, said, id, kind string) fact {
	t := p.scrubber.subagentStopped(said, p.origin.Cwd, id, kind)
	return fact{event: t, key: factKey(p.origin, "subagent", what, t.Output)}
}

// stopped is the end of an answer. ID is the agent's own of the prompt, or "".
func (p *hookPayload) stopped(id, said string) fact {
	e := p.scrubber.agentStopped(events.StopDone, said)
	return fact{event: e, key: factKey(p.origin, "stop", id, e.LastMessage)}
}

// failed is the end of an answer by an error.
func (p *hookPayload) failed(id, said, failure string) fact {
	e := p.scrubber.agentFailed(said, failure)
	return fact{event: e, key: factKey(p.origin, "stop", id, e.LastMessage)}
}

// compacted is a compaction.
func (p *hookPayload) compacted(id, summary, trigger string) fact {
	e := p.scrubber.contextCompacted(summary, trigger)
	return fact{event: e, key: factKey(p.origin, "compact", id, e.Summary)}
}

// closed is the end of a session.
func (p *hookPayload) closed() fact {
	return fact{event: events.SessionClosed{Cause: cmp.Or(p.name("reason"), "other")}}
}

// agentFailed is the end of an answer by an error.
func (v *scrubber) agentFailed(said, failure string) events.AgentStopped {
	e := v.agentStopped(events.StopFailure, said)
	e.Error = clip.Head(v.message(failure), maxName)
	e.Redactions = v.found
	return e
}

// subagentStopped is what a subagent said last, as the use of a tool.
func (v *scrubber) subagentStopped(said, cwd, id, kind string) events.ToolUsed {
	t := events.ToolUsed{
		Tool: "SubagentStop", Output: v.message(said), OutputSize: len(said), Cwd: v.text(cwd), SubagentID: id, SubagentType: kind,
	}
	t.Redactions = v.found
	return t
}

// toolUse fills in what a tool was given and what came of it. Server is the MCP server that it belongs to, if the agent says.
func (v *scrubber) toolUse(t events.ToolUsed, server string, input, output []byte) events.ToolUsed {
	if isMemoryCall(t.Tool, server, input) {
		t = ownCall(t, input, len(output))
	} else {
		t.Input, t.InputSize = v.toolText(input, nil)
		t.Output, t.OutputSize = v.toolText(output, input)
	}
	t.Redactions = v.found
	return t
}
