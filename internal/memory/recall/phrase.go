package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// phraseWeight is what every pair of a query's neighbouring words that stand together in a row adds, as a part of the
	// score, and phraseMost what all pairs together add at most. Nearby ones add a quarter; pairs of signs that overlap add a
	// half, so that four signs are worth two words.
	phraseWeight = 0.2
	phraseMost   = 0.45

	// adjacentGap and nearbyGap are how many bytes may lie between the beginnings of two words, the first of them left out.
	adjacentGap = 3
	nearbyGap   = 40

	maxPhraseText = 16 << 10 // bytes of a row that are looked at
	maxPlaces     = 32       // of one word
)

// phraseBoost is what a row's score is raised by for words of the query that stand together in it, stop words passed over.
func phraseBoost(row rows.Row, beginnings []string) float64 {
	if len(beginnings) < 2 {
		return 0
	}
	text := strings.ToLower(clip.Head(phraseText(row), maxPhraseText))
	boost := 0.0
	before := places(text, beginnings[0])
	for i, word := range beginnings[1:] {
		at := places(text, word)
		if chained(beginnings[i], word) {
			if overlapping(before, at, beginnings[i]) {
				boost += phraseWeight / 2
			}
			before = at
			continue
		}
		switch gap := closest(before, at, len(beginnings[i])); {
		case gap < 0:
		case gap <= adjacentGap+maxEnding:
			boost += phraseWeight
		case gap <= nearbyGap:
			boost += phraseWeight / 4
		}
		before = at
	}
	return min(boost, mostBoost(len(beginnings)))
}

// raise raises the score of a hit, whose row was read, for words of the query that stand together in it.
func (h *hit) raise(beginnings []string) {
	h.phrase = phraseBoost(*h.row, beginnings)
	h.score *= 1 + h.phrase
}

// hasNeighbours reports whether a row that holds those of a query's words may hold two neighbouring ones: what stands in another row is
// worth nothing to phraseBoost.
func hasNeighbours(holds []bool) bool {
	for i := range holds[1:] {
		if holds[i] && holds[i+1] {
			return true
		}
	}
	return false
}

// mostBoost is what phraseBoost comes to at most for so many words.
func mostBoost(words int) float64 { return min(phraseWeight*float64(words-1), phraseMost) }

// phraseText is the title, the texts and the facts of row, each on a line of its own. A text that is empty is an empty line: words
// of different texts stand the farther apart.
func phraseText(row rows.Row) string {
	lines := []string{row.Title, row.Subtitle, row.Request, row.Narrative, row.Text}
	lines = append(lines, row.Facts...)
	lines = append(lines, row.Investigated, row.Learned, row.Completed, row.NextSteps, row.Notes)
	return strings.Join(lines, "\n")
}

// maxEnding is how much longer than its beginning a word may be: stems leave endings out.
const maxEnding = 4

// places returns where words begin with prefix; where no blanks are written any sign may begin one.
func places(text, prefix string) (at []int) {
	for from := 0; len(at) < maxPlaces; {
		i := strings.Index(text[from:], prefix)
		if i < 0 {
			break
		}
		i += from
		if beginsWord(text, i) {
			at = append(at, i)
		}
		from = i + len(prefix)
	}
	return at
}

// beginsWord reports whether a word may begin at text[i].
func beginsWord(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	if i == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) && !unicode.IsMark(before) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(text[i:])
	return index.Spaceless(first) || index.Spaceless(before)
}

// overlapping reports whether somewhere second begins one sign behind the first, as the pairs of a run do.
func overlapping(before, at []int, first string) bool {
	_, sign := utf8.DecodeRuneInString(first)
	return slices.ContainsFunc(before, func(a int) bool { return slices.Contains(at, a+sign) })
}

// closest is how many bytes lie between a word of first, of so many bytes, and the closest one of second behind it;
// before it counts as nearby at best. It is -1 where there is none.
func closest(first, second []int, length int) int {
	best := -1
	for _, a := range first {
		for _, b := range second {
			gap := b - a - length
			if b < a {
				gap = a - b + adjacentGap + maxEnding
			}
			if gap >= 0 && (best < 0 || gap < best) {
				best = gap
			}
		}
	}
	return best
}
