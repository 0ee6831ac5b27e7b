package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/sentence"
)

// maxTitle is the longest title in graphemes: one row of an index.
const maxTitle = 140

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

// maxGraphemeBytes is how long a grapheme may be on average in bytes, so that marks piled on letters bound nothing out.
const maxGraphemeBytes = 8

// cut shortens s to n graphemes at the end of a word, with an ellipsis. Text without blanks is cut at a grapheme.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := 0               // behind the last cluster that may stand before the ellipsis
	blank, trimmed := 0, 0 // the last blank, and the end before it
	at, count, state := 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		if clip.IsPlain(rest[:min(2, len(rest))]) { // nothing joins these two, and most text is of them
			cluster, rest, state = rest[:1], rest[1:], -1
		} else {
			cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		}
		if count++; count > n || len(s)-len(rest) > maxGraphemeBytes*n {
			if blank < at/2 {
				trimmed = at
			}
			return s[:trimmed] + "…"
		}
		if !strings.Contains(" ,;:-–—([{\"'“", cluster) {
			end = len(s) - len(rest)
		}
		if cluster == " " {
			blank, trimmed = len(s)-len(rest)-1, end
		}
		if count < n {
			at = end
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
		first, rest = sentence.First(rest)
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

// line puts s on one line, with single blanks. Nearly always it has that form already, and is not built anew.
func line(s string) string {
	s = strings.TrimSpace(s)
	before := 'x'
	for _, r := range s {
		if r == ' ' && before == ' ' || (r < ' ' || r > '~') && unicode.IsSpace(r) {
			return strings.Join(strings.Fields(s), " ")
		}
		before = r
	}
	return s
}
