package privacy

import (
	"slices"
	"strings"
)

// A list is words and signs to know a text by. A sign is a word with a * at its beginning or end, which stands for anything.
type list struct {
	words                   map[string]bool
	begins, ends, contained []string
}

// newList returns the list of these words and signs.
func newList(all ...string) *list {
	l := &list{words: map[string]bool{}}
	for _, one := range all {
		behind, anyBehind := strings.CutSuffix(one, "*")
		inside, anyBefore := strings.CutPrefix(behind, "*")
		switch {
		case anyBefore && anyBehind:
			l.contained = append(l.contained, inside)
		case anyBefore:
			l.ends = append(l.ends, inside)
		case anyBehind:
			l.begins = append(l.begins, inside)
		default:
			l.words[one] = true
		}
	}
	return l
}

// parseList returns the list of what stands between blanks.
func parseList(text string) *list { return newList(strings.Fields(text)...) }

// has reports whether a text is one of the list. Nothing is one of nil.
func (l *list) has(text string) bool {
	return l != nil && (l.words[text] ||
		slices.ContainsFunc(l.begins, func(sign string) bool { return strings.HasPrefix(text, sign) }) ||
		slices.ContainsFunc(l.ends, func(sign string) bool { return strings.HasSuffix(text, sign) }) ||
		slices.ContainsFunc(l.contained, func(sign string) bool { return strings.Contains(text, sign) }))
}

// among reports whether one of the words of a program is one of the list.
func (l *list) among(args []shellWord) bool { return l != nil && anyWord(args, l.has) }

// anyWord reports whether one of the words is so.
func anyWord(args []shellWord, so func(string) bool) bool {
	return slices.ContainsFunc(args, func(w shellWord) bool { return so(w.text) })
}

// A condition is about the words behind the name of a program. An empty one never holds.
type condition struct {
	first *list // the first of them that is neither an option nor the word of one is one of these, if there are any
	other *list // there is such a word, and it is none of these, if there are any
	any   *list // one of these is among them, if there are any
	and   *list // and one of these
	none  *list // none of these is
}
