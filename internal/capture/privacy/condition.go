package privacy

import (
	"slices"
	"strings"
)

// A list is words and signs to know a text by. A * at the beginning or end of one stands for anything.
type list []string

// words returns the list of what stands between blanks.
func words(text string) list { return strings.Fields(text) }

// has reports whether a text is one of the list.
func (l list) has(text string) bool {
	for _, one := range l {
		last := len(one) - 1
		before, behind := one[0] == '*', one[last] == '*'
		switch {
		case !before && !behind && text == one,
			before && !behind && strings.HasSuffix(text, one[1:]),
			behind && !before && strings.HasPrefix(text, one[:last]),
			before && behind && strings.Contains(text, one[1:last]):
			return true
		}
	}
	return false
}

// among reports whether one of the words of a program is one of the list.
func (l list) among(args []shellWord) bool { return anyWord(args, l.has) }

// anyWord reports whether one of the words is so.
func anyWord(args []shellWord, so func(string) bool) bool {
	return slices.ContainsFunc(args, func(w shellWord) bool { return so(w.text) })
}

// A condition is about the words behind the name of a program. An empty one never holds.
type condition struct {
	first list // the first word is one of these, if there are any
	any   list // one of these is among them, if there are any
	none  list // none of these is
}

func (c condition) isEmpty() bool { return len(c.first)+len(c.any)+len(c.none) == 0 }

func (c condition) holds(args []shellWord) bool {
	switch {
	case c.isEmpty():
		return false
	case len(c.first) > 0 && (len(args) == 0 || !c.first.has(args[0].text)):
		return false
	case len(c.any) > 0 && !c.any.among(args):
		return false
	}
	return !c.none.among(args)
}
