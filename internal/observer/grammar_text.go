package observer

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// isBlank is for the characters that say nothing: white space, the byte order mark, the zero-width space.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || r == '\uFEFF' || r == '\u200B'
}

func trim(s string) string { return strings.TrimFunc(s, isBlank) }

// said is s without the blanks around it. It is empty where there are only blanks in it, be it by the names that HTML has for them:
// such names say nothing, and beside words they stand as they were given.
func said(s string) string {
	s = trim(s)
	if strings.IndexByte(s, '&') >= 0 && trim(html.UnescapeString(s)) == "" {
		return ""
	}
	return s
}

// validUTF8 is s with every run of invalid bytes replaced by U+FFFD. NUL and other controls are characters.
func validUTF8(s string) string {
	if utf8.ValidString(s) { // eight bytes at a time
		return s
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// visible is text without leading blanks and reasoning elements. Reasoning that is not closed swallows all.
func visible(text string) string {
	for {
		text = strings.TrimLeftFunc(text, isBlank)
		if !strings.HasPrefix(text, "<") {
			return text
		}
		t, ok := readTag(text, 0)
		if !ok || t.word != wordThink && t.word != wordThinking || t.shape != opening && t.shape != empty {
			return text
		}
		if text = text[t.end:]; t.shape == opening {
			text = afterClosing(text, t.word)
		}
	}
}

// afterClosing is what follows the first closing tag of w in text, or nothing.
func afterClosing(text string, w word) string {
	for i := range indexes(text, '<') {
		if t, ok := readTag(text, i); ok && t.word == w && t.shape == closing {
			return text[t.end:]
		}
	}
	return ""
}

// plain is the text that raw stands for: CDATA sections are taken as they are, entities outside them are decoded, and
// blanks around it go. Everything else stands, tags included; where that is blanks alone it is empty.
func plain(raw string) string {
	if strings.IndexByte(raw, '&') < 0 && !strings.Contains(raw, cdataOpen) {
		return said(raw)
	}
	b := make([]byte, 0, len(raw))
	for {
		before, inside, after, ok := cutSection(raw)
		if !ok {
			return said(string(appendDecoded(b, raw)))
		}
		b = append(appendDecoded(b, before), inside...)
		raw = after
	}
}

// cutSection cuts s around its first CDATA section. It is false if there is none, or none that is closed.
func cutSection(s string) (before, inside, after string, ok bool) {
	before, rest, ok := strings.Cut(s, cdataOpen)
	if !ok {
		return "", "", "", false
	}
	inside, after, ok = strings.Cut(rest, cdataClose)
	return before, inside, after, ok
}

// appendDecoded appends s with its entities decoded. Unknown ones stand.
func appendDecoded(b []byte, s string) []byte {
	for {
		n := strings.IndexByte(s, '&')
		if n < 0 {
			return append(b, s...)
		}
		b, s = append(b, s[:n]...), s[n:]
		r, size := entity(s)
		if size == 0 {
			b, s = append(b, '&'), s[1:]
			continue
		}
		b, s = utf8.AppendRune(b, r), s[size:]
	}
}

// longestEntity is the length of "&#x10FFFF;" and some leading zeros.
const longestEntity = 16

// entity reads the entity at the start of s: the five of XML, and references to characters that XML may hold. The
// size is 0 if there is none.
func entity(s string) (r rune, size int) {
	n := strings.IndexByte(s[:min(len(s), longestEntity)], ';')
	if n < 0 {
		return 0, 0
	}
	switch s[1:n] {
	case "lt":
		r = '<'
	case "gt":
		r = '>'
	case "amp":
		r = '&'
	case "quot":
		r = '"'
	case "apos":
		r = '\''
	default:
		r = reference(s[1:n])
	}
	if r == 0 {
		return 0, 0
	}
	return r, n + 1
}

// reference reads "#60" or "#x3C". It is 0 for whatever is not a character of XML.
func reference(s string) rune {
	digits, ok := strings.CutPrefix(s, "#")
	if !ok {
		return 0
	}
	base := 10
	if digits != "" && (digits[0] == 'x' || digits[0] == 'X') {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 31)
	if r := rune(n); err == nil && isXMLChar(r) {
		return r
	}
	return 0
}

// isXMLChar is the Char production of XML 1.0.
func isXMLChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD ||
		r >= 0x10000 && r <= utf8.MaxRune
}

// clip cuts s to at most limit bytes at the border of a grapheme, and trims it. A single grapheme longer than that is
// cut between characters.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	window := s[:runeBorder(s, min(len(s), limit+utf8.UTFMax))] // one character more: borders depend on the next
	kept, rest, state := 0, window, -1
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if kept+len(cluster) > limit {
			break
		}
		kept += len(cluster)
	}
	if kept == 0 {
		kept = runeBorder(s, limit)
	}
	return trim(s[:kept])
}

// runeBorder is the last place at or before n, which is at most len(s), where a character of s begins or s ends.
func runeBorder(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}
