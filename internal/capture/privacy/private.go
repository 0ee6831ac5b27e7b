package privacy

import (
	"bytes"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// CutPrivate removes what stands between <private> and </private>, tags included, and reports whether anything was
// removed. Tags are told in any letter case and may carry attributes; pairs nest; a tag that is never closed takes the
// rest of s with it; <private/> takes only itself; a closing tag that closes nothing stays. Control characters do not
// hide a tag: they are later not stored, and are gone from out if anything was removed. If s is a JSON object or array, its
// strings are cut by the rule of CutPrivateJSON too: there tags may be escaped. It takes linear time.
func CutPrivate(s string) (out string, cut bool) {
	out, _, cut = cutOpen(s, 0)
	inner, more := cutInner(out, innerLevels)
	return inner, cut || more
}

// cutOpen is CutPrivate for what stands behind so many open tags, without the look into JSON; open is how many are behind it.
func cutOpen(s string, before int) (out string, open int, cut bool) {
	out, open, cut = cutTags(withoutControls(s), before)
	if !cut {
		return s, open, false
	}
	return out, open, true
}

// innerLevels is how often JSON may be quoted in JSON: a tool's answer in parts is, of which one is JSON, in a report as text.
const innerLevels = 3

// cutInner cuts private text from the strings of s, if s looks like JSON and could hold tags that are escaped. Levels is how
// deep it looks.
func cutInner(s string, levels int) (out string, cut bool) {
	if levels == 0 || !IsEscapedJSON(s) {
		return s, false
	}
	inner, cut := cutJSON([]byte(s), levels-1)
	if !cut {
		return s, false
	}
	return string(inner), true
}

// IsEscapedJSON reports whether CutPrivate looks into s: it begins as a JSON object or array, and holds escapes that a tag
// could be written with.
func IsEscapedJSON(s string) bool { return mayBeJSON(s) && strings.Contains(s, `\u`) }

// mayBeJSON reports whether a text begins as an object or a list does.
func mayBeJSON[T string | []byte](text T) bool {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
		case '{', '[':
			return true
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

func isControl(c byte) bool {
	return c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f' || c == 0x7f
}

// cutTags cuts what is inside of tags, of which depth are open before s; open is how many are behind it.
func cutTags(s string, depth int) (out string, open int, cut bool) {
	var kept strings.Builder
	from, pos := 0, 0 // s[from:] is not yet kept or cut
	cut = depth > 0 && s != ""
	for {
		at, end, kind := nextTag(s, pos)
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

type tagKind byte

const (
	noTag tagKind = iota
	openTag
	closeTag
	emptyTag
)

// nextTag finds the next private tag at or after from: it is s[at:end]. An opening tag whose > is missing reaches to
// the end of s; the first > ends a tag even inside a quoted attribute, because what follows is private then, too.
func nextTag(s string, from int) (at, end int, kind tagKind) {
	for {
		i := strings.IndexByte(s[from:], '<')
		if i < 0 {
			return 0, 0, noTag
		}
		at = from + i
		from = at + 1
		if n := closeTagLength(s[from:]); n > 0 {
			return at, from + n, closeTag
		}
		if n := openTagLength(s[from:]); n > 0 {
			return at, from + n, openOrEmpty(s[from : from+n])
		}
	}
}

const tagName = "private"

// openTagLength measures the opening tag at the start of rest, which follows a <; 0 if there is none.
func openTagLength(rest string) int {
	if !startsName(rest) {
		return 0
	}
	after := rest[len(tagName):]
	if after != "" && strings.IndexByte(">/ \t\r\n\f", after[0]) < 0 {
		return 0
	}
	i := strings.IndexByte(after, '>')
	if i < 0 {
		return len(rest)
	}
	return len(tagName) + i + 1
}

// closeTagLength measures the closing tag at the start of rest, which follows a <; 0 if there is none.
func closeTagLength(rest string) int {
	if rest == "" || rest[0] != '/' || !startsName(rest[1:]) {
		return 0
	}
	i := 1 + len(tagName)
	for i < len(rest) && strings.IndexByte(" \t\r\n\f", rest[i]) >= 0 {
		i++
	}
	if i == len(rest) || rest[i] != '>' {
		return 0
	}
	return i + 1
}

func openOrEmpty(tag string) tagKind {
	if strings.HasSuffix(tag, "/>") {
		return emptyTag
	}
	return openTag
}

func startsName(s string) bool {
	return len(s) >= len(tagName) && strings.EqualFold(s[:len(tagName)], tagName)
}

// CutPrivateJSON removes private text from each string of a JSON text by the rule of CutPrivate: a tag left open takes the
// rest of its string only. In an array it takes what follows in the array too, up to the closing tag in one of its strings:
// that is how the lines of a file are listed. Numbers and words in there become null; names of members stay. The result is
// JSON again, equal to body outside of what was cut. Strings that are JSON themselves are cut as CutPrivate does. A body that is not JSON is cut as one text, its tags told in their
// escaped forms too. It takes linear time; the result may be body itself.
func CutPrivateJSON(body []byte) (out []byte, cut bool) { return cutJSON(body, innerLevels) }

// cutJSON is CutPrivateJSON; levels is how deep strings that are JSON are looked into.
func cutJSON(body []byte, levels int) (out []byte, cut bool) {
	if !mayHoldTag(body) {
		return body, false
	}
	s := jsonscan.Scanner{Data: body}
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
		return cutText(body)
	}
	if !cut {
		return body, false
	}
	return append(out, body[from:]...), true
}

// opened is how many tags are open in each of the containers around a token, from the outermost one on. What stands in a
// container stands inside of the tags that were open before it.
type opened []int

// follow notes the containers that ended and began since the last token.
func (o *opened) follow(s *jsonscan.Scanner) {
	*o = (*o)[:min(len(*o), s.Low())]
	for len(*o) < s.Depth() {
		n := 0
		if len(*o) > 0 {
			n = (*o)[len(*o)-1]
		}
		*o = append(*o, n)
	}
}

// cut is what stands in the place of a token, if that is not itself.
func (o opened) cut(s *jsonscan.Scanner, t jsonscan.Token, levels int) (by []byte, changed bool) {
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
	text, more := cutInner(text, levels)
	if !changed && !more {
		return nil, false
	}
	return jsonscan.AppendQuoted(nil, text), true
}

// mayHoldTag reports whether a part of a JSON text could hold a < in any spelling.
func mayHoldTag(raw []byte) bool {
	return bytes.IndexByte(raw, '<') >= 0 || bytes.Contains(raw, []byte(`\u`))
}

func cutText(body []byte) ([]byte, bool) {
	plain := strings.NewReplacer(escapes()...).Replace(string(body))
	text, _, cut := cutOpen(plain, 0)
	if !cut {
		return body, false
	}
	return []byte(text), true
}

// escapes pairs the escaped forms of what tags are made of, once and twice, and of control characters, with what they stand
// for.
func escapes() []string {
	pairs := []string{
		`\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">", `\/`, "/", `\\u003c`, "<", `\\u003C`, "<", `\\u003e`, ">", `\\u003E`, ">",
	}
	for r := range byte(0x80) {
		if isControl(r) {
			const lower, upper = "0123456789abcdef", "0123456789ABCDEF"
			pairs = append(pairs, `\u00`+string(lower[r>>4])+string(lower[r&15]), "", `\u00`+string(lower[r>>4])+string(upper[r&15]), "")
		}
	}
	return pairs
}
