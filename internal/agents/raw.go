package agents

import "github.com/cmemd/cmemd/events"

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

// Decode implements Agent.
func (a Raw) Decode(payload []byte, m Meta) (Report, error) {
	return decode(a.Name(), shape{event: "event", session: "session", want: wantAll, fact: func(p *hookPayload) fact {
		f := p.ofRaw()
		if id := p.name("id"); f.event != nil && id != "" {
			f.key = events.KeyOf(p.origin.Session().String(), p.event, id)
		}
		return f
	}}, payload, m)
}

func (p *hookPayload) ofRaw() fact {
	said, failure := p.text("text"), p.text("error")
	switch p.event {
	case "start":
		return p.opened()
	case "prompt":
		return p.prompted("", said)
	case "tool":
		return p.usedByRaw(failure)
	case "stop":
		if failure != "" {
			return p.failed("", said, failure)
		}
		return p.stopped("", said)
	case "compact":
		return p.compacted("", said, "")
	case "end":
		return p.closed()
	}
	return notRecorded(p.event)
}

func (p *hookPayload) usedByRaw(failure string) fact {
	t := events.ToolUsed{
		ToolUseID: p.name("id"), Tool: p.name("tool"), Failed: p.flag("failed") || failure != "",
		Cwd: p.scrubber.text(p.origin.Cwd), SubagentID: p.name("subagent"), DurationMS: milliseconds(p.raw("duration_ms")),
	}
	if t.Tool == "" {
		return fact{refused: &FieldError{Field: "tool", Err: ErrMissing}}
	}
	output := p.raw("output")
	if failure != "" && (output == nil || kindOf(output) == 'n') {
		output = quoted(failure)
	}
	return p.used(t, "", p.raw("input"), output)
}

// Reply implements Agent.
func (Raw) Reply(r Report, a Answer) []byte { return replyRaw(answerAt(r.Event, a, "start", "prompt")) }
