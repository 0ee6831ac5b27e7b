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
		if isLike(text, one) {
			return true
		}
	}
	return false
}

// isLike reports whether a text is one of a list.
func isLike(text, one string) bool {
	last := len(one) - 1
	switch {
	case one[0] != '*' && one[last] != '*':
		return text == one
	case one[0] != '*':
		return strings.HasPrefix(text, one[:last])
	case one[last] != '*':
		return strings.HasSuffix(text, one[1:])
	}
	return strings.Contains(text, one[1:last])
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
