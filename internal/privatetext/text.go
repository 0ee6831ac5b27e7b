package privatetext

import (
	"slices"
	"strings"
)

// Cut removes what stands between <private> and </private>, tags included, and reports whether anything was
// removed. Tags are told in any letter case and may carry attributes; pairs nest; a tag that is never closed takes the
// rest of s with it; <private/> takes only itself; a closing tag that closes nothing stays. Characters that nobody sees do
// not hide a tag. Control characters are later not stored, and are gone from out if anything was removed. If s is a JSON
// object or array, its strings are cut by the rule of CutJSON too; elsewhere tags are told in the escapes of JSON and HTML
// as well. It takes linear time.
func Cut(s string) (out string, cut bool) {
	out, _, cut = cutOpen(s, 0)
	out, more := cutWithin(out, innerLevels)
	return out, cut || more
}

// MayHoldTag reports whether Cut could find anything in s.
func MayHoldTag(s string) bool {
	return slices.ContainsFunc(brackets[:], func(b string) bool { return strings.Contains(s, b) })
}

// brackets are the beginnings of all that stands for the bracket that opens a tag.
var brackets = [...]string{"<", `\u`, "&l", "&L", "&#"}

// cutOpen is Cut for what stands behind so many open tags, but for the strings of s if it is JSON; open is how many are
// behind it.
func cutOpen(s string, before int) (out string, open int, cut bool) {
	sp := plain
	if mayBeEscaped(s) && !isEscapedJSON(s) {
		sp = either
	}
	out, open, cut = sp.cutTags(withoutControls(s), before)
	if !cut {
		return s, open, false
	}
	return out, open, true
}

// cutWithin cuts private text from the strings of s, if it is JSON whose strings may hold escapes, and what is written with
// more escapes than that. Levels is how deep JSON that is quoted in JSON is looked into.
func cutWithin(s string, levels int) (out string, cut bool) {
	if levels == 0 || !isEscapedJSON(s) {
		return s, false
	}
	inner, cut := cutJSON([]byte(s), levels-1)
	if cut {
		s = string(inner)
	}
	if levels < innerLevels {
		return s, cut
	}
	text, _, more := escaped.cutTags(withoutControls(s), 0)
	if !more {
		return s, cut
	}
	return text, true
}

// innerLevels is how often JSON may be quoted in JSON: a tool's answer in parts is, of which one is JSON, in a report as text.
const innerLevels = 3

// isEscapedJSON reports whether s begins as a JSON object or array, and holds escapes that a tag could be written with.
func isEscapedJSON(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\r', '\n':
		case '{', '[':
			return strings.Contains(s[i:], `\u`)
		default:
			return false
		}
	}
	return false
}

// withoutControls is s without the control characters that are no white space. The result may be s.
func withoutControls(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = !isControl(s[i])
	}
	if clean {
		return s
	}
	kept := make([]byte, 0, len(s))
	for i := range len(s) {
		if !isControl(s[i]) {
			kept = append(kept, s[i])
		}
	}
	return string(kept)
}

// cutTags cuts what is inside of tags, of which depth are open before s; open is how many are behind it.
func (sp spelling) cutTags(s string, depth int) (out string, open int, cut bool) {
	var kept strings.Builder
	from, pos := 0, 0 // s[from:] is not yet kept or cut
	cut = depth > 0 && s != ""
	for {
		at, end, kind := sp.nextTag(s, pos)
		if kind == noTag {
			break
		}
		pos = end
		switch {
		case kind == openTag || kind == emptyTag:
			if depth == 0 {
				kept.WriteString(s[from:at])
				from, cut = end, true
			}
			if kind == openTag {
				depth++
			}
		case depth > 0:
			depth--
			from = end
		}
	}
	if !cut {
		return s, depth, false
	}
	if depth == 0 {
		kept.WriteString(s[from:])
	}
	return kept.String(), depth, true
}
