package recall

import (
	"strings"

	"github.com/cmemd/cmemd/projections"
)

const (
	// phraseWorth is what every pair of a query's neighbouring words that stand together in a row adds, as a part of the
	// score, and phraseMost what all pairs together add at most. Nearby ones add a quarter.
	phraseWorth = 0.2
	phraseMost  = 0.45

	// together and nearby are how many bytes may lie between the beginnings of two words, the first of them left out.
	together = 3
	nearby   = 40

	maxCloseText = 16 << 10 // bytes of a row that are looked at
	maxPlaces    = 32       // of one word
)

// closeness is what a row's score is raised by for words of the query that stand together in it, stop words passed over.
func closeness(row projections.Row, beginnings []string) float64 {
	if len(beginnings) < 2 {
		return 0
	}
	text := strings.ToLower(cutText(strings.Join(textsOf(row), "\n"), maxCloseText))
	boost := 0.0
	before := places(text, beginnings[0])
	for i, word := range beginnings[1:] {
		at := places(text, word)
		switch gap := closest(before, at, len(beginnings[i])); {
		case gap < 0:
		case gap <= together+maxEnding:
			boost += phraseWorth
		case gap <= nearby:
			boost += phraseWorth / 4
		}
		before = at
	}
	return min(boost, phraseMost)
}

// maxEnding is how much longer than its beginning a word may be: stems leave endings out.
const maxEnding = 4

// places returns where words begin with prefix.
func places(text, prefix string) (at []int) {
	for from := 0; len(at) < maxPlaces; {
		i := strings.Index(text[from:], prefix)
		if i < 0 {
			break
		}
		i += from
		if i == 0 || !isWordByte(text[i-1]) {
			at = append(at, i)
		}
		from = i + len(prefix)
	}
	return at
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c >= 0x80
}

// closest is how many bytes lie between a word of first, of so many bytes, and the closest one of second behind it;
// before it counts as nearby at best. It is -1 where there is none.
func closest(first, second []int, length int) int {
	best := -1
	for _, a := range first {
		for _, b := range second {
			gap := b - a - length
			if b < a {
				gap = a - b + together + maxEnding
			}
			if gap >= 0 && (best < 0 || gap < best) {
				best = gap
			}
		}
	}
	return best
}

// cutText shortens s to at most limit bytes of whole runes.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
