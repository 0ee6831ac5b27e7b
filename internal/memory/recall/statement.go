package recall

import (
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
)

// statement is a sentence of a text, with what it needs to be understood where it stands alone.
type statement struct {
	text    string
	plain   plain // text by its words
	head    int   // the statement that the items of its list stand under; -1: none
	before  int   // the sentence before it in the same section, where neither code nor the head of a list stands between; -1: none
	leans   bool  // it speaks of the one before it
	isHead  bool  // it announces a list, or is a heading
	options bool  // it is one of several things to choose from
}

// reader takes statements off the lines of a text.
type reader struct {
	all     []statement
	head    int  // of the list at hand, or of the section; -1: none
	section int  // the heading of the section; -1: none
	bold    bool // it is a line in bold type
	last    int  // what the next may speak of; -1: none
	options bool // what stands under head is to be chosen from
}

// maxCode is how long code is at most, in characters, that is told with the line that announces it.
const maxCode = 200

// statementsOf are the sentences of a text, those of its paragraphs and the items of its lists, and what these stand under: a line that
// ends with a colon, or a heading. Tables are left out, and code but for a few words of it that a line announces.
func statementsOf(text string) []statement {
	r := reader{head: -1, section: -1, last: -1}
	inCode := false
	var code []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			if inCode {
				r.code(strings.Join(code, "; "))
			}
			inCode, code = !inCode, nil
		case inCode && line != "":
			code = append(code, line)
		case !inCode && !strings.HasPrefix(line, "|"):
			r.line(line)
		}
	}
	for i, s := range r.all {
		r.all[i].plain = plainWords(s.text)
	}
	return r.all
}

// code takes code along with the line that announces it, if it is short. What stands behind other code may speak of that.
func (r *reader) code(text string) {
	r.last = -1
	if at := len(r.all) - 1; at >= 0 && r.head == at && text != "" && size(text) <= maxCode && r.all[at].text != "" && r.section != at {
		r.all[at].text += ": `" + text + "`"
		r.all[at].isHead = false
		r.head, r.last = r.section, at
	}
}

func (r *reader) line(line string) {
	plain := withoutMarks(line)
	item := plain != unmarked(line)
	bold := !item && strings.HasPrefix(line, "**")
	switch {
	case plain == "":
		return
	case strings.HasPrefix(line, "#"), bold && strings.Count(line, "**") == 2 && strings.HasSuffix(line, "**"):
		r.heading(strings.TrimLeft(plain, "# "))
		r.bold = bold
		return
	case bold && r.bold: // the next of such sections, which has its heading in its first line
		r.section, r.head, r.last, r.options = -1, -1, -1, false
	case !item:
		r.head, r.options = r.section, false
	}
	for rest := plain; rest != ""; {
		var s string
		if s, rest = sentence.First(rest); s != "" {
			r.sentence(s, strings.TrimSpace(rest) == "")
		}
	}
}

// heading begins a section. A word alone says nothing of what stands under it.
func (r *reader) heading(text string) {
	r.last, r.options = -1, false
	r.section, r.head = -1, -1
	if text = strings.TrimRight(withoutMarks(text), " :："); sentence.Telling(text) || strings.Contains(text, " ") {
		r.section, r.head = len(r.all), len(r.all)
		r.all = append(r.all, statement{text: text, head: -1, before: -1, isHead: true})
	}
}

// sentence takes one along; the last of its line, with a colon at its end, is the head of what follows.
func (r *reader) sentence(s string, last bool) {
	head := strings.TrimRight(s, " :：")
	if !last || head == s {
		r.all = append(r.all, statement{text: s, head: r.head, before: r.last, leans: sentence.LeansBack(s), options: r.options})
		r.last = len(r.all) - 1
		return
	}
	switch purpose := sentence.PurposeOf(head); purpose {
	case sentence.Announce, sentence.Menu:
		r.head, r.options = r.section, purpose == sentence.Menu
	default:
		r.head, r.options = len(r.all), false
		r.all = append(r.all, statement{text: head, head: -1, before: r.last, leans: sentence.LeansBack(s), isHead: true})
	}
	r.last = -1
}

// alone writes some statements, by their numbers in order, each list's head before its items.
func alone(all []statement, chosen []int) string {
	var parts []string
	under, open := -1, false
	for _, i := range chosen {
		s := all[i]
		if s.head >= 0 && (s.head != under || !open) {
			parts = append(parts, all[s.head].text+":")
		}
		under, open = s.head, true
		parts = append(parts, s.text)
	}
	return joinSentences(parts)
}
