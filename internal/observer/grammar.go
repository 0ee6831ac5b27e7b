package observer

import "github.com/cmemd/cmemd/events"

// SkipForm is how an output says that nothing was worth recording. The prompt shows it, Parse is built from the same
// two names, and the tests parse it. The dots stand for a short reason; any or none will do.
const SkipForm = "<" + skipRoot + " " + skipReason + `="..."/>`

const (
	skipRoot   = "skip_summary"
	skipReason = "reason"
)

// MaxObservations is how many observations of one turn are kept, the first ones. A batch holds 20 inputs by default,
// so more than two an input is a model that repeats itself.
const MaxObservations = 50

// UnknownType is stored where a type is missing or not one of the mode's.
const UnknownType = events.TypeUnknown

// Disposition is what is to be done with an output.
type Disposition string

// The dispositions. Content is stored with the first two only.
const (
	DispositionObservations Disposition = "observations" // at least one observation; a summary may stand beside them
	DispositionSummary      Disposition = "summary"      // a summary; observations may stand beside it on a summary turn
	DispositionSkip         Disposition = "skip"         // nothing was worth recording
	DispositionDropped      Disposition = "dropped"      // it did not parse
)

// Reason is why an output got its disposition.
type Reason string

// The reasons. ReasonOK goes with content, the next two with a skip, the rest with dropped outputs.
const (
	ReasonOK             Reason = "ok"
	ReasonSkipSummary    Reason = events.ReasonSkipSummary    // said so, in the skip form
	ReasonEmpty          Reason = events.ReasonEmpty          // blank, on an observation turn
	ReasonNoXML          Reason = events.ReasonNoXML          // no root tag at all
	ReasonMissingSummary Reason = events.ReasonMissingSummary // a summary was asked for, and none was tried
	ReasonMalformed      Reason = events.ReasonMalformed      // roots, but none closed with content
)

// Class is what an output looks like.
type Class string

// The classes.
const (
	ClassIdle  Class = "idle"  // blank, or nothing but reasoning
	ClassXML   Class = "xml"   // a root tag stands somewhere in it
	ClassProse Class = "prose" // anything else
)

// Types are the ids of the observation types of a mode. A type is one of them in any letter case and is stored as it
// is spelled here. No types: every type is unknown.
type Types []string

// Parsed is what an output means. Its strings are valid UTF-8, trimmed and bounded; the raw output stays with the
// caller.
type Parsed struct {
	Disposition  Disposition   `json:"disposition"`
	Reason       Reason        `json:"reason"`
	Class        Class         `json:"class"`
	Observations []Observation `json:"observations"` // never nil
	Summary      *Summary      `json:"summary"`
	SkipReason   events.Output `json:"skip_reason"` // stated by the model, if it skipped, even where content outranks it
	Excess       int           `json:"excess"`      // observations beyond MaxObservations, which are not kept
	Clipped      int           `json:"clipped"`     // fields and list items shortened or left out for their size
}

// Parse says what the text of one turn means. It never fails, takes time linear in the text, and looks at nothing but
// structure. A kind other than TurnSummary counts as TurnObservation. Any number of goroutines may call it.
func Parse(text string, kind events.TurnKind, types Types) Parsed {
	text = visible(validUTF8(text))
	switch {
	case text == "" && kind == events.TurnSummary:
		return dropped(ClassIdle, ReasonMissingSummary)
	case text == "":
		return Parsed{Disposition: DispositionSkip, Reason: ReasonEmpty, Class: ClassIdle, Observations: []Observation{}}
	case !hasRoot(text):
		return dropped(ClassProse, ReasonNoXML)
	}
	found := findBlocks(text)
	p := keep(text, found, types)
	var ok bool
	if p.Disposition, p.Reason, ok = dispose(p, len(found.skips) > 0, found.triedSummary, kind); !ok {
		return dropped(ClassXML, p.Reason)
	}
	return p
}

func dropped(c Class, r Reason) Parsed {
	return Parsed{Disposition: DispositionDropped, Reason: r, Class: c, Observations: []Observation{}}
}

// keep builds what the blocks hold, without regard to the kind of the turn.
func keep(text string, found blocks, types Types) Parsed {
	p := Parsed{Class: ClassXML, Observations: []Observation{}}
	if len(found.skips) > 0 {
		p.SkipReason = events.NewOutput(found.statedReason(text, &p.Clipped))
	}
	for _, b := range found.summaries {
		var s Summary
		parts := s.parts()
		if found.fill(parts[:], text, b); s.hasContent() {
			clipParts(parts[:], &p.Clipped)
			p.Summary = &s
			break
		}
	}
	for _, b := range found.observations {
		var o Observation
		parts := o.parts()
		found.fill(parts[:], text, b)
		o.normalize(types)
		p.add(o)
	}
	return p
}

// add keeps o, bounded, if it carries anything and there is room.
func (p *Parsed) add(o Observation) {
	switch {
	case !o.hasContent():
	case len(p.Observations) == MaxObservations:
		p.Excess++
	default:
		parts := o.parts()
		clipParts(parts[:], &p.Clipped)
		p.Observations = append(p.Observations, o)
	}
}

// dispose weighs kept content, a skip and an attempt at a summary. It is false for an output that is to be dropped.
func dispose(p Parsed, skip, tried bool, kind events.TurnKind) (Disposition, Reason, bool) {
	kept, asked := len(p.Observations) > 0, kind == events.TurnSummary
	switch {
	case p.Summary != nil && (asked || !kept):
		return DispositionSummary, ReasonOK, true
	case kept && (!asked || skip):
		return DispositionObservations, ReasonOK, true
	case skip:
		return DispositionSkip, ReasonSkipSummary, true
	case asked && !tried:
		return DispositionDropped, ReasonMissingSummary, false
	}
	return DispositionDropped, ReasonMalformed, false
}
