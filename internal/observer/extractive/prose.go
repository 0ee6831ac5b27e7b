package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	// maxTitle is the longest title in graphemes: one row of an index.
	maxTitle = 100

	// enough is the weight of the shortest text that says something by itself. "go ahead" and "yes, please" have less.
	enough = 12

	// maxSentence is the longest stretch, in bytes, in which the end of a sentence is looked for.
	maxSentence = 4 << 10
)

// sentence cuts the first sentence off s, by the Unicode rules for text of any language.
func sentence(s string) (first, rest string) {
	window := s
	if len(window) > maxSentence {
		window = strings.ToValidUTF8(s[:maxSentence], "")
	}
	first, _, _ = uniseg.FirstSentenceInString(window, -1)
	return strings.TrimSpace(first), s[len(first):]
}

// weight measures how much s says: its letters and digits, an ideograph or syllable for three.
func weight(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if isLetter(byte(r)) || isDigit(byte(r)) {
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

// telling is for text that says something by itself: neither a word of consent, nor a path, nor a number.
func telling(s string) bool {
	if weight(s) < enough {
		return false
	}
	words := 0
	for w := range strings.FieldsSeq(s) {
		if isPath(w) {
			continue
		}
		if n := weight(w); n > 0 && n == utf8.RuneCountInString(strings.TrimFunc(w, unicode.IsPunct)) {
			words++
		} else if n > 0 {
			words += 1 + n/(3*enough) // a run of ideographs is many words
		}
	}
	return words >= 2 || !strings.Contains(s, " ") && weight(s) > utf8.RuneCountInString(s)
}

// isPath is for one word that names a place.
func isPath(w string) bool {
	return strings.Contains(w, "://") || strings.ContainsAny(w, `/\`) && !strings.ContainsAny(w, "()") && len(w) > 3
}

// prosy is for lines that are language: most of their characters are letters. Pasted logs, tables and code are not.
func prosy(s string) bool {
	letters, others := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r):
			letters++
		case r == ' ', r == '\'', r == ',', r == '.':
		default:
			others++
		}
	}
	return letters > 2*others
}

// maxCluster is how long a grapheme may be on average in bytes, so that marks piled on letters bound nothing out.
const maxCluster = 8

// cut shortens s to n graphemes at the end of a word, with an ellipsis. Text without blanks is cut at a grapheme.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at, blank, count, state := 0, 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if count++; count > n || len(s)-len(rest) > maxCluster*n {
			if blank < at/2 {
				blank = at
			}
			return strings.TrimRight(s[:blank], " ,;:-–—([{\"'“") + "…"
		}
		if cluster == " " {
			blank = len(s) - len(rest) - 1
		}
		if count < n {
			at = len(s) - len(rest)
		}
	}
	return s
}

// runes counts the runes of s, which is what narratives are measured in.
func runes(s string) int { return utf8.RuneCountInString(s) }

// lead takes whole sentences from the front of s while they fit into n runes. If the first is longer, it is cut.
func lead(s string, n int) string {
	s = strings.TrimSpace(s)
	if runes(s) <= n {
		return s
	}
	end := 0
	for rest, used := s, 0; rest != ""; {
		var first string
		before := len(rest)
		first, rest = sentence(rest)
		if used += runes(s[len(s)-before : len(s)-len(rest)]); used > n || first == "" {
			break
		}
		end = len(s) - len(rest)
	}
	if end == 0 {
		return cut(s, n)
	}
	return strings.TrimSpace(s[:end])
}

// line puts s on one line, with single blanks.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }
