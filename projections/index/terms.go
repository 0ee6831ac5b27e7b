package index

import (
	"cmp"
	"slices"
	"strings"
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
	a.terms(cut(text, maxText), true, func(t []byte, r role) {
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
		for _, joined := range a.joined(text) {
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

// joined returns the pairs and triples of neighbouring plain words of text, stop words passed over, each as one word.
func (a *analyzer) joined(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !isWordRune(r) }) {
		w = strings.ToLower(w)
		if _, stop := a.stops[w]; !stop && strings.IndexFunc(w, isSpaceless) < 0 && len(words) < maxJoined {
			words = append(words, w)
		}
	}
	var out []string
	for i := range words {
		for n := 2; n <= 3 && i+n <= len(words); n++ {
			if one := strings.Join(words[i:i+n], ""); len(one) <= maxWord {
				out = append(out, one)
			}
		}
	}
	return out
}
