package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	// MinLetters is how many letters (see Letters) the shortest text has that says something by itself. "go ahead" and "yes, please"
	// have fewer.
	MinLetters = 12

	// maxLength is the longest stretch, in bytes, in which the end of a sentence is looked for.
	maxLength = 4 << 10
)

// First cuts the first sentence off s, by the Unicode rules for text of any language. No sentence ends within code, within an address, or
// behind a quotation that its sentence goes on after; one may begin with code, in lower case too.
func First(s string) (first, rest string) {
	window := s
	if len(window) > maxLength {
		window = strings.ToValidUTF8(s[:maxLength], "")
	}
	window = window[:codeBegins(window)]
	n, marks := 0, 0
	for more := true; more; more = n < len(window) && goesOn(window[:n], window[n:], marks%2 == 1) {
		skipped := n + max(0, unendedLen(window[n:])-markContext)
		next, _, _ := uniseg.FirstSentenceInString(window[skipped:], -1)
		marks += strings.Count(window[n:skipped+len(next)], "`")
		n = skipped + len(next)
	}
	return strings.TrimSpace(window[:n]), s[n:]
}

const (
	// minWord is how many letters a word has at the end of a sentence, at least: before the code of its sentence an abbreviation has fewer.
	minWord = 5

	// maxLook is how far a sentence is looked for that opens with code, and the end of code, in bytes.
	maxLook = 512
)

// codeBegins is where in s the first sentence begins that opens with code, behind the end of another; the length of s where none does. The
// Unicode rules take code in lower case for what goes on.
func codeBegins(s string) int {
	at, marks := 0, 0
	for head := s[:min(len(s), maxLook)]; ; {
		i := strings.Index(head[at:], " `")
		if i < 0 {
			return len(s)
		}
		marks += strings.Count(head[at:at+i], "`")
		at += i + 1
		before, ended := strings.CutSuffix(strings.TrimRight(head[:at], " "), ".")
		if !ended || marks%2 == 1 {
			continue
		}
		word := before[strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
		switch opening := strings.TrimSuffix(before, word); {
		case word == "" && (strings.HasSuffix(before, ")") || strings.HasSuffix(before, "`")):
			return at
		case utf8.RuneCountInString(word) >= minWord && !strings.HasSuffix(opening, "."):
			return at
		}
	}
}

// WithoutEmphasis is s without Markdown's marks of bold text. What stands between marks of code stays as it is: "**kwargs" is a name there.
func WithoutEmphasis(s string) string {
	if !strings.Contains(s, "**") {
		return s
	}
	parts := strings.Split(s, "`")
	for i := range parts {
		if inCode := i%2 == 1 && i < len(parts)-1; !inCode {
			parts[i] = strings.ReplaceAll(parts[i], "**", "")
		}
	}
	return strings.Join(parts, "`")
}

// WithoutLinks is s with the text alone of each of Markdown's links and pictures: "[text](address)" is "text". What stands between marks of
// code stays as it is: "`list[i](x)`" is a call there.
func WithoutLinks(s string) string {
	var b strings.Builder
	for marks := 0; ; {
		mid := strings.Index(s, "](")
		if mid < 0 {
			b.WriteString(s)
			return b.String()
		}
		marks += strings.Count(s[:mid], "`")
		open := strings.LastIndexByte(s[:mid], '[')
		if inCode := marks%2 == 1 && strings.Contains(s[mid:min(len(s), mid+maxLook)], "`"); open < 0 || inCode {
			b.WriteString(s[:mid+2])
			s = s[mid+2:]
			continue
		}
		end := strings.IndexByte(s[mid:], ')')
		if end < 0 {
			b.WriteString(s)
			return b.String()
		}
		marks += strings.Count(s[mid:mid+end], "`")
		b.WriteString(strings.TrimSuffix(s[:open], "!"))
		b.WriteString(s[open+1 : mid])
		s = s[mid+end+1:]
	}
}

// goesOn reports whether a sentence goes on at rest, on its line: inCode says that a mark of code stands open before it.
func goesOn(before, rest string, inCode bool) bool {
	if strings.HasSuffix(before, "\n") {
		return false
	}
	line, _, _ := strings.Cut(rest, "\n")
	next, _ := utf8.DecodeRuneInString(rest)
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(before))
	return inCode && strings.Contains(line, "`") || inAddress(before, next) || unicode.IsLower(next) && strings.ContainsRune("\"”’»)", last)
}

// inAddress reports whether an address that before ends with goes on: next is what follows it.
func inAddress(before string, next rune) bool {
	word := before[strings.LastIndexAny(before, " \t\n")+1:]
	return next > ' ' && next < utf8.RuneSelf && strings.Contains(word, "://") && word[len(word)-1] < utf8.RuneSelf
}

// markContext is how many letters before a mark say whether it ends a sentence, as in "e.g." or "3.14".
const markContext = 2

// unendedLen is the length of the beginning of s in which no sentence ends: ASCII without a mark that may end one. It is passed over
// because the library takes long.
func unendedLen(s string) int {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c == '.' || c == '!' || c == '?' || c == '\n' || c == '\r' {
			return i
		}
	}
	return len(s)
}

// Letters measures how much s says: its letters and digits, an ideograph or syllable for three.
func Letters(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' {
				n++
			}
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 3
		case unicode.IsLetter(r), unicode.IsDigit(r):
			n++
		}
	}
	return n
}

// Telling is for text that says something by itself: neither a word of consent, nor a path, nor a number.
func Telling(s string) bool {
	if Letters(s) < MinLetters {
		return false
	}
	words := 0
	for w := range strings.FieldsSeq(s) {
		if isPath(w) {
			continue
		}
		if n := Letters(w); n > 0 && n == utf8.RuneCountInString(strings.TrimFunc(w, unicode.IsPunct)) {
			words++
		} else if n > 0 {
			words += 1 + n/(3*MinLetters) // a run of ideographs is many words
		}
	}
	return words >= 2 || !strings.Contains(s, " ") && Letters(s) > utf8.RuneCountInString(s)
}

// isPath is for one word that names a place.
func isPath(w string) bool {
	return strings.Contains(w, "://") || strings.ContainsAny(w, `/\`) && !strings.ContainsAny(w, "()") && len(w) > 3
}
