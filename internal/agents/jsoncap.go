package agents

import (
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// capJSON shortens raw, a JSON text that cleanJSON wrote, to at most max bytes. Its longest strings lose their middle,
// each saying how many bytes, so that it stays JSON with all its members. Where the short strings and numbers alone are
// too many, it is cut as a text and is no longer JSON.
func capJSON(raw string, max int) string {
	if len(raw) <= max {
		return raw
	}
	keep := longestKept(stringLengths(raw), len(raw), max)
	if keep < minKept {
		return capText(raw, max)
	}
	return shorten(raw, keep)
}

// minKept is the least that is kept of a long string, in bytes.
const minKept = 64

// longestKept returns how many bytes may be kept of each string, so that all together are at most max; lengths are
// those of the values' strings, total that of the text. It is below minKept if there is no such number.
func longestKept(lengths []int, total, max int) int {
	sort.Ints(lengths)
	above := 0 // bytes of the strings from i on
	for i := len(lengths) - 1; i >= 0; i-- {
		above += lengths[i]
		n := len(lengths) - i
		keep := (max-total+above)/n - maxLeftOutMark
		if i == 0 || keep >= lengths[i-1] {
			return keep
		}
	}
	return 0
}

// stringLengths lists the lengths, without quotes, of the strings that are values.
func stringLengths(raw string) []int {
	var lengths []int
	eachString(raw, func(start, end int, key bool) {
		if !key {
			lengths = append(lengths, end-start-2)
		}
	})
	return lengths
}

// shorten cuts the middle out of each value's string of more than keep+maxLeftOutMark bytes.
func shorten(raw string, keep int) string {
	var out []byte
	from := 0
	eachString(raw, func(start, end int, key bool) {
		if key || end-start-2 <= keep+maxLeftOutMark {
			return
		}
		inner := raw[start+1 : end-1]
		head := safeCut(inner, keep/2)
		tail := safeCut(inner, len(inner)-keep/2)
		out = append(out, raw[from:start+1+head]...)
		out = fmt.Appendf(out, `\n`+leftOut+`\n`, tail-head)
		from = start + 1 + tail
	})
	return string(append(out, raw[from:]...))
}

// safeCut returns the first index from at on that cuts neither a rune nor an escape sequence of two bytes.
func safeCut(inner string, at int) int {
	for at < len(inner) && !utf8.RuneStart(inner[at]) {
		at++
	}
	slashes := 0
	for at-1-slashes >= 0 && inner[at-1-slashes] == '\\' {
		slashes++
	}
	if slashes%2 == 1 {
		at++
	}
	return at
}

// eachString calls visit for each string of raw, compact JSON: raw[start:end] with its quotes.
func eachString[T string | []byte](raw T, visit func(start, end int, key bool)) {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end := i + jsonscan.StringEnd(raw[i:])
		visit(i, end, end < len(raw) && raw[end] == ':')
		i = end - 1
	}
}
