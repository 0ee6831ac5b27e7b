package prompt

import (
	"fmt"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/clip"
)

const (
	// leftOut stands where text was left out of a field.
	leftOut = "\n[... %d of %d characters left out ...]\n"

	// maxMarker is the longest text of leftOut.
	maxMarker = len("\n[...  of  characters left out ...]\n") + 2*10

	// maxField is how many characters of one field are shown: half of a long file, and enough of any output.
	maxField = 16_000
)

// fieldLimit is how many characters of a field are shown at an attempt: a quarter of the attempt before, down to a
// sixteenth.
func fieldLimit(attempt int) int { return maxField >> (2 * (min(max(attempt, 1), 3) - 1)) }

// elide shortens s to at most chars characters, and at most bytes bytes unless that is below 0, beside the marker that
// says how much is gone: of the limit 60 % are kept from the head and 30 % from the tail.
func elide(s string, chars, bytes int) string {
	count := utf8.RuneCountInString(s)
	if bytes < 0 {
		bytes = len(s)
	}
	if count <= chars && len(s) <= bytes {
		return s
	}
	head := min(forward(s, chars*6/10), len(clip.Head(s, bytes*6/10)))
	tail := max(backward(s, chars*3/10), runeStartAfter(s, len(s)-bytes*3/10), head)
	gone := utf8.RuneCountInString(s[head:tail])
	return s[:head] + fmt.Sprintf(leftOut, gone, count) + s[tail:]
}

// forward is the offset of the nth character of s, or its end.
func forward(s string, n int) int {
	for i := range s {
		if n--; n < 0 {
			return i
		}
	}
	return len(s)
}

// backward is the offset of the nth character of s from its end, or its start.
func backward(s string, n int) int {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// runeStartAfter is the first place at or after n where a character of s begins.
func runeStartAfter(s string, n int) int {
	n = max(n, 0)
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return n
}
