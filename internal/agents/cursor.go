package agents

import (
	"cmp"
	"strings"

	"github.com/cmemd/cmemd/actors/session"
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

type cursorPayload struct {
	event, conversation, session, generation string
	transcript, cwd                          string
	prompt, text, command, failure           string
	tool, toolUseID, reason, status          string
	subagentID, subagentType                 string
	file, edits, input, output, result       []byte
	roots, duration                          []byte
	sieve                                    sieve
}

// Decode implements Agent.
func (c Cursor) Decode(payload []byte, m Meta) (Report, error) {
	p := cursorPayload{sieve: m.sieve()}
	if err := p.read(payload); err != nil {
		return Report{}, err
	}
	o := session.Origin{
		Agent: c.Name(), AgentSession: cmp.Or(p.conversation, p.session), Cwd: cmp.Or(p.root(), p.cwd), Transcript: p.transcript,
	}
	r, err := newReport(p.event, "hook_event_name", o, "conversation_id")
	if err != nil {
		return Report{}, err
	}
	if p.event == "sessionStart" {
		r.Wants = WantStartup
	}
	return r.report(m, p.translate(o)), nil
}

// read reads the members that mean something here.
func (p *cursorPayload) read(payload []byte) error {
	return readPayload(payload, nil, []field{
		{"hook_event_name", (*asName)(&p.event)},
		{"conversation_id", (*asID)(&p.conversation)},
		{"session_id", (*asID)(&p.session)},
		{"generation_id", (*asName)(&p.generation)},
		{"transcript_path", (*asPath)(&p.transcript)},
		{"cwd", (*asText)(&p.cwd)},
		{"workspace_roots", &p.roots},
		{"reason", (*asName)(&p.reason)},
		{"status", (*asName)(&p.status)},
		{"subagent_id", (*asName)(&p.subagentID)},
		{"subagent_type", (*asName)(&p.subagentType)},
		{"prompt", (*asText)(&p.prompt)},
		{"text", (*asText)(&p.text)},
		{"command", (*asText)(&p.command)},
		{"tool_name", (*asName)(&p.tool)},
		{"tool_use_id", (*asName)(&p.toolUseID)},
		{"error_message", (*asText)(&p.failure)},
		{"file_path", &p.file},
		{"edits", &p.edits},
		{"tool_input", &p.input},
		{"output", &p.output},
		{"tool_output", &p.output},
		{"result_json", &p.result},
		{"result", &p.result},
		{"summary", &p.result},
		{"duration", &p.duration},
		{"duration_ms", &p.duration},
	})
}

// root is the first folder of the workspace.
func (p *cursorPayload) root() (first string) {
	jsonscan.Elements(p.roots, func(root []byte) bool {
		first = stringOf(root)
		return first == ""
	})
	return first
}

func (p *cursorPayload) translate(o session.Origin) fact {
	switch p.event {
	case "sessionStart":
		return fact{event: events.SessionOpened{Source: "startup"}}
	case "beforeSubmitPrompt":
		return p.sieve.prompted(o, p.generation, p.prompt)
	case "afterShellExecution", "afterMCPExecution", "afterFileEdit", "postToolUse", "postToolUseFailure":
		return p.toolUsed(o)
	case "subagentStop":
		t := p.sieve.subagentStopped(stringOf(p.result), o.Cwd, p.subagentID, p.subagentType)
		t.OutputSize = len(p.result)
		return fact{event: t}
	case "afterAgentResponse":
		return p.sieve.stopped(o, p.generation, p.text)
	case "stop":
		return p.stopped()
	case "sessionEnd":
		return fact{event: events.SessionClosed{Cause: cmp.Or(p.reason, "other")}}
	}
	return notRecorded(p.event)
}

// stopped is the end of the agent's loop.
func (p *cursorPayload) stopped() fact {
	switch p.status {
	case "aborted":
		return ignore("the turn was interrupted")
	case "error":
		e := p.sieve.agentStopped(events.StopFailure, "")
		e.Error = p.status
		return fact{event: e}
	}
	return fact{event: p.sieve.agentStopped(events.StopDone, "")}
}

func (p *cursorPayload) toolUsed(o session.Origin) fact {
	t := events.ToolUsed{
		Tool: p.tool, ToolUseID: p.toolUseID, Cwd: p.sieve.text(cmp.Or(p.cwd, o.Cwd)), DurationMS: milliseconds(p.duration),
	}
	input, output := unquoted(p.input), p.output
	switch p.event {
	case "afterShellExecution":
		t.Tool, input = "Shell", object("command", quoted(p.command))
	case "afterMCPExecution":
		if t.Tool != "" && !strings.HasPrefix(t.Tool, "MCP:") {
			t.Tool = "MCP:" + t.Tool
		}
		output = unquoted(p.result)
	case "afterFileEdit":
		t.Tool, input = "Edit", cursorEdit(p.file, p.edits)
	case "postToolUse":
		if hasOwnHook(p.tool) {
			return ignore(p.tool + " has a hook of its own")
		}
		output = unquoted(p.output)
	case "postToolUseFailure":
		t.Failed, output = true, quoted(p.failure)
	}
	if t.Tool == "" {
		return ignore(nameless)
	}
	server := ""
	if p.event == "afterMCPExecution" && isMemoryCommand(p.command) {
		server = "cmemd"
	}
	return fact{event: p.sieve.use(t, server, input, output), key: ToolKey(o, p.toolUseID)}
}

// hasOwnHook reports whether what a tool does is told by a hook of its own too.
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
