package observer

import (
	"encoding/json"

	"github.com/cmemd/cmemd/events"
)

// structured is an output in the structured form. Its fields are those of Parsed; Schema asks for them. What else stands in
// it says nothing, as an unknown tag does in the grammar.
type structured struct {
	Observations []json.RawMessage `json:"observations"`
	Summary      json.RawMessage   `json:"summary"`
	Skip         bool              `json:"skip"`
	SkipReason   string            `json:"skip_reason"`
}

// ParseForm says what the output of one turn means, given in form. In the structured form it is one JSON object (Schema),
// read as strictly as JSON is: whatever is not, is dropped as malformed. What it says is cleaned, bounded and weighed as
// Parse does it; an observation or a summary whose fields are of the wrong types is not kept, as an unclosed block is not.
// An object that holds nothing and does not skip is blank. Of one that breaks off, what is closed is kept, as closed blocks
// are: observations and a summary; it is malformed if there are none, for no skip is read from it. In any other form it is
// Parse. It never fails, takes linear time, and any number of goroutines may call it.
func ParseForm(form events.Form, output events.Output, kind events.TurnKind, types Types) Parsed {
	text := output.RawText()
	if form != events.FormStructured {
		return Parse(text, kind, types)
	}
	text = visible(validUTF8(text))
	if text == "" {
		return Parse(text, kind, types)
	}
	var s structured
	if text[0] != '{' || json.Unmarshal([]byte(text), &s) != nil {
		return parseCut(text, kind, types)
	}
	if s.blank() {
		return Parse("", kind, types)
	}
	p := s.keep(types)
	var ok bool
	if p.Disposition, p.Reason, ok = dispose(p, s.Skip, s.asksSummary(), kind); !ok {
		return dropped(ClassXML, p.Reason)
	}
	return p
}

// parseCut says what is kept of an output that is no JSON object.
func parseCut(text string, kind events.TurnKind, types Types) Parsed {
	if text[0] != '{' {
		return dropped(ClassXML, ReasonMalformed)
	}
	s, ok := uncut(text)
	if !ok {
		return dropped(ClassXML, ReasonMalformed)
	}
	s.Skip, s.SkipReason = false, ""
	p := s.keep(types)
	if p.Disposition, p.Reason, ok = dispose(p, false, true, kind); !ok {
		return dropped(ClassXML, p.Reason)
	}
	return p
}

// Unstructured reports whether an output, the answer to a question in the structured form, is something else than a JSON object:
// whoever gave it does not hold itself to a schema. A blank answer is not.
func Unstructured(output events.Output) bool {
	text := visible(validUTF8(output.RawText()))
	return text != "" && (text[0] != '{' || !json.Valid([]byte(text)))
}

// blank tells whether s is an answer in which nothing stands.
func (s *structured) blank() bool { return len(s.Observations) == 0 && !s.asksSummary() && !s.Skip }

// asksSummary tells whether a summary stands in s, with or without content.
func (s *structured) asksSummary() bool { return len(s.Summary) > 0 && string(s.Summary) != "null" }

// keep builds what s holds, without regard to the kind of the turn.
func (s *structured) keep(types Types) Parsed {
	p := Parsed{Class: ClassXML, Observations: []Observation{}}
	if s.Skip {
		stated := trim(s.SkipReason)
		clipField(&stated, maxSkipReason, &p.Clipped)
		p.SkipReason = events.NewOutput(stated)
	}
	if m, ok := s.summary(); ok {
		parts := m.parts()
		clipParts(parts[:], &p.Clipped)
		p.Summary = &m
	}
	for _, raw := range s.Observations {
		var o Observation
		if json.Unmarshal(raw, &o) == nil {
			o.TypeGiven = o.Type
			parts := o.parts()
			trimParts(parts[:])
			o.normalize(types)
			p.add(o)
		}
	}
	return p
}

// summary is the summary of s, unbounded; false if there is none worth keeping.
func (s *structured) summary() (Summary, bool) {
	var m Summary
	if !s.asksSummary() || json.Unmarshal(s.Summary, &m) != nil {
		return Summary{}, false
	}
	parts := m.parts()
	trimParts(parts[:])
	return m, m.hasContent()
}
