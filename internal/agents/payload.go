package agents

import (
	"encoding/binary"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// What the decoders of all agents share: reading a payload, and making a report of what it says.

// A shape is what an agent's payloads look like, and what becomes of them.
type shape struct {
	event, session string                                          // the members that name what happened, and the session
	place          func(p *hookPayload)                            // finds out what these two and the member cwd do not say; nil: nothing
	fact           func(p *hookPayload) fact                       // what it becomes
	want           func(p *hookPayload, r *Report, e events.Event) // says which memory is wanted where e is captured; nil: none
}

// hookPayload is what a hook reported. Values alias it.
type hookPayload struct {
	members
	meta     Meta
	event    string         // the agent's name of what happened
	origin   session.Origin // in which session
	scrubber scrubber
	before   []fact // what it becomes beside the last
}

// readPayload reads the members of the JSON object data.
func readPayload(data []byte, m Meta) (*hookPayload, error) {
	if len(data) > MaxPayload {
		return nil, ErrTooLarge
	}
	if err := checkJSON(data); err != nil {
		return nil, err
	}
	if !isObject(data) {
		return nil, &FieldError{Field: "payload", Err: ErrNotObject}
	}
	return &hookPayload{members: appendMembers(make(members, 0, 16), data), meta: m, scrubber: m.scrubber()}, nil
}

// decode says what data, a payload of the named agent, reports.
func decode(agent string, s shape, data []byte, m Meta) (Report, error) {
	p, err := readPayload(data, m)
	if err != nil {
		return Report{}, err
	}
	return p.report(agent, s)
}

// report says what p, a payload of the named agent, reports. It has to name an event, a session and a folder.
func (p *hookPayload) report(agent string, s shape) (Report, error) {
	p.event = p.name(s.event)
	p.origin = session.Origin{Agent: agent, AgentSession: p.id(s.session), Cwd: p.text("cwd")}
	if s.place != nil {
		s.place(p)
	}
	if p.event == "" {
		return Report{}, &FieldError{Field: s.event, Err: ErrMissing}
	}
	if err := checkIdentity(p.origin.AgentSession, s.session, p.origin.Cwd); err != nil {
		return Report{}, err
	}
	last := s.fact(p)
	if last.refused != nil {
		return Report{}, last.refused
	}
	r := Report{Event: p.event, Origin: p.origin}
	if s.want != nil {
		s.want(p, &r, last.event)
	}
	for _, f := range p.before {
		r.add(p.meta, f)
	}
	r.add(p.meta, last)
	return r, nil
}

// wantAll is want, whatever else the payload says.
func wantAll(_ *hookPayload, r *Report, e events.Event) { r.want(e) }

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

// add puts a fact into r: what is captured, behind what is there, or why nothing is.
func (r *Report) add(m Meta, f fact) {
	if f.ignored != "" {
		if len(r.Captures) == 0 {
			r.Ignored = f.ignored
		}
		return
	}
	id := nthID(m.Delivery, len(r.Captures))
	if f.key.IsZero() {
		f.key = deliveryKey(id)
	}
	r.Captures = append(r.Captures, session.Capture{ID: id, Key: f.key, At: m.OccurredAt, Origin: r.Origin, Event: f.event})
	r.Ignored = ""
}

// idsApart is how far the ids of two captures of one delivery are apart: a capture may become some events, whose ids follow.
const idsApart = 1 << 8

// nthID is the id of the nth capture of a delivery: its own for 0.
func nthID(delivery events.ID, n int) events.ID {
	tail := binary.BigEndian.Uint32(delivery[12:])
	binary.BigEndian.PutUint32(delivery[12:], tail+uint32(n)*idsApart)
	return delivery
}
