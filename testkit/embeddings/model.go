package embeddings

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"
)

const (
	// Dimensions is the size of a vector: more brings nothing with a few hundred texts.
	Dimensions = 384

	// signs is how many coordinates of a random vector are not zero, as random indexing has them.
	signs = 8

	// byForm and byText are what the letters of a word, and the texts it stands in, count beside the word itself.
	byForm = 0.5
	byText = 1.0

	// commonShare is the part of all texts from which on a word says nothing.
	commonShare = 0.25
)

// Model knows the words of some texts. It is never changed, so that it is safe for concurrent use.
type Model struct {
	texts int
	words map[string]*wordStats
}

// wordStats is what a model knows of a word.
type wordStats struct {
	texts         int                 // it stands in so many
	contextVector [Dimensions]float64 // the sum of these texts' random vectors
}

// New returns a model that has read texts. The same texts, in any order, make the same model.
func New(texts []string) *Model {
	m := &Model{texts: len(texts), words: map[string]*wordStats{}}
	for _, text := range texts {
		seen := map[string]bool{}
		for _, w := range wordsOf(text) {
			if seen[w] {
				continue
			}
			seen[w] = true
			k := m.words[w]
			if k == nil {
				k = &wordStats{}
				m.words[w] = k
			}
			k.texts++
			scatter(&k.contextVector, "text "+text, 1)
		}
	}
	return m
}

// Vector is a text's, of length 1; a text without words has that of no other.
func (m *Model) Vector(text string) []float64 {
	var sum [Dimensions]float64
	counts := map[string]int{}
	words := wordsOf(text)
	for _, w := range words {
		counts[w]++
	}
	for _, w := range words { // in the order of the text: sums of floats depend on it
		n := counts[w]
		if n == 0 {
			continue
		}
		counts[w] = 0
		v := m.word(w)
		for i := range sum {
			sum[i] += v[i] * m.weight(w) * (1 + math.Log(float64(n)))
		}
	}
	if !scale(&sum, 1) {
		scatter(&sum, "none "+text, 1)
		scale(&sum, 1)
	}
	return sum[:]
}

// weight is how much a word says: the rarer, the more.
func (m *Model) weight(w string) float64 {
	in := 0
	if k := m.words[w]; k != nil {
		in = k.texts
	}
	if m.texts > 0 && float64(in) > commonShare*float64(m.texts) {
		return 0
	}
	return math.Log(1 + float64(m.texts+1)/float64(in+1))
}

// word is the vector of a word alone.
func (m *Model) word(w string) [Dimensions]float64 {
	var own, form [Dimensions]float64
	scatter(&own, "word "+w, 1)
	scale(&own, 1)
	padded := []rune("^" + w + "$")
	for i := 0; i+3 <= len(padded); i++ {
		scatter(&form, "form "+string(padded[i:i+3]), 1)
	}
	scale(&form, byForm)
	for i := range own {
		own[i] += form[i]
	}
	if k := m.words[w]; k != nil {
		company := k.contextVector
		scale(&company, byText)
		for i := range own {
			own[i] += company[i]
		}
	}
	return own
}

// scatter adds the random vector of a name: a few coordinates, half of them negative.
func scatter(v *[Dimensions]float64, name string, by float64) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	rng := rand.New(rand.NewPCG(h.Sum64(), 11))
	for i := range signs {
		v[rng.IntN(Dimensions)] += by * float64(1-2*(i%2))
	}
}

// scale makes v of a length; false: it is zero.
func scale(v *[Dimensions]float64, to float64) bool {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	if sum == 0 {
		return false
	}
	by := to / math.Sqrt(sum)
	for i := range v {
		v[i] *= by
	}
	return true
}

// wordsOf are the words of a text in lower case, identifiers taken apart, without single letters.
func wordsOf(text string) (out []string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, part := range humps(w) {
			if len(part) > 1 {
				out = append(out, strings.ToLower(part))
			}
		}
	}
	return out
}

// humps are the parts of an identifier such as parseFile.
func humps(w string) (out []string) {
	from, before := 0, rune(0)
	for i, r := range w {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			out, from = append(out, w[from:i]), i
		}
		before = r
	}
	return append(out, w[from:])
}
