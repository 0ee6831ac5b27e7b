package observer

import (
	"iter"
	"strings"
)

// word is a tag name that the contract knows.
type word uint8

const (
	noWord word = iota

	wordObservation // the roots
	wordSummary
	wordSkip

	wordType // the fields of an observation
	wordTitle
	wordSubtitle
	wordNarrative
	wordFacts
	wordConcepts
	wordFilesRead
	wordFilesModified

	wordRequest // the fields of a summary
	wordInvestigated
	wordLearned
	wordCompleted
	wordNextSteps
	wordNotes

	wordFact // the items of lists
	wordConcept
	wordFile

	wordThink // reasoning
	wordThinking
	wordComment

	words // how many there are
)

func (w word) isRoot() bool  { return w >= wordObservation && w <= wordSkip }
func (w word) isField() bool { return w >= wordType && w <= wordNotes }

// wordNames are the words as they are written.
var wordNames = [words]string{
	wordObservation: "observation", wordSummary: "summary", wordSkip: skipRoot,
	wordType: "type", wordTitle: "title", wordSubtitle: "subtitle", wordNarrative: "narrative",
	wordFacts: "facts", wordConcepts: "concepts", wordFilesRead: "files_read", wordFilesModified: "files_modified",
	wordRequest: "request", wordInvestigated: "investigated", wordLearned: "learned",
	wordCompleted: "completed", wordNextSteps: "next_steps", wordNotes: "notes",
	wordFact: "fact", wordConcept: "concept", wordFile: "file",
	wordThink: "think", wordThinking: "thinking",
}

// wordsByName are the words that have names.
var wordsByName = func() map[string]word {
	list := map[string]word{}
	for w, name := range wordNames {
		if name != "" {
			list[name] = word(w)
		}
	}
	return list
}()

// lookup finds the word spelled name, in any letter case.
func lookup(name string) word {
	var buf [len("files_modified")]byte
	if name == "" || len(name) > len(buf) {
		return noWord
	}
	return wordsByName[string(lower(buf[:0], name))]
}

// lower appends s to b with its ASCII letters in lower case.
func lower(b []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

type shape uint8

const (
	opening shape = iota
	closing
	empty // self-closing
	cut   // an opening that never came to its >
)

// tag is one tag with a known name, or a closed comment. It is text[start:end]; attributes begin at attrs.
type tag struct {
	word              word
	shape             shape
	start, attrs, end int
}

// readTag reads the tag at text[i], which is a '<'. It is false for whatever is not a tag of the contract.
func readTag(text string, i int) (tag, bool) {
	t := tag{start: i}
	p := skipSpace(text, i+1)
	if p < len(text) && text[p] == '/' {
		t.shape = closing
		p = skipSpace(text, p+1)
	}
	t.attrs = p
	for t.attrs < len(text) && isNameByte(text[t.attrs]) {
		t.attrs++
	}
	if t.word = lookup(text[p:t.attrs]); t.word == noWord {
		return tag{}, false
	}
	var ok bool
	if t.end, ok = tagEnd(text, t.attrs); !ok {
		t.shape, t.end = cut, t.attrs
		return t, p == i+1
	}
	if t.shape == opening && strings.HasSuffix(strings.TrimRight(text[t.attrs:t.end-1], asciiSpace), "/") {
		t.shape = empty
	}
	return t, true
}

// tagEnd finds the end of a tag whose name ends at p: behind the first '>' outside quotes or, where a quote is left
// open, behind the first '>' at all. A tag does not reach over a '<'.
func tagEnd(text string, p int) (int, bool) {
	if end, ok := quotedEnd(text, p); ok {
		return end, true
	}
	if n := strings.IndexAny(text[p:], "<>"); n >= 0 && text[p+n] == '>' {
		return p + n + 1, true
	}
	return 0, false
}

// quotedEnd is tagEnd with quotes honoured behind a '='. Tags inside each other's quotes do not make it quadratic: at
// every '<' all scans that stand outside quotes end, and scans inside the same quotes differ in nothing, so that at
// most three ever run over one byte.
func quotedEnd(text string, p int) (int, bool) {
	for p < len(text) {
		switch text[p] {
		case '>':
			return p + 1, true
		case '<':
			return 0, false
		case '=':
			p = skipSpace(text, p+1)
			if p == len(text) || text[p] != '"' && text[p] != '\'' {
				continue
			}
			n := strings.IndexByte(text[p+1:], text[p])
			if n < 0 {
				return 0, false
			}
			p += n + 2
		default:
			p++
		}
	}
	return 0, false
}

// attribute returns the value of the attribute called name, in any letter case, as it is written in attrs.
func attribute(attrs, name string) string {
	for p := 0; p < len(attrs); {
		from := p
		for p < len(attrs) && isNameByte(attrs[p]) {
			p++
		}
		key := attrs[from:p]
		if p == from {
			p++
			continue
		}
		p = skipSpace(attrs, p)
		if p == len(attrs) || attrs[p] != '=' {
			continue
		}
		var value string
		value, p = attributeValue(attrs, skipSpace(attrs, p+1))
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

// attributeValue reads the value at attrs[p:], with quotes or without, and says where it ends.
func attributeValue(attrs string, p int) (string, int) {
	if p < len(attrs) && (attrs[p] == '"' || attrs[p] == '\'') {
		if n := strings.IndexByte(attrs[p+1:], attrs[p]); n >= 0 {
			return attrs[p+1 : p+1+n], p + n + 2
		}
		p++
	}
	n := strings.IndexAny(attrs[p:], asciiSpace+`>"'`)
	if n < 0 {
		n = len(attrs) - p
	}
	return strings.TrimSuffix(attrs[p:p+n], "/"), p + n
}

// hasRoot tells whether a root tag stands anywhere in text, opening or closing, quoted or cut off.
func hasRoot(text string) bool {
	for i := range indexes(text, '<') {
		if t, ok := readTag(text, i); ok && t.word.isRoot() {
			return true
		}
	}
	return false
}

// indexes yields where b stands in text.
func indexes(text string, b byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; ; i++ {
			n := strings.IndexByte(text[i:], b)
			if n < 0 || !yield(i+n) {
				return
			}
			i += n
		}
	}
}

const (
	cdataOpen    = "<![CDATA["
	cdataClose   = "]]>"
	commentOpen  = "<!--"
	commentClose = "-->"
	asciiSpace   = " \t\r\n\f"
)

// fewTags is how many tags there is room for from the start: more than an observation or a summary has.
const fewTags = 64

// readTags lists the tags of text in order. CDATA sections that are closed hide what is in them. Comments that are
// closed are listed and hide nothing here, because inside a field they are text.
func readTags(text string) []tag {
	tags := make([]tag, 0, min(strings.Count(text, "<"), fewTags))
	sections, comments := finder{text: text, what: cdataClose}, finder{text: text, what: commentClose}
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '<')
		if n < 0 {
			return tags
		}
		i += n
		if strings.HasPrefix(text[i:], cdataOpen) {
			if end := sections.after(i + len(cdataOpen)); end >= 0 {
				i = end
				continue
			}
		}
		if strings.HasPrefix(text[i:], commentOpen) {
			if end := comments.after(i + len(commentOpen)); end >= 0 {
				tags = append(tags, tag{word: wordComment, shape: empty, start: i, attrs: i, end: end})
			}
		}
		t, ok := readTag(text, i)
		if !ok {
			i++
			continue
		}
		tags = append(tags, t)
		i = t.end
	}
}

// finder looks for one string from places that never move back, so that all its searches cost one pass.
type finder struct {
	text, what string
	found      int // end of the last one found; 0: none yet
	gone       bool
}

// after returns the end of the first what at or behind from, or -1.
func (f *finder) after(from int) int {
	if f.found-len(f.what) >= from && f.found > 0 {
		return f.found
	}
	if f.gone {
		return -1
	}
	n := strings.Index(f.text[from:], f.what)
	if n < 0 {
		f.gone = true
		return -1
	}
	f.found = from + n + len(f.what)
	return f.found
}

func skipSpace(text string, p int) int {
	for p < len(text) && strings.IndexByte(asciiSpace, text[p]) >= 0 {
		p++
	}
	return p
}

// isNameByte is for the bytes of XML names; all bytes of non-ASCII characters count, so that no name ends inside one.
func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '-' || c == '.' || c == ':' || c >= 0x80
}
