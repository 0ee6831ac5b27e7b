// Package number counts, and writes numbers as people read them: with the noun that they count, and with commas between thousands.
package number

import (
	"fmt"
	"strings"
)

// CharactersPerToken is the usual estimate for English text and code: too many for Chinese and Japanese.
const CharactersPerToken = 4

// Integer is what may be counted with.
type Integer interface{ ~int | ~int64 | ~uint64 }

// Count is how many of list are such.
func Count[E any](list []E, such func(E) bool) (n int) {
	for _, e := range list {
		if such(e) {
			n++
		}
	}
	return n
}

// Plural is n with its noun, given in the singular: "1 row", "2 rows".
func Plural[N Integer](n N, one string) string { return fmt.Sprintf("%d %s", n, Noun(n, one)) }

// Noun is the noun for n things, given in the singular.
func Noun[N Integer](n N, one string) string {
	if n == 1 {
		return one
	}
	if stem, ok := strings.CutSuffix(one, "y"); ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeou") {
		return stem + "ies"
	}
	return one + "s"
}

// IsOrAre is the verb for n things.
func IsOrAre[N Integer](n N) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Grouped is n with commas between its thousands.
func Grouped[N Integer](n N) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
