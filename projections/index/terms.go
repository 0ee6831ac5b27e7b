package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/clip"
)

const (
	// partWeight is what a piece of an identifier in a query is worth beside the whole.
	partWeight = 0.5

	// joinWeight is what two or three neighbouring words of a query, written as one, are worth: who remembers the parts
	// of parseAgentXml asks for "parse agent xml".
	joinWeight = 0.8

	// maxTerms is how many words of a query are looked for: of a pasted page the rarest ones.
	maxTerms = 48

	// maxJoined is how many of a query's first words are also looked for written as one.
	maxJoined = 16
)

// term is one word to look for.
type term struct {
	text   string
	weight float32
	idf    float32 // times weight
	count  uint64  // documents that hold it
	left   bool    // out: nobody holds it, or it is among the most common of very many
}

// queryTerms returns the distinct terms of a text, without stop words unless there is nothing else.
func queryTerms(a *analyzer, text string) []term {
	weights, stops := map[string]float32{}, map[string]float32{}
	a.terms(clip.Head(text, maxText), true, func(t []byte, r role) {
		switch r {
		case roleStop:
			stops[string(t)] = 1
		case rolePart:
			weights[string(t)] = max(weights[string(t)], partWeight)
		default:
			weights[string(t)] = 1
		}
	})
	if len(weights) == 0 {
		weights = stops
	} else {
		for _, joined := range a.wordGroups(text) {
			a.terms(joined, true, func(t []byte, _ role) {
				weights[string(t)] = max(weights[string(t)], joinWeight)
			})
		}
	}
	out := make([]term, 0, len(weights))
	for t, w := range weights {
		out = append(out, term{text: t, weight: w})
	}
	slices.SortFunc(out, func(a, b term) int { return cmp.Compare(a.text, b.text) })
	return out
}

// wordGroups returns the pairs and triples of neighbouring plain words of text, stop words passed over, each as one word.
func (a *analyzer) wordGroups(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !isWordRune(r) }) {
		w = strings.ToLower(w)
		if _, stop := a.stops[w]; !stop && strings.IndexFunc(w, Spaceless) < 0 && len(words) < maxJoined {
			words = append(words, w)
		}
	}
	var out []string
	for i := range words {
		for n := 2; n <= 3 && i+n <= len(words); n++ {
			if one := strings.Join(words[i:i+n], ""); len(one) <= maxWordBytes {
				out = append(out, one)
			}
		}
	}
	return out
}

// maxStemPrefixes is how many words StemPrefixes returns: nobody remembers longer phrases.
const maxStemPrefixes = 16

// StemPrefixes returns the words of a text in order, stop words left out, each cut to what all its forms begin with: of
// queries and query it is quer. Of a run without spaces they are its overlapping pairs of signs. They are in lower case, at
// most 16, and serve to find words in text as it is written.
func (x *Index) StemPrefixes(text string) (out []string) {
	for _, w := range strings.FieldsFunc(clip.Head(text, maxText), func(r rune) bool { return !isWordRune(r) }) {
		w = strings.ToLower(w)
		if _, stop := x.analyzer.stops[w]; stop {
			continue
		}
		if out = x.analyzer.stemPrefixes(out, w); len(out) >= maxStemPrefixes {
			return out[:maxStemPrefixes]
		}
	}
	return out
}

// stemPrefixes appends those of a run of word runes, cut where scripts meet.
func (a *analyzer) stemPrefixes(out []string, run string) []string {
	for run != "" && len(out) < maxStemPrefixes {
		if n := spacelessPrefix(run); n > 0 {
			signs := []rune(run[:n])
			for i := range max(1, len(signs)-1) {
				out = append(out, string(signs[i:min(i+2, len(signs))]))
			}
			run = run[n:]
			continue
		}
		n := strings.IndexFunc(run, Spaceless)
		if n < 0 {
			n = len(run)
		}
		out = append(out, a.stemPrefix(run[:n]))
		run = run[n:]
	}
	return out
}

// stemPrefix is what a word and its stem begin with.
func (a *analyzer) stemPrefix(word string) string {
	var stem string
	a.terms(word, true, func(t []byte, _ role) { stem = cmp.Or(stem, string(t)) })
	stem = strings.TrimSuffix(stem, "i")
	n := 0
	for n < len(word) && n < len(stem) && word[n] == stem[n] {
		n++
	}
	if n < max(3, len(stem)) {
		return word // an irregular form, or a script whose words are not stemmed
	}
	return word[:n]
}

// Frequencies returns how often each term stands in a text, as the index would count them without weights.
func (x *Index) Frequencies(text string) map[string]int {
	out := map[string]int{}
	x.analyzer.terms(clip.Head(text, maxText), false, func(t []byte, _ role) { out[string(t)]++ })
	return out
}
