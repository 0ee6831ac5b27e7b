package observer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
)

// Bounds of a mode: it is sent with every prompt.
const (
	maxTerms       = 32   // types, and concepts
	maxInstruction = 4000 // characters of one instruction
	maxLine        = 200  // characters of a name, a label or a description
	maxLanguage    = 40   // characters
	maxExamples    = 8
)

// modeCheck gathers what is wrong with a draft.
type modeCheck struct {
	modeDraft
	errs []error
}

// check says all that is wrong with the mode; nil if it can be used.
func (d modeDraft) check() error {
	c := modeCheck{modeDraft: d}
	c.line("name", d.file.Name)
	for _, key := range []struct {
		name, text string
		needed     bool
	}{
		{"role", d.file.Role, true}, {"record", d.file.Record, true}, {"skip", d.file.Skip, true},
		{"tone", d.file.Tone, false}, {"summary", d.file.Summary, true},
	} {
		c.instruction(key.name, key.text, key.needed)
	}
	if err := CheckLanguage(strings.TrimSpace(d.file.Language)); err != nil {
		c.addError("language", "%v", err)
	}
	c.terms("types", d.file.Types)
	c.terms("concepts", d.file.Concepts)
	if len(d.file.Examples) > maxExamples {
		c.addError("examples", "%d of them: at most %d", len(d.file.Examples), maxExamples)
	}
	for i, e := range d.file.Examples {
		c.example(fmt.Sprintf("examples[%d]", i), e.parsed())
	}
	return errors.Join(c.errs...)
}

func (c *modeCheck) addError(key, format string, args ...any) {
	c.errs = append(c.errs, c.problem(key, format, args...))
}

// line checks a text of one line that must be there.
func (c *modeCheck) line(key, s string) {
	n := utf8.RuneCountInString(s)
	if strings.TrimSpace(s) == "" || n > maxLine || strings.ContainsFunc(s, unicode.IsControl) {
		c.addError(key, "%q: want one line of 1 to %d characters", shown(s), maxLine)
	}
}

// instruction checks what a model is told.
func (c *modeCheck) instruction(key, s string, needed bool) {
	switch n := utf8.RuneCountInString(s); {
	case needed && strings.TrimSpace(s) == "":
		c.addError(key, "it is missing: want 1 to %d characters", maxInstruction)
	case n > maxInstruction:
		c.addError(key, "%d characters: want at most %d", n, maxInstruction)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		c.addError(key, "it has control characters: want text of lines")
	case hasRoot(s):
		c.addError(key, "it shows a tag of the output: the format is the same in every mode and is told elsewhere")
	}
}

func (c *modeCheck) terms(key string, list []Term) {
	if len(list) == 0 || len(list) > maxTerms {
		c.addError(key, "%d of them: want 1 to %d", len(list), maxTerms)
	}
	seen := map[string]bool{}
	for i, t := range list {
		at := fmt.Sprintf("%s[%d].", key, i)
		switch {
		case !isTermID(t.ID) || len(t.ID) > maxTypeGiven:
			c.addError(at+"id", "%q: want lowercase words joined by a dash or an underscore, at most %d bytes", shown(t.ID), maxTypeGiven)
		case t.ID == UnknownType:
			c.addError(at+"id", "%q is what is stored where a type is none of the mode's: want another word", t.ID)
		case seen[t.ID]:
			c.addError(at+"id", "%q stands there twice: want each once", t.ID)
		}
		seen[t.ID] = true
		c.line(at+"label", t.Label)
		c.line(at+"description", t.Description)
	}
}

// isTermID is for lowercase words of ASCII letters and digits, joined by single dashes or underscores.
func isTermID(s string) bool {
	word := false
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9' && i > 0:
			word = true
		case (c == '-' || c == '_') && word:
			word = false
		default:
			return false
		}
	}
	return word
}

// example checks that an answer is one, and that Parse gives it back.
func (c *modeCheck) example(key string, e Example) {
	c.instruction(key+".seen", e.Seen, true)
	kinds := 0
	for _, set := range []bool{len(e.Observations) > 0, e.Summary != nil, e.Skip != ""} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		c.addError(key, "%d answers: want exactly one of observations, summary and skip", kinds)
		return
	}
	if e.Skip != "" && (len(e.Skip) > maxLine || strings.ContainsAny(e.Skip, "\"<>&\n")) {
		c.addError(key+".skip", "%q: want one line of at most %d bytes without quotes, tags and ampersands", shown(e.Skip), maxLine)
	}
	types := c.file.TypeIDs()
	for i, o := range e.Observations {
		c.observation(fmt.Sprintf("%s.observations[%d]", key, i), o, types)
	}
	if e.Summary != nil {
		p := Parse(string(e.Summary.AppendXML(nil)), events.TurnSummary, types)
		if p.Summary == nil || *p.Summary != *e.Summary {
			c.addError(key+".summary", "it says nothing, or holds more than is kept: want request, investigated, learned, completed or next_steps")
		}
	}
}

func (c *modeCheck) observation(key string, o Observation, types Types) {
	for _, name := range o.Concepts {
		if !slices.Contains(c.file.ConceptIDs(), name) {
			c.addError(key+".concepts", "%q is none of the mode's concepts", shown(name))
		}
	}
	p := Parse(string(o.AppendXML(nil)), events.TurnObservation, types)
	switch {
	case len(p.Observations) == 0:
		c.addError(key, "it says nothing: want a title, a narrative, facts or concepts")
	case p.Observations[0].Type == UnknownType:
		c.addError(key+".type", "%q: want one of %s", shown(o.Type), strings.Join(types, ", "))
	case p.Clipped > 0:
		c.addError(key, "it holds more than is kept of an observation")
	}
}

// CheckLanguage returns an error unless s can name a language that an observer writes in: letters, spaces, dashes and
// parentheses, such as "Brazilian Portuguese". Empty is English.
func CheckLanguage(s string) error {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune(" -()", r)
	}
	if utf8.RuneCountInString(s) > maxLanguage || strings.ContainsFunc(s, odd) {
		return fmt.Errorf("%q: want the name of a language: at most %d letters, spaces, dashes and parentheses", shown(s), maxLanguage)
	}
	return nil
}

// shown is s as an error quotes it: its beginning.
func shown(s string) string {
	if utf8.RuneCountInString(s) <= 40 {
		return s
	}
	return string([]rune(s)[:40]) + "..."
}
