package recall

import (
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
)

// statement is a sentence of a text, with what it needs to be understood where it stands alone.
type statement struct {
	text    string
	head    int  // the statement that the items of its list stand under; -1: none
	before  int  // the sentence before it in the same section, where neither code nor the head of a list stands between; -1: none
	isHead  bool // it announces a list, or is a heading
	options bool // it is one of several things to choose from
}

// leans reports whether a statement speaks of the one before it.
func (s statement) leans() bool { return sentence.LeansBack(s.text) }

// reader takes statements off the lines of a text.
type reader struct {
	all     []statement
	head    int  // of the list at hand, or of the section; -1: none
	section int  // the heading of the section; -1: none
	last    int  // what the next may speak of; -1: none
	options bool // what stands under head is to be chosen from
}

// statementsOf are the sentences of a text, those of its paragraphs and the items of its lists, and what these stand under: a line that
// ends with a colon, or a heading. Code and tables are left out.
func statementsOf(text string) []statement {
	r := reader{head: -1, section: -1, last: -1}
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			code, r.last = !code, -1
			continue
		}
		if !code && !strings.HasPrefix(line, "|") {
			r.line(line)
		}
	}
	return r.all
}

func (r *reader) line(line string) {
	plain := withoutMarks(line)
	item := plain != strings.TrimSpace(strings.ReplaceAll(line, "**", ""))
	switch {
	case plain == "":
		return
	case strings.HasPrefix(line, "#"), !item && strings.HasPrefix(line, "**") && strings.Count(line, "**") == 2 && strings.HasSuffix(line, "**"):
		r.heading(strings.TrimLeft(plain, "# "))
		return
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

// heading begins a section. A label with a number or a word alone says nothing of what stands under it.
func (r *reader) heading(text string) {
	r.last, r.options = -1, false
	r.section, r.head = -1, -1
	if text = strings.TrimRight(withoutMarks(text), " :："); sentence.Telling(text) {
		r.section, r.head = len(r.all), len(r.all)
		r.all = append(r.all, statement{text: text, head: -1, before: -1, isHead: true})
	}
}

// sentence takes one along; the last of its line, with a colon at its end, is the head of what follows.
func (r *reader) sentence(s string, last bool) {
	head := strings.TrimRight(s, " :：")
	if !last || head == s {
		r.all = append(r.all, statement{text: s, head: r.head, before: r.last, options: r.options})
		r.last = len(r.all) - 1
		return
	}
	switch purpose := sentence.PurposeOf(head); purpose {
	case sentence.Announce, sentence.Menu:
		r.head, r.options = r.section, purpose == sentence.Menu
	default:
		r.head, r.options = len(r.all), false
		r.all = append(r.all, statement{text: head, head: -1, before: r.last, isHead: true})
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
	return joined(parts)
}
