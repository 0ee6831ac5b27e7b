package agents

import (
	"cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// Raw is any agent that has no decoder of its own: whoever can write JSON can report. Each payload is one object, given to
// `cmemd-hook raw` or posted to /v1/hooks/raw:
//
//	member       of events     what it is
//	event        all           one of the names below; required
//	session      all           the agent's own id of the session; required
//	cwd          all           the folder that the session works in, absolute; required
//	id           all           what names the fact: sent again, it is not recorded again; optional
//	text         prompt, stop, what was said
//	             compact
//	source       start         startup (if absent), resume, clear, compact
//	tool         tool          its name; required
//	input        tool          what it was given: any JSON
//	output       tool          what came of it: any JSON
//	failed       tool          true if it did not do what it should
//	error        tool, stop    why it failed: a text
//	duration_ms  tool          how long it took
//	subagent     tool          the id of the subagent that called it
//	reason       end           why the session ended
//
// What becomes of them:
//
//	event      captured as             reply
//	start      SessionOpened{source}   {"context": memory, "notice": a line for the person}, members absent where empty
//	prompt     PromptSubmitted         {"context": memory}, where memory at prompts is switched on
//	tool       ToolUsed                -
//	stop       AgentStopped            -; with an error: failure
//	compact    ContextCompacted        -
//	end        SessionClosed{reason}   -
//	others     -                       -
type Raw struct{}

// Name is "raw".
func (Raw) Name() string { return "raw" }

type rawPayload struct {
	event, session, cwd, id       string
	text, source, reason, failure string
	tool, subagent                string
	input, output, duration       []byte
	failed                        bool
	sieve                         sieve
}

// Decode implements Agent.
func (a Raw) Decode(payload []byte, m Meta) (Report, error) {
	p := rawPayload{sieve: m.sieve()}
	if err := p.read(payload); err != nil {
		return Report{}, err
	}
	o := session.Origin{Agent: a.Name(), AgentSession: p.session, Cwd: p.cwd}
	r, err := newReport(p.event, "event", o, "session")
	if err != nil {
		return Report{}, err
	}
	if p.event == "tool" && p.tool == "" {
		return Report{}, &FieldError{Field: "tool", Err: ErrMissing}
	}
	f := p.translate()
	if f.event != nil && p.id != "" {
		f.key = events.KeyOf(o.Session().String(), p.event, p.id)
	}
	r.want(f.event)
	return r.report(m, f), nil
}

// read reads the members that mean something here.
func (p *rawPayload) read(payload []byte) error {
	return readPayload(payload, nil, []field{
		{"event", (*asName)(&p.event)},
		{"session", (*asID)(&p.session)},
		{"cwd", (*asText)(&p.cwd)},
		{"id", (*asName)(&p.id)},
		{"text", (*asText)(&p.text)},
		{"source", (*asName)(&p.source)},
		{"reason", (*asName)(&p.reason)},
		{"tool", (*asName)(&p.tool)},
		{"subagent", (*asName)(&p.subagent)},
		{"error", (*asText)(&p.failure)},
		{"failed", &p.failed},
		{"input", &p.input},
		{"output", &p.output},
		{"duration_ms", &p.duration},
	})
}

func (p *rawPayload) translate() fact {
	switch p.event {
	case "start":
		return fact{event: events.SessionOpened{Source: cmp.Or(p.source, "startup")}}
	case "prompt":
		return p.sieve.prompted(session.Origin{}, "", p.text)
	case "tool":
		return fact{event: p.toolUsed()}
	case "stop":
		if p.failure != "" {
			return fact{event: p.sieve.agentFailed(p.text, p.failure)}
		}
		return fact{event: p.sieve.agentStopped(events.StopDone, p.text)}
	case "compact":
		return fact{event: p.sieve.contextCompacted(p.text, "")}
	case "end":
		return fact{event: events.SessionClosed{Cause: cmp.Or(p.reason, "other")}}
	}
	return notRecorded(p.event)
}

func (p *rawPayload) toolUsed() events.ToolUsed {
	t := events.ToolUsed{
		ToolUseID: p.id, Tool: p.tool, Failed: p.failed || p.failure != "", Cwd: p.sieve.text(p.cwd), SubagentID: p.subagent,
		DurationMS: milliseconds(p.duration),
	}
	if p.failure != "" && (p.output == nil || kindOf(p.output) == 'n') {
		p.output = quoted(p.failure)
	}
	return p.sieve.use(t, "", p.input, p.output)
}

// rawReply is what goes back where memory is wanted.
type rawReply struct {
	Context string `json:"context,omitempty"`
	Notice  string `json:"notice,omitempty"`
}

// Reply implements Agent.
func (Raw) Reply(r Report, a Answer) []byte {
	switch r.Event {
	case "start":
	case "prompt":
		a.Notice = ""
	default:
		return nil
	}
	if a.Context == "" && a.Notice == "" {
		return nil
	}
	return encode(rawReply{Context: capContext(a.Context), Notice: a.Notice})
}
