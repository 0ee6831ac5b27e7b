package observer

import (
	"slices"
	"strings"
)

// Bounds of what is kept of one observation or summary, in bytes of UTF-8. Titles are shown in rows and narratives are
// read by models that pay for each byte; the raw output has the rest.
const (
	maxTypeGiven  = 64
	maxTitle      = 1 << 10
	maxNarrative  = 16 << 10 // also of each field of a summary
	maxFact       = 4 << 10
	maxConcept    = 128
	maxPath       = 4 << 10 // PATH_MAX of Linux; a longer one is left out, because a part of a path is another path
	maxSkipReason = 1 << 10

	maxFacts    = 64 // items of a list
	maxConcepts = 32
	maxFiles    = 256
)

// Observation is one thing learned or done, as a provider told it.
type Observation struct {
	Type          string   `json:"type" toml:"type"`    // one of the mode's, or UnknownType
	TypeGiven     string   `json:"type_given" toml:"-"` // the word given where Type is UnknownType; else empty
	Title         string   `json:"title" toml:"title"`
	Subtitle      string   `json:"subtitle" toml:"subtitle"`
	Narrative     string   `json:"narrative" toml:"narrative"`
	Facts         []string `json:"facts" toml:"facts"`                   // never nil from Parse, as the lists below
	Concepts      []string `json:"concepts" toml:"concepts"`             // each once, without what follows a colon, without the type
	FilesRead     []string `json:"files_read" toml:"files_read"`         // claimed
	FilesModified []string `json:"files_modified" toml:"files_modified"` // claimed
}

// Summary is where a session stands, as a provider told it.
type Summary struct {
	Request      string `json:"request" toml:"request"`
	Investigated string `json:"investigated" toml:"investigated"`
	Learned      string `json:"learned" toml:"learned"`
	Completed    string `json:"completed" toml:"completed"`
	NextSteps    string `json:"next_steps" toml:"next_steps"`
	Notes        string `json:"notes" toml:"notes"`
}

// hasContent tells whether there is anything worth keeping in o: a subtitle or files alone say nothing.
func (o *Observation) hasContent() bool {
	return o.Title != "" || o.Narrative != "" || len(o.Facts) > 0 || len(o.Concepts) > 0
}

// hasContent tells whether there is anything worth keeping in s: notes alone say nothing.
func (s *Summary) hasContent() bool {
	return s.Request != "" || s.Investigated != "" || s.Learned != "" || s.Completed != "" || s.NextSteps != ""
}

// part is one field of an observation or a summary: a text or a list of texts, and how much of it is kept.
type part struct {
	word     word
	text     *string   // nil: it is a list
	list     *[]string // nil: it is a text
	item     word      // of the list
	maxBytes int       // in bytes, of the text or of each item
	maxItems int       // items of the list
}

// parts are the fields of o in their order. The type is read as it is given.
func (o *Observation) parts() [8]part {
	return [...]part{
		{word: wordType, text: &o.TypeGiven, maxBytes: maxTypeGiven},
		{word: wordTitle, text: &o.Title, maxBytes: maxTitle},
		{word: wordSubtitle, text: &o.Subtitle, maxBytes: maxTitle},
		{word: wordNarrative, text: &o.Narrative, maxBytes: maxNarrative},
		{word: wordFacts, list: &o.Facts, item: wordFact, maxBytes: maxFact, maxItems: maxFacts},
		{word: wordConcepts, list: &o.Concepts, item: wordConcept, maxBytes: maxConcept, maxItems: maxConcepts},
		{word: wordFilesRead, list: &o.FilesRead, item: wordFile, maxBytes: maxPath, maxItems: maxFiles},
		{word: wordFilesModified, list: &o.FilesModified, item: wordFile, maxBytes: maxPath, maxItems: maxFiles},
	}
}

// parts are the fields of s in their order.
func (s *Summary) parts() [6]part {
	return [...]part{
		{word: wordRequest, text: &s.Request, maxBytes: maxNarrative},
		{word: wordInvestigated, text: &s.Investigated, maxBytes: maxNarrative},
		{word: wordLearned, text: &s.Learned, maxBytes: maxNarrative},
		{word: wordCompleted, text: &s.Completed, maxBytes: maxNarrative},
		{word: wordNextSteps, text: &s.NextSteps, maxBytes: maxNarrative},
		{word: wordNotes, text: &s.Notes, maxBytes: maxNarrative},
	}
}

// fill reads what stands in b, unbounded. The first occurrence of a field that is not blank counts.
func (f *blocks) fill(parts []part, text string, b block) {
	for _, fd := range b.fields {
		for _, p := range parts {
			switch {
			case p.word != fd.word:
			case p.text != nil && *p.text == "":
				*p.text = f.text(text, fd)
			case p.list != nil && len(*p.list) == 0:
				*p.list = f.items(text, fd, p.item)
			}
		}
	}
}

// normalize finds the mode's type that was given, and cleans the concepts.
func (o *Observation) normalize(types Types) {
	o.resolveType(types)
	o.Concepts = cleanConcepts(o.Concepts, o.Type, clip(o.TypeGiven, maxTypeGiven))
}

// resolveType finds the mode's type that was given.
func (o *Observation) resolveType(types Types) {
	o.Type = UnknownType
	for _, t := range types {
		if strings.EqualFold(t, o.TypeGiven) {
			o.Type, o.TypeGiven = t, ""
			return
		}
	}
}

// cleanConcepts cuts concepts at their first colon, and leaves out blanks, repetitions and the type.
func cleanConcepts(concepts []string, typ, given string) []string {
	var kept []string
	seen := make(map[string]bool, len(concepts))
	for _, c := range concepts {
		c, _, _ = strings.Cut(c, ":")
		c = clip(said(c), maxConcept)
		if c == "" || seen[c] || strings.EqualFold(c, typ) || strings.EqualFold(c, given) {
			continue
		}
		kept = append(kept, c)
		seen[c] = true
	}
	return kept
}

// text is what the field says.
func (f *blocks) text(text string, fd field) string {
	if fd.open == fd.close {
		return ""
	}
	return plain(text[f.tags[fd.open].end:f.tags[fd.close].start])
}

// items lists what the items of a list say, without blanks. An item is closed inside its list, and has its name.
func (f *blocks) items(text string, fd field, want word) []string {
	var list []string
	for i := fd.open + 1; i < fd.close; i++ {
		switch end := f.ends[i]; {
		case f.tags[i].word == wordComment:
			i = f.skipComment(i)
		case f.tags[i].word == want && end > i && end < fd.close:
			if s := f.text(text, field{open: i, close: end}); s != "" {
				list = append(list, s)
			}
			i = end
		}
	}
	return list
}

// statedReason is the reason of the first skip: its attribute, or else its text.
func (f *blocks) statedReason(text string, clipped *int) string {
	b := f.skips[0]
	reason := plain(attribute(text[f.tags[b.open].attrs:f.tags[b.open].end], skipReason))
	if reason == "" {
		reason = f.text(text, field{open: b.open, close: b.close})
	}
	clipField(&reason, maxSkipReason, clipped)
	return reason
}

// clipParts bounds parts, and counts what it shortens or leaves out.
func clipParts(parts []part, clipped *int) {
	for _, p := range parts {
		if p.text != nil {
			clipField(p.text, p.maxBytes, clipped)
			continue
		}
		if p.item == wordFile { // a part of a path is another path
			named := len(*p.list)
			*p.list = slices.DeleteFunc(*p.list, func(path string) bool { return len(path) > p.maxBytes })
			*clipped += named - len(*p.list)
		}
		*p.list = clipList(*p.list, p.maxItems, clipped)
		for i := range *p.list {
			clipField(&(*p.list)[i], p.maxBytes, clipped)
		}
	}
}

// trimParts takes the blanks around texts off, and blank items out.
func trimParts(parts []part) {
	for _, p := range parts {
		if p.text != nil {
			*p.text = said(*p.text)
			continue
		}
		kept := (*p.list)[:0]
		for _, item := range *p.list {
			if item = said(item); item != "" {
				kept = append(kept, item)
			}
		}
		*p.list = kept
	}
}

func clipField(s *string, limit int, clipped *int) {
	if len(*s) > limit {
		*s = clip(*s, limit)
		*clipped++
	}
}

// clipList keeps the first limit items of list, never nil.
func clipList(list []string, limit int, clipped *int) []string {
	if len(list) > limit {
		*clipped += len(list) - limit
		list = list[:limit]
	}
	return append([]string{}, list...)
}
