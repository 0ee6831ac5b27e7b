package extractive

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/harness"
)

// maxText is how much of one text is looked at, in bytes: its head, and a quarter of that from its tail.
const maxText = 64 << 10

// clean makes text fit to be quoted: valid, bounded, without escape sequences, controls and marks of direction.
func clean(s string) string {
	s = bounded(s)
	if clip.IsPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += clip.EscapeLength(s[i:])
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1, r == '\u200b', r == '\ufeff':
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case r == '\r':
			if !strings.HasPrefix(s[i+1:], "\n") {
				b.WriteByte('\n')
			}
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r): // these make it read as something else
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// bounded keeps the head and the tail of s.
func bounded(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText*3/4], "") + "\n\n" + strings.ToValidUTF8(s[len(s)-maxText/4:], "")
}

// wrapping says what is done with an element that an agent's harness put around or beside a person's words.
type wrapping uint8

const (
	noWrapper wrapping = iota
	dropped            // its content is not the person's
	unwrapped          // its content is
)

// wrapperOf says what an element of that name is. Names that begin with "ide_" or end in "-hook" are dropped too.
func wrapperOf(name string) wrapping {
	in := func(names []string) bool { return slices.Contains(names, name) }
	switch {
	case in(harness.Instructions()), in(harness.Memories()), in(harness.Beside()), in(harness.Context()),
		strings.HasPrefix(name, "ide_"), strings.HasSuffix(name, "-hook"):
		return dropped
	case in(harness.Typed()), in(harness.Around()):
		return unwrapped
	}
	return noWrapper
}

// unwrap takes the harness's elements out of s. Of an element that is never closed only the tag goes. Where foreign is
// set, any closed element whose name no HTML element has, such as <log_excerpt>, goes with its content too.
func unwrap(s string, foreign bool) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	var b strings.Builder
	unclosed := map[string]bool{}
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		t, ok := readTag(s)
		what := wrapperOf(t.name)
		if ok && what == noWrapper && foreign && strings.ContainsAny(t.name, "-_") {
			what = dropped
		}
		if !ok || what == noWrapper {
			b.WriteByte('<')
			s = s[1:]
			continue
		}
		if end := t.closeEnd(s, unclosed); what == dropped && end > 0 {
			s = s[end:]
			b.WriteByte('\n')
			continue
		}
		s = s[t.end:]
		b.WriteByte(' ')
	}
}

// element is one tag at the start of a text.
type element struct {
	name    string // lowercase
	end     int    // behind its '>'
	opening bool
}

// maxTag bounds a tag with its attributes, in bytes.
const maxTag = 512

func readTag(s string) (element, bool) {
	t, p := element{opening: true}, 1
	if p < len(s) && s[p] == '/' {
		t.opening = false
		p++
	}
	from := p
	for p < len(s) && p < maxTag && (isLetter(s[p]) || p > from && (isDigit(s[p]) || s[p] == '-' || s[p] == '_')) {
		p++
	}
	if p == from {
		return t, false
	}
	t.name = strings.ToLower(s[from:p])
	n := strings.IndexAny(s[p:min(len(s), p+maxTag)], "<>")
	if n < 0 || s[p+n] == '<' || n > 0 && !isSpace(s[p]) && s[p] != '/' {
		return t, false
	}
	t.end = p + n + 1
	t.opening = t.opening && !strings.HasSuffix(s[p:p+n], "/")
	return t, true
}

// maxUnclosed bounds the names that are looked for in vain in one text; behind them none is looked for any more.
const maxUnclosed = 64

// closeEnd is where the element that begins s ends, or 0. It notes in unclosed the names that no text behind closes, so
// that looking for them costs one pass each.
func (t element) closeEnd(s string, unclosed map[string]bool) int {
	if !t.opening || unclosed[t.name] || len(unclosed) == maxUnclosed {
		return 0
	}
	closing := "</" + t.name + ">"
	n := strings.Index(s[t.end:], closing)
	if n < 0 {
		if n = indexFold(s[t.end:], closing); n < 0 {
			unclosed[t.name] = true
			return 0
		}
	}
	return t.end + n + len(closing)
}

// indexFold finds the lowercase ASCII string what in s in any letter case.
func indexFold(s, what string) int {
	for from := 0; ; {
		n := strings.Index(s[from:], "</")
		if n < 0 {
			return -1
		}
		from += n
		if len(s)-from >= len(what) && strings.EqualFold(s[from:from+len(what)], what) {
			return from
		}
		from += 2
	}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
