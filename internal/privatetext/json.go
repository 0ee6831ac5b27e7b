package privatetext

import (
	"bytes"
	"slices"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// CutJSON removes private text from each string of a JSON text by the rule of Cut: a tag left open takes the
// rest of its string only. In an array it takes what follows in the array too, up to the closing tag in one of its strings:
// that is how the lines of a file are listed. Numbers and words in there become null; names of members stay. The result is
// JSON again, equal to body outside of what was cut. Strings that are JSON themselves are cut as Cut does. A body that is not
// JSON is cut as one text, its tags told in their escaped forms too. It takes linear time; the result may be body itself.
func CutJSON(body []byte) (out []byte, cut bool) { return cutJSON(body, innerLevels) }

// cutJSON is CutJSON; levels is how deep strings that are JSON are looked into.
func cutJSON(body []byte, levels int) (out []byte, cut bool) {
	if !mayHoldTag(body) {
		return body, false
	}
	s := jsonscan.Scanner[[]byte]{Data: body}
	var open opened
	from := 0
	for {
		t, ok := s.Next()
		if !ok {
			break
		}
		open.follow(&s)
		text, changed := open.cut(&s, t, levels)
		if changed {
			out = append(out, body[from:t.Start]...)
			out = append(out, text...)
			from, cut = t.End, true
		}
	}
	if !s.Valid() {
		return cutBroken(body)
	}
	if !cut {
		return body, false
	}
	return append(out, body[from:]...), true
}

// cutBroken is Cut for what only looks like JSON.
func cutBroken(body []byte) (out []byte, cut bool) {
	text, _, cut := either.cutTags(withoutControls(string(body)), 0)
	if !cut {
		return body, false
	}
	return []byte(text), true
}

// opened is how many tags are open in each of the containers around a token, from the outermost one on. What stands in a
// container stands inside of the tags that were open before it.
type opened []int

// follow notes the containers that ended and began since the last token.
func (o *opened) follow(s *jsonscan.Scanner[[]byte]) {
	*o = (*o)[:min(len(*o), s.MinDepth())]
	for len(*o) < s.Depth() {
		n := 0
		if len(*o) > 0 {
			n = (*o)[len(*o)-1]
		}
		*o = append(*o, n)
	}
}

// cut is what stands in the place of a token, if that is not itself.
func (o opened) cut(s *jsonscan.Scanner[[]byte], t jsonscan.Token, levels int) (by []byte, changed bool) {
	raw, before := s.Data[t.Start:t.End], 0
	if len(o) > 0 && !t.Key {
		before = o[len(o)-1]
	}
	switch {
	case before == 0 && (raw[0] != '"' || !mayHoldTag(raw)):
		return nil, false
	case raw[0] != '"':
		return []byte("null"), raw[0] != 'n'
	}
	text, open, changed := cutOpen(jsonscan.Unquote(raw), before)
	if !t.Key && s.InList() {
		o[len(o)-1] = open
	}
	text, more := cutWithin(text, levels)
	if !changed && !more {
		return nil, false
	}
	return jsonscan.AppendQuoted(nil, text), true
}

// mayHoldTag is MayHoldTag for a part of a JSON text.
func mayHoldTag(raw []byte) bool {
	return slices.ContainsFunc(brackets[:], func(b string) bool { return bytes.Contains(raw, []byte(b)) })
}
