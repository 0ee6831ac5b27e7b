package prompt

import (
	"cmp"
	"fmt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// Config of a Renderer. The zero value asks in the code mode and in English.
type Config struct {
	Mode     observer.Mode       // zero: observer.CodeMode
	Language string              // that the model writes in (see observer.CheckLanguage); empty: the mode's own
	Redact   func(string) string // takes out of one captured text what must not leave the machine; nil: nothing
}

// Renderer makes questions of prompts. It does not change and is safe for concurrent use, if Redact is.
type Renderer struct {
	redact  func(string) string
	systems map[question]string
}

var _ model.Renderer = (*Renderer)(nil)

// New checks c and returns a Renderer.
func New(c Config) (*Renderer, error) {
	if c.Mode.ID == "" {
		c.Mode = observer.CodeMode()
	}
	if err := observer.CheckLanguage(c.Language); err != nil {
		return nil, fmt.Errorf("prompt: language %w", err)
	}
	c.Mode.Language = cmp.Or(c.Language, c.Mode.Language, "English")
	r := &Renderer{redact: c.Redact, systems: map[question]string{}}
	if r.redact == nil {
		r.redact = func(s string) string { return s }
	}
	for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
		for _, form := range []events.Form{events.FormXML, events.FormStructured} {
			q := question{kind, form}
			r.systems[q] = q.system(c.Mode)
		}
	}
	return r, nil
}

// Question implements model.Renderer. System is the same bytes for a kind of turn and a form; a kind other than
// TurnSummary counts as TurnObservation, a form other than FormStructured as FormXML. User holds at most 48 KiB and a few
// lines, and at most p.Budget bytes of captured text where that is set. Its fields are shortened to 16,000 characters; on
// a second attempt to a quarter of that and from the third on to a sixteenth, but for summaries, which are asked in the
// same words. Both are valid UTF-8 without control characters.
func (r *Renderer) Question(p observer.Prompt, form events.Form) model.Question {
	q := question{events.TurnObservation, events.FormXML}
	if p.Kind == events.TurnSummary {
		q.kind = events.TurnSummary
	}
	if form == events.FormStructured {
		q.form = form
	}
	m := message{redact: r.redact}
	if q.kind == events.TurnSummary {
		m.summary(p)
	} else {
		m.batch(p)
	}
	m.fit(p.Budget)
	return model.Question{Kind: q.kind, Form: q.form, System: r.systems[q], User: m.render(q.reminder(len(p.Inputs)))}
}
