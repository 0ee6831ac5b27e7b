package relay

import (
	"bytes"
	"strings"
)

// CutPrivate removes what stands between <private> and </private>, tags included, and reports whether anything was
// removed. Tags are told in any letter case and may carry attributes; pairs nest; a tag that is never closed takes the
// rest of s with it; <private/> takes only itself; a closing tag that closes nothing stays. Control characters do not
// hide a tag: they are later not stored, and are gone from out if anything was removed. It takes linear time.
func CutPrivate(s string) (out string, cut bool) {
	plain := withoutControls(s)
	if out, cut = cutTags(plain); !cut {
		return s, false
	}
	return out, true
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

func cutTags(s string) (out string, cut bool) {
	var kept strings.Builder
	depth, from, pos := 0, 0, 0 // s[from:] is not yet kept or cut
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
		return s, false
	}
	if depth == 0 {
		kept.WriteString(s[from:])
	}
	return kept.String(), true
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

// CutPrivateJSON removes private text from each string of a JSON text by the rule of CutPrivate, each on its own: a tag
// left open takes the rest of its string only. The result is JSON again, equal to body outside the strings that were
// cut. A body that is not JSON is cut as one text, its tags told in their escaped forms too. It takes linear time; the
// result may be body itself.
func CutPrivateJSON(body []byte) (out []byte, cut bool) {
	s := scanner{data: body}
	from := 0
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		raw := body[t.start:t.end]
		if !mayHoldTag(raw) {
			continue
		}
		text, changed := CutPrivate(unquote(raw))
		if changed {
			out = append(out, body[from:t.start]...)
			out = appendQuoted(out, text)
			from, cut = t.end, true
		}
	}
	if !s.valid() {
		return cutText(body)
	}
	if !cut {
		return body, false
	}
	return append(out, body[from:]...), true
}

// mayHoldTag reports whether a raw JSON token could hold a < in any spelling.
func mayHoldTag(raw []byte) bool {
	return raw[0] == '"' && (bytes.IndexByte(raw, '<') >= 0 || bytes.Contains(raw, []byte(`\u`)))
}

func cutText(body []byte) ([]byte, bool) {
	plain := strings.NewReplacer(escapes()...).Replace(string(body))
	text, cut := CutPrivate(plain)
	if !cut {
		return body, false
	}
	return []byte(text), true
}

// escapes pairs the escaped forms of what tags are made of, and of control characters, with what they stand for.
func escapes() []string {
	pairs := []string{`\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">", `\/`, "/"}
	for r := range byte(0x80) {
		if isControl(r) {
			const lower, upper = "0123456789abcdef", "0123456789ABCDEF"
			pairs = append(pairs, `\u00`+string(lower[r>>4])+string(lower[r&15]), "", `\u00`+string(lower[r>>4])+string(upper[r&15]), "")
		}
	}
	return pairs
}
