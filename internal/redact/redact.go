package redact

import (
	"slices"
	"strings"
	"sync"
)

// A Redactor takes secrets out of texts. It does not change and is safe for concurrent use.
type Redactor struct {
	words  *Keywords
	shapes []shape         // by the index of a word
	ids    map[string]bool // what stands before ids

	finders sync.Pool // of *finder
}

// A shape is what to look for where a word stands.
type shape struct {
	word  string
	exact bool // in this case of letters only
	find  func(f *finder, l *shape, start, end int)
	token tokenRule // for those that look for a token
	tail  int       // the number of that rule
}

// New returns a Redactor that knows all the rules.
func New() *Redactor {
	r := &Redactor{shapes: shapes(), ids: idPrefixes()}
	for i, rule := range tokenRules() {
		for p := range strings.FieldsSeq(rule.prefixes) {
			r.shapes = append(r.shapes, shape{word: p, exact: true, find: (*finder).prefixed, token: rule, tail: i})
		}
	}
	words := make([]string, len(r.shapes))
	for i, l := range r.shapes {
		words[i] = l.word
	}
	r.words = NewKeywords(words)
	return r
}

const (
	markOpen  = "[redacted:"
	markClose = "]"
)

// Mark is what stands in the place of a secret that the rule of that name found.
func Mark(rule string) string { return markOpen + rule + markClose }

// maxMark is more than the longest mark has.
const maxMark = 64

// Marked reports whether s[start:end] is a mark, spaces around it aside, or a part of one.
func Marked(s string, start, end int) bool {
	for start < end && isSpace(s[start]) {
		start++
	}
	for start < end && isSpace(s[end-1]) {
		end--
	}
	from := max(0, start-maxMark)
	open := strings.LastIndex(s[from:min(len(s), start+len(markOpen))], markOpen)
	if open < 0 {
		return false
	}
	shut := strings.Index(s[from+open:], markClose)
	return shut >= 0 && shut <= maxMark && end <= from+open+shut+len(markClose)
}

// Text returns s with a mark in the place of each secret, and how many there were by rule; s itself and nil where there
// is none. Who redacts a JSON text calls JSON.
func (r *Redactor) Text(s string) (out string, found map[string]int) {
	return r.repeat(s, pass{general: true})
}

// JSON is Text for a JSON text, whole or cut: what is JSON stays JSON, with the same members.
func (r *Redactor) JSON(s string) (out string, found map[string]int) {
	return r.repeat(s, pass{json: true, general: true})
}

// KnownForms is Text without the general rule, for who knows more forms than this package and tries that rule behind them: what it
// takes may hold the word by which another form is known.
func (r *Redactor) KnownForms(s string) (out string, found map[string]int) {
	return r.repeat(s, pass{})
}

// A pass is how a text is looked at.
type pass struct {
	json    bool // it is JSON
	general bool // the general rule is tried too
}

// passes bounds how often a text is looked at. What stood behind a secret may be one itself once that has become a mark;
// text that needs more than a second look was made for it.
const passes = 8

func (r *Redactor) repeat(s string, how pass) (out string, found map[string]int) {
	for range passes {
		spans := r.spans(s, how)
		if len(spans) == 0 {
			return s, found
		}
		if found == nil {
			found = make(map[string]int, 1)
		}
		s = Replace(s, spans, found)
	}
	return s, found
}

// A Span is a secret: text[Start:End], and the rule that found it.
type Span struct {
	Start, End int
	Rule       string
	Weak       bool // another rule that finds some of it knows better what it is
	more       bool // it goes on with the secret before it, and is not counted

	quote string // it is a number in JSON: the mark becomes a string between these
}

// spans lists the secrets of s in their order, none of which overlap.
func (r *Redactor) spans(s string, how pass) []Span {
	spans := r.find(s, how)
	if u, ok := unhide(s); ok {
		spans = append(spans, u.back(r.find(u.text, how))...)
	}
	return Merge(spans)
}

// find gathers the secrets of s as it is.
func (r *Redactor) find(s string, how pass) []Span {
	f, _ := r.finders.Get().(*finder)
	if f == nil {
		f = new(finder)
	}
	f.s, f.json = s, how.json
	r.words.Each(s, func(word, end int) bool {
		l := &r.shapes[word]
		if start := end - len(l.word); !l.exact || s[start:end] == l.word {
			l.find(f, l, start, end)
		}
		return true
	})
	if how.general {
		f.general(r.ids)
	}
	spans := f.spans
	*f = finder{}
	r.finders.Put(f)
	return spans
}

// Replace returns s with marks in the place of spans, which must be as Merge returns them, and counts them in found.
func Replace(s string, spans []Span, found map[string]int) string {
	var out strings.Builder
	out.Grow(len(s))
	from := 0
	for _, p := range spans {
		out.WriteString(s[from:p.Start])
		out.WriteString(p.quote + Mark(p.Rule) + p.quote)
		from = p.End
		if !p.more {
			found[p.Rule]++
		}
	}
	out.WriteString(s[from:])
	return out.String()
}

// Merge puts spans in order, in place. Those that overlap become one, by the rule of the first of them that is not weak.
func Merge(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortStableFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	merged := spans[:1]
	for _, p := range spans[1:] {
		last := &merged[len(merged)-1]
		if p.Start >= last.End {
			merged = append(merged, p)
			continue
		}
		last.End = max(last.End, p.End)
		if last.Weak && !p.Weak {
			last.Rule, last.Weak = p.Rule, false
		}
	}
	return merged
}
