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
	Type          string   `json:"type"`       // one of the mode's, or UnknownType
	TypeGiven     string   `json:"type_given"` // the word given where Type is UnknownType; else empty
	Title         string   `json:"title"`
	Subtitle      string   `json:"subtitle"`
	Narrative     string   `json:"narrative"`
	Facts         []string `json:"facts"`          // never nil from Parse, as the lists below
	Concepts      []string `json:"concepts"`       // each once, without what follows a colon, without the type
	FilesRead     []string `json:"files_read"`     // claimed
	FilesModified []string `json:"files_modified"` // claimed
}

// Summary is where a session stands, as a provider told it.
type Summary struct {
	Request      string `json:"request"`
	Investigated string `json:"investigated"`
	Learned      string `json:"learned"`
	Completed    string `json:"completed"`
	NextSteps    string `json:"next_steps"`
	Notes        string `json:"notes"`
}

// carries tells whether there is anything worth keeping in o: a subtitle or files alone say nothing.
func (o *Observation) carries() bool {
	return o.Title != "" || o.Narrative != "" || len(o.Facts) > 0 || len(o.Concepts) > 0
}

// carries tells whether there is anything worth keeping in s: notes alone say nothing.
func (s *Summary) carries() bool {
	return s.Request != "" || s.Investigated != "" || s.Learned != "" || s.Completed != "" || s.NextSteps != ""
}

// summary builds what stands in b, unbounded. The first occurrence of a field that is not blank counts.
func (f *blocks) summary(text string, b block) Summary {
	var s Summary
	for _, fd := range b.fields {
		if to := s.field(fd.word); to != nil && *to == "" {
			*to = f.text(text, fd)
		}
	}
	return s
}

// field is where the text of w belongs; nil if it is no field of a summary.
func (s *Summary) field(w word) *string {
	switch w {
	case wordRequest:
		return &s.Request
	case wordInvestigated:
		return &s.Investigated
	case wordLearned:
		return &s.Learned
	case wordCompleted:
		return &s.Completed
	case wordNextSteps:
		return &s.NextSteps
	case wordNotes:
		return &s.Notes
	}
	return nil
}

// observation builds what stands in b, unbounded but for its concepts. The first occurrence of a field that is not
// blank counts.
func (f *blocks) observation(text string, b block, types Types) Observation {
	var o Observation
	for _, fd := range b.fields {
		if to := o.field(fd.word); to != nil && *to == "" {
			*to = f.text(text, fd)
		}
		if to := o.list(fd.word); to != nil && len(*to) == 0 {
			*to = f.items(text, fd)
		}
	}
	o.settleType(types)
	o.Concepts = cleanConcepts(o.Concepts, o.Type, clip(o.TypeGiven, maxTypeGiven))
	return o
}

// field is where the text of w belongs; nil if it is no plain field of an observation.
func (o *Observation) field(w word) *string {
	switch w {
	case wordType:
		return &o.TypeGiven
	case wordTitle:
		return &o.Title
	case wordSubtitle:
		return &o.Subtitle
	case wordNarrative:
		return &o.Narrative
	}
	return nil
}

// list is where the items of w belong; nil if it is no list of an observation.
func (o *Observation) list(w word) *[]string {
	switch w {
	case wordFacts:
		return &o.Facts
	case wordConcepts:
		return &o.Concepts
	case wordFilesRead:
		return &o.FilesRead
	case wordFilesModified:
		return &o.FilesModified
	}
	return nil
}

// settleType finds the mode's type that was given.
func (o *Observation) settleType(types Types) {
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
		c = clip(trim(c), maxConcept)
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
func (f *blocks) items(text string, fd field) []string {
	var list []string
	want := itemOf(fd.word)
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

// itemOf is the word for the items of a list.
func itemOf(list word) word {
	switch list {
	case wordFacts:
		return wordFact
	case wordConcepts:
		return wordConcept
	}
	return wordFile
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

// clip bounds o, and counts what it shortens or leaves out.
func (o *Observation) clip(clipped *int) {
	clipField(&o.TypeGiven, maxTypeGiven, clipped)
	clipField(&o.Title, maxTitle, clipped)
	clipField(&o.Subtitle, maxTitle, clipped)
	clipField(&o.Narrative, maxNarrative, clipped)
	o.Facts = clipList(o.Facts, maxFacts, clipped)
	for i := range o.Facts {
		clipField(&o.Facts[i], maxFact, clipped)
	}
	o.Concepts = clipList(o.Concepts, maxConcepts, clipped)
	for _, files := range []*[]string{&o.FilesRead, &o.FilesModified} {
		named := len(*files)
		*files = slices.DeleteFunc(*files, func(path string) bool { return len(path) > maxPath })
		*clipped += named - len(*files)
		*files = clipList(*files, maxFiles, clipped)
	}
}

// clip bounds s, and counts what it shortens.
func (s *Summary) clip(clipped *int) {
	for _, f := range s.fields() {
		clipField(f, maxNarrative, clipped)
	}
}

// fields are the texts of s in their order.
func (s *Summary) fields() []*string {
	return []*string{&s.Request, &s.Investigated, &s.Learned, &s.Completed, &s.NextSteps, &s.Notes}
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
