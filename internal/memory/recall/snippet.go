package recall

import (
	"strings"

	"github.com/cmemd/cmemd/projections/rows"
)

// maxSnippetWords is how many words of a query a snippet may be cut around.
const maxSnippetWords = 16

// wordsOf splits a query into lower-case words for snippets; finding is the index's.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return c <= ' ' || strings.ContainsRune(`,;:!?"()[]{}`, c) })
	return words[:min(len(words), maxSnippetWords)]
}

const (
	snippetLength = 160 // characters
	snippetBefore = 50  // bytes of them before the word, about
)

// snippet returns the text around the first of the query's words that stands in the row outside its title.
func snippet(row rows.Row, title string, words []string) string {
	for _, text := range row.Words() {
		if text == "" || size(text) <= maxTitle && oneLine(text, maxTitle) == title {
			continue
		}
		at := firstOf(text, words)
		if at < 0 {
			continue
		}
		from := max(0, at-snippetBefore)
		if from > 0 {
			if i := strings.IndexByte(text[from:at], ' '); i >= 0 {
				from += i + 1
			} else {
				from = at
			}
		}
		s := oneLine(text[from:], snippetLength)
		if from > 0 {
			s = ellipsis + s
		}
		return s
	}
	return ""
}

// firstOf returns where the first of words begins in text, in any letter case; -1 if none is there.
func firstOf(text string, words []string) int {
	low := strings.ToLower(text)
	if len(low) != len(text) {
		low = text // letters whose case forms differ in length: as written only
	}
	best := -1
	for _, w := range words {
		if len(w) < 3 && len(words) > 1 {
			continue
		}
		if i := strings.Index(low, w); i >= 0 && (best < 0 || i < best) {
			best = i
		}
	}
	return best
}
