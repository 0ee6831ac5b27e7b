package agents

import (
	"cmp"
	"strings"
	"unicode/utf16"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// ClaudeCode is Anthropic's Claude Code. The tables in the package comment say what becomes of its events.
type ClaudeCode struct{}

// Name is "claude-code".
func (ClaudeCode) Name() string { return "claude-code" }

// claudePayload holds the fields of a hook payload that mean something here. Raw fields alias the payload.
type claudePayload struct {
	event, session, transcript, cwd string
	promptID, agentID, agentType    string
	source, prompt, tool, toolUseID string
	lastMessage, failure, trigger   string
	compactSummary, reason          string
	input, response, server         []byte
	rawFailure, duration            []byte
	again                           bool // a stop hook made the agent go on before
	sieve                           sieve
}

// Decode implements Agent.
func (c ClaudeCode) Decode(payload []byte, m Meta) (Report, error) {
	var p claudePayload
	if err := p.read(payload); err != nil {
		return Report{}, err
	}
	if err := p.check(); err != nil {
		return Report{}, err
	}
	return p.report(c.Name(), m), nil
}

// report says what the payload of the named agent reports.
func (p *claudePayload) report(agent string, m Meta) Report {
	p.sieve = m.sieve()
	r := p.without(agent, "")
	f := p.translate(r.Origin)
	p.want(&r, f.event)
	return r.report(m, f)
}

// without is the report of a payload of which nothing is captured.
func (p *claudePayload) without(agent, why string) Report {
	return Report{Event: p.event, Ignored: why, Origin: session.Origin{
		Agent: agent, AgentSession: p.session, Cwd: p.cwd, Transcript: p.transcript,
	}}
}

// read reads the members that mean something here, and more.
func (p *claudePayload) read(payload []byte, more ...field) error {
	return readPayload(payload, more, []field{
		{"hook_event_name", (*asName)(&p.event)},
		{"session_id", (*asID)(&p.session)},
		{"transcript_path", (*asPath)(&p.transcript)},
		{"cwd", (*asText)(&p.cwd)},
		{"prompt_id", (*asName)(&p.promptID)},
		{"agent_id", (*asName)(&p.agentID)},
		{"agent_type", (*asName)(&p.agentType)},
		{"source", (*asName)(&p.source)},
		{"reason", (*asName)(&p.reason)},
		{"trigger", (*asName)(&p.trigger)},
		{"tool_name", (*asName)(&p.tool)},
		{"tool_use_id", (*asName)(&p.toolUseID)},
		{"prompt", (*asText)(&p.prompt)},
		{"error", (*asText)(&p.failure)},
		{"error", &p.rawFailure},
		{"last_assistant_message", (*asText)(&p.lastMessage)},
		{"compact_summary", (*asText)(&p.compactSummary)},
		{"tool_input", &p.input},
		{"tool_response", &p.response},
		{"mcp_server", &p.server},
		{"stop_hook_active", &p.again},
		{"duration_ms", &p.duration},
	})
}

// check refuses a payload that names no event, session or folder.
func (p *claudePayload) check() error {
	if p.event == "" {
		return &FieldError{Field: "hook_event_name", Err: ErrMissing}
	}
	return checkIdentity(p.session, "session_id", p.cwd)
}

// want fills in which memory is wanted, before a file is read too. A subagent has a conversation of its own, of which nobody
// knows what it holds.
func (p *claudePayload) want(r *Report, e events.Event) {
	if p.event == "SessionStart" || p.agentID == "" {
		r.want(e)
	}
	if p.event != "PreToolUse" || p.agentID != "" {
		return
	}
	if file := fileToRead(p.input); file != "" {
		r.Wants, r.File = WantFile, file
	}
}

// fileToRead is the file that a tool call is about to read, told by the shape of its input: it names a file and, beside
// it, no words to write or to look for.
func fileToRead(input []byte) (file string) {
	if !isObject(input) {
		return ""
	}
	jsonscan.Members(input, func(key string, value []byte) bool {
		switch {
		case key == "file_path":
			file = stringOf(value)
		case key != "pages" && kindOf(value) != 'n' && !isNumber(value):
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

// translate says what the payload becomes.
func (p *claudePayload) translate(o session.Origin) fact {
	switch p.event {
	case "SessionStart":
		return fact{event: events.SessionOpened{Source: cmp.Or(p.source, "startup")}}
	case "UserPromptSubmit":
		return p.sieve.prompted(o, p.promptID, p.prompt)
	case "PostToolUse", "PostToolUseFailure":
		if p.tool == "" {
			return ignore(nameless)
		}
		return fact{event: p.toolUsed(), key: ToolKey(o, p.toolUseID)}
	case "SubagentStop":
		return p.subagentStopped(o)
	case "Stop":
		f := p.sieve.stopped(o, p.promptID, p.lastMessage)
		if p.again {
			f.key = events.Key{} // it may have said the same at the stop before
		}
		return f
	case "StopFailure":
		e := p.sieve.agentFailed(p.lastMessage, p.failure)
		return fact{event: e, key: factKey(o, "stop", p.promptID, e.LastMessage)}
	case "PostCompact":
		e := p.sieve.contextCompacted(p.compactSummary, p.trigger)
		return fact{event: e, key: factKey(o, "compact", p.promptID, e.Summary)}
	case "SessionEnd":
		return fact{event: events.SessionClosed{Cause: cmp.Or(p.reason, "other")}}
	}
	return notRecorded(p.event)
}

func (p *claudePayload) toolUsed() events.ToolUsed {
	t := events.ToolUsed{
		ToolUseID: p.toolUseID, Tool: p.tool, Failed: p.event == "PostToolUseFailure",
		Cwd: p.sieve.text(p.cwd), SubagentID: p.agentID, DurationMS: milliseconds(p.duration),
	}
	if p.agentID != "" {
		t.SubagentType = p.agentType
	}
	output := p.response
	if t.Failed {
		output = p.rawFailure
	}
	return p.sieve.use(t, member(p.server, "name"), p.input, output)
}

// subagentStopped is what a subagent had to say in the end. The one without a type is the summariser of a compaction:
// its words come in PostCompact.
func (p *claudePayload) subagentStopped(o session.Origin) fact {
	if p.agentType == "" {
		return ignore("the subagent has no type: it is the agent's own summariser")
	}
	t := p.sieve.subagentStopped(p.lastMessage, p.cwd, p.agentID, p.agentType)
	return fact{event: t, key: factKey(o, "subagent", p.agentID, t.Output)}
}

// Reply implements Agent. Only the start of a session, a prompt and the reading of a file are answered: at Stop a context
// would make the agent go on, and be asked for again at the next Stop. A notice goes out at the start alone.
func (ClaudeCode) Reply(r Report, a Answer) []byte {
	switch r.Event {
	case "SessionStart":
	case "UserPromptSubmit", "PreToolUse":
		a.Notice = ""
	default:
		return nil
	}
	return replyContext(r.Event, a)
}

// capContext shortens a context to MaxContext, and closes its fence again.
func capContext(s string) string {
	if characters(s) <= MaxContext {
		return s
	}
	end := ""
	if strings.HasSuffix(strings.TrimSpace(s), ContextClose) {
		end = "\n" + ContextClose
	}
	room := MaxContext - len(end)
	for i, r := range s {
		if room -= utf16.RuneLen(r); room < 0 {
			return s[:i] + end
		}
	}
	return s
}

// characters counts as JavaScript does.
func characters(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
