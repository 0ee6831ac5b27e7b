package preference

import (
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	// maxTextBytes is how many bytes of a text are looked at: what a person types stands at its beginning.
	maxTextBytes = 4 << 10

	// A paragraph that a person types has at most so many lines and bytes; what is pasted is broken into lines, or is one long one.
	maxLines          = 3
	maxParagraphBytes = 800

	// maxPassages is how many paragraphs a person types.
	maxPassages = 12

	// gap stands where something was quoted that is longer than a few words.
	gap = "\x00"

	// maxQuoted is the longest quotation in bytes that is part of a sentence.
	maxQuoted = 60
)

// passage is a paragraph of running text, or an item of a list of rules.
type passage struct {
	text   string
	ruled  bool // it stands below a line that announces rules
	marked bool // it stands below a fence or a quotation: whoever marks what is another's writes the rest
}

// passageReader collects the running text with which a prompt begins.
type passageReader struct {
	passages  []passage
	paragraph []string
	fence     string // that is open
	marked    bool   // there was a fence, or a quotation
	foreign   bool   // what follows is announced: it is another's text
	ruled     bool   // a list of rules is announced
}

// runningText returns the paragraphs that a person wrote with their own hand: what stands at the beginning, before anything that is
// pasted. Code and quotations between are left out.
func runningText(text string) []passage {
	if len(text) > maxTextBytes { // without the line that is cut
		text = strings.ToValidUTF8(text[:1+strings.LastIndexByte(text[:maxTextBytes], '\n')], "")
	}
	r := passageReader{}
	for line := range strings.Lines(text) {
		if !r.take(strings.TrimRight(line, " \t\r\n")) || len(r.passages) > maxPassages {
			r.paragraph = nil
			break
		}
	}
	r.end()
	if r.fence != "" {
		return r.passages[:0:0]
	}
	return r.passages
}

// take takes one line, and reports whether the next is looked at too.
func (r *passageReader) take(line string) bool {
	text := strings.TrimSpace(line)
	switch {
	case r.fence != "":
		if strings.HasPrefix(text, r.fence) {
			r.fence, r.marked = "", true
		}
	case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
		r.end()
		r.fence, r.foreign = text[:3], false
	case text == "":
		r.end()
	case strings.HasPrefix(text, ">"):
		r.end()
		r.foreign, r.marked = false, true
	case strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"):
		r.end()
	case isItem(text):
		return r.item(text)
	case r.foreign, strings.ContainsAny(text[:1], "#|<{}[]()@$=+-*_%"):
		r.end()
		return false
	default:
		r.ruled = false
		return r.add(text)
	}
	return true
}

// add adds a line to the paragraph.
func (r *passageReader) add(line string) bool {
	r.paragraph = append(r.paragraph, line)
	if len(r.paragraph) > maxLines {
		return false
	}
	if strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") {
		r.ruled = anyHas(rule, wordsOf(line))
		r.end()
		r.foreign = true
	}
	return true
}

// item takes an item of a list, which is the person's where they announced rules.
func (r *passageReader) item(text string) bool {
	r.end()
	if r.ruled {
		_, rest, _ := strings.Cut(text, " ")
		r.passages = append(r.passages, passage{text: withoutQuotations(strings.TrimSpace(rest)), ruled: true})
	}
	return r.ruled || !r.foreign
}

// isItem reports whether a line is an item of a list.
func isItem(line string) bool {
	m, _, ok := strings.Cut(line, " ")
	return ok && (m == "-" || m == "*" || m == "•" || len(m) > 1 && strings.Trim(m[:len(m)-1], "0123456789") == "" && strings.ContainsAny(m[len(m)-1:], ".)"))
}

// end ends the paragraph. What stands behind a question is what was asked about.
func (r *passageReader) end() {
	if len(r.paragraph) == 0 {
		return
	}
	text := withoutQuotations(strings.Join(r.paragraph, " "))
	r.paragraph = nil
	r.foreign = strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
	if len(text) <= maxParagraphBytes {
		r.passages = append(r.passages, passage{text: text, marked: r.marked})
	} else {
		r.foreign = true
	}
}

// withoutQuotations is text with a gap for each quotation that is a sentence of its own, or does not end.
func withoutQuotations(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		n := quotation(text[i:])
		switch {
		case n == 0 && text[i] == '"':
			out.WriteString(gap)
			return out.String()
		case n == 0:
			out.WriteByte(text[i])
			n = 1
		case n > maxQuoted || isSentence(text[i:i+n]):
			out.WriteString(gap)
		default:
			out.WriteString(text[i : i+n])
		}
		i += n
	}
	return out.String()
}

// isSentence reports whether what is quoted has more than one sentence.
func isSentence(quotation string) bool {
	_, rest := sentence.First(quotation)
	return rest != ""
}
