package agents

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// What the decoders of all agents share: reading a payload, and making a report of what it says.

// A field is a member of a payload, and where its value goes: a *bool, a *[]byte, which aliases the payload, or one of the types
// below.
type field struct {
	key string
	to  any
}

// The ways of reading a string.
type (
	asText string // as it stands there
	asID   string // without white space around it; checkIdentity bounds it
	asName string // an id or a name: see cleanName
	asPath string
)

func setField(fields []field, key string, value []byte) {
	for _, f := range fields {
		if f.key == key {
			f.set(value)
		}
	}
}

func (f field) set(value []byte) {
	switch to := f.to.(type) {
	case *bool:
		*to = isTrue(value)
	case *[]byte:
		*to = value
	case *asText:
		*to = asText(stringOf(value))
	case *asID:
		*to = asID(strings.TrimSpace(stringOf(value)))
	case *asName:
		*to = asName(cleanName(stringOf(value), maxName))
	case *asPath:
		*to = asPath(cleanName(stringOf(value), maxPath))
	}
}

// readPayload reads the members of the JSON object payload, in order. The lists of fields stay on the caller's stack.
func readPayload(payload []byte, more, fields []field) error {
	if len(payload) > MaxPayload {
		return ErrTooLarge
	}
	if err := checkJSON(payload); err != nil {
		return err
	}
	if !isObject(payload) {
		return &FieldError{Field: "payload", Err: ErrNotObject}
	}
	jsonscan.Members(payload, func(key string, value []byte) bool {
		setField(fields, key, value)
		setField(more, key, value)
		return true
	})
	return nil
}

// newReport is the report of an event in the session of o, which has to name both and a folder. The fields are the agent's names of
// the event and of the session's id.
func newReport(event, eventField string, o session.Origin, idField string) (Report, error) {
	if event == "" {
		return Report{}, &FieldError{Field: eventField, Err: ErrMissing}
	}
	return Report{Event: event, Origin: o}, checkIdentity(o.AgentSession, idField, o.Cwd)
}

// want says which memory is wanted where e is captured: at the start of a session, and at a prompt of the user's. A source that
// is not known may be a conversation that holds memory already.
func (r *Report) want(e events.Event) {
	switch e := e.(type) {
	case events.SessionOpened:
		switch e.Source {
		case "startup":
			r.Wants = WantStartup
		case "clear":
			r.Wants = WantClear
		case "compact":
			r.Wants = WantCompact
		default:
			r.Wants = WantResume
		}
	case events.PromptSubmitted:
		if e.Text != "" {
			r.Wants, r.Prompt = WantPrompt, e.Text
		}
	}
}

// fact is what a payload becomes: an event, with its key if something in the payload names it, or why there is none.
type fact struct {
	event   events.Event
	key     events.Key
	ignored string
}

// ignore is a payload of which nothing is captured.
func ignore(why string) fact { return fact{ignored: why} }

// notRecorded is a payload whose event means nothing here.
func notRecorded(event string) fact { return ignore(event + " is not recorded") }

// nameless is a report of a tool call that names no tool.
const nameless = "the payload names no tool"

// machineMade is a prompt of which no word is the user's.
const machineMade = "the prompt was made by the agent, not by the user"

// report puts facts into r: what is captured, in their order, or why nothing is.
func (r Report) report(m Meta, facts ...fact) Report {
	for _, f := range facts {
		if f.ignored != "" {
			r.Ignored = f.ignored
			continue
		}
		id := nthID(m.Delivery, len(r.Captures))
		if f.key.IsZero() {
			f.key = deliveryKey(id)
		}
		c := session.Capture{ID: id, Key: f.key, At: m.OccurredAt, Origin: r.Origin, Event: f.event}
		r.Captures = append(r.Captures, c)
	}
	if len(r.Captures) > 0 {
		r.Ignored = ""
	}
	return r
}

// idsApart is how far the ids of two captures of one delivery are apart: a capture may become some events, whose ids follow.
const idsApart = 1 << 8

// nthID is the id of the nth capture of a delivery: its own for 0.
func nthID(delivery events.ID, n int) events.ID {
	tail := binary.BigEndian.Uint32(delivery[12:])
	binary.BigEndian.PutUint32(delivery[12:], tail+uint32(n)*idsApart)
	return delivery
}

// prompted is the fact of a prompt in the session of o. ID is the agent's own of the prompt, or "".
func (v *sieve) prompted(o session.Origin, id, text string) fact {
	prompt, machine := v.promptSubmitted(text)
	if machine {
		return ignore(machineMade)
	}
	return fact{event: prompt, key: factKey(o, "prompt", id, prompt.Text)}
}

// stopped is the fact of an answer's end in the session of o. ID is the agent's own of the prompt, or "".
func (v *sieve) stopped(o session.Origin, id, said string) fact {
	e := v.agentStopped(events.StopDone, said)
	return fact{event: e, key: factKey(o, "stop", id, e.LastMessage)}
}

// agentFailed is the end of an answer by an error.
func (v *sieve) agentFailed(said, failure string) events.AgentStopped {
	e := v.agentStopped(events.StopFailure, said)
	e.Error = clip.Head(v.message(failure), maxName)
	e.Redactions = v.found
	return e
}

// subagentStopped is what a subagent said last, as the use of a tool.
func (v *sieve) subagentStopped(said, cwd, id, kind string) events.ToolUsed {
	t := events.ToolUsed{
		Tool: "SubagentStop", Output: v.message(said), OutputSize: len(said), Cwd: v.text(cwd), SubagentID: id, SubagentType: kind,
	}
	t.Redactions = v.found
	return t
}

// use fills in what a tool was given and what came of it. Server is the MCP server that it belongs to, if the agent says.
func (v *sieve) use(t events.ToolUsed, server string, input, output []byte) events.ToolUsed {
	if isMemoryCall(t.Tool, server, input) {
		t = memoryCall(t, len(input), len(output))
	} else {
		t.Input, t.InputSize = v.toolText(input, nil)
		t.Output, t.OutputSize = v.toolText(output, input)
	}
	t.Redactions = v.found
	return t
}

// milliseconds reads a duration; what is none is 0.
func milliseconds(raw []byte) int64 {
	n, err := json.Number(raw).Float64()
	if err != nil || n <= 0 || n >= 1e15 {
		return 0
	}
	return int64(n)
}

// isNonZero reports whether a JSON value is a number that is not 0: the exit code of a failure.
func isNonZero(raw []byte) bool {
	n, err := json.Number(raw).Float64()
	return err == nil && n != 0
}

// contextReply is the JSON that Claude Code, and those that follow it, read from a hook.
type contextReply struct {
	Output *contextOutput `json:"hookSpecificOutput,omitempty"`
	Notice string         `json:"systemMessage,omitempty"`
}

type contextOutput struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext"`
}

// replyContext is the reply of that shape, or nothing where there is nothing to say.
func replyContext(event string, a Answer) []byte {
	if a.Context == "" && a.Notice == "" {
		return nil
	}
	reply := contextReply{Notice: a.Notice}
	if a.Context != "" {
		reply.Output = &contextOutput{Event: event, Context: capContext(a.Context)}
	}
	return encode(reply)
}

// encode is v as JSON without a line end; v holds strings, which always encode.
func encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

// object is a JSON object of one member.
func object(name string, value []byte) []byte {
	out := append(appendJSON([]byte{'{'}, name), ':')
	return append(append(out, value...), '}')
}

// quoted is s as a JSON string.
func quoted(s string) []byte { return appendJSON(nil, s) }

func appendJSON(dst []byte, s string) []byte {
	raw, _ := json.Marshal(s) // strings always encode
	return append(dst, raw...)
}

// unquoted is the JSON text that a string holds, as some agents pass JSON on, else raw itself.
func unquoted(raw []byte) []byte {
	if kindOf(raw) != '"' {
		return raw
	}
	inner := []byte(strings.TrimSpace(stringOf(raw)))
	if k := kindOf(inner); (k == '{' || k == '[') && json.Valid(inner) {
		return inner
	}
	return raw
}
