package agents

import "maps"

// Redact takes secrets out of a text and says how many it took, by kind; json says that the text is JSON, and is to stay
// so. It must be quick, and safe for concurrent use.
type Redact func(text string, json bool) (out string, found map[string]int)

// scrubber is what the texts of one event go through before they are shortened: half a secret would not be known as one. The
// zero value takes nothing out.
type scrubber struct {
	redact Redact
	cut    bool           // private text was cut before: see Meta.Cut
	found  map[string]int // what was taken out, by kind; nil if nothing was
}

func (m Meta) scrubber() scrubber {
	return scrubber{redact: m.Redact, cut: m.Cut, found: maps.Clone(m.Redactions)}
}

func (v *scrubber) text(s string) string { return v.pass(s, false) }
func (v *scrubber) json(s string) string { return v.pass(s, true) }

func (v *scrubber) pass(s string, json bool) string {
	if v.redact == nil || s == "" {
		return s
	}
	out, found := v.redact(s, json)
	if v.found == nil {
		v.found = maps.Clone(found)
		return out
	}
	for kind, n := range found {
		v.found[kind] += n
	}
	return out
}

// message is what is kept of a text that an agent wrote.
func (v *scrubber) message(s string) string { return capText(v.text(cleanMessage(s)), MaxText) }
