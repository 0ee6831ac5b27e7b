package turn

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	// leastShared is the part of a text's words that what was said must share for it to bear the text out: paraphrases of decisions share
	// what these are about, inventions hardly anything.
	leastShared = 0.25
	// stemLength is how much of a word is compared, in letters: the rest is inflection.
	stemLength = 5
	// minWord is the shortest word that is compared, in letters: shorter ones say nothing of what a text is about.
	minWord = 4
	// minSentence is the fewest words by which a sentence alone is judged: of three, leastShared would be less than one.
	minSentence = 4
)

// unsupported reports whether a text says what nobody said: it names a command, a package or an identifier that stands nowhere in
// what the turn read; or, where it decides, it shares hardly a word with the prompts and replies; or a sentence of it decides and shares
// hardly a word with these and with what tools were given and printed. A text in another script than these is held to its names alone.
// Where not all words are at hand, nothing is held against it.
func unsupported(p observer.Prompt, text string, decides bool) bool {
	if !whole(p) {
		return false
	}
	said := sayings(p)
	read := append(printedTexts(p), said...)
	if invents(literals(text), read) || decides && !borneOut(stems(text), stems(said...)) {
		return true
	}
	known := sync.OnceValue(func() map[string]bool { return stems(read...) })
	for line := range strings.Lines(text) {
		for s := ""; line != ""; {
			if s, line = sentence.First(line); !sentence.Decides(s) {
				continue
			}
			if words := stems(s); len(words) >= minSentence && !borneOut(words, known()) {
				return true
			}
		}
	}
	return false
}

// borneOut reports whether as many of some words are known as leastShared asks; of other scripts nobody can tell.
func borneOut(words, known map[string]bool) bool {
	if len(words) == 0 || len(known) > 0 && !sameScript(words, known) {
		return true
	}
	shared := 0
	for w := range words {
		if known[w] {
			shared++
		}
	}
	return float64(shared) >= leastShared*float64(len(words))
}

// sayings are what the person and the agent said, as far as the turn read it, and what was observed of it before.
func sayings(p observer.Prompt) []string {
	said := append([]string{p.Request, p.Message}, p.Requests...)
	for _, s := range p.Said {
		said = append(said, s.Text)
	}
	for _, o := range p.Observed {
		if !unfounded(o) { // what it invents must not bear itself out
			said = append(append(said, o.Title, o.Narrative), o.Facts...)
		}
	}
	for _, in := range p.Inputs {
		switch e := in.Event.(type) {
		case events.ContextCompacted:
			said = append(said, e.Summary)
		case events.AgentStopped:
			said = append(said, e.LastMessage)
		}
	}
	return said
}

// printedTexts are what went into tools and came out of them, and the files that they touched.
func printedTexts(p observer.Prompt) (texts []string) {
	texts = append(texts, p.Touched...)
	for _, in := range p.Inputs {
		if u, ok := in.Event.(events.ToolUsed); ok {
			texts = append(texts, u.Tool, u.Input, u.Output)
		}
	}
	return texts
}

// invents reports whether some name stands in none of texts.
func invents(names, texts []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, name) })
	})
}

// literals are the words of a text that stand there as they are typed: addresses, packages with versions, names with underscores.
func literals(text string) (names []string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("`'\"()[]{}<>,;*", r) }) {
		w = strings.TrimRight(w, ".:!?…")
		if strings.Contains(w, "://") || strings.IndexByte(w, '@') > 0 || strings.IndexByte(w, '_') > 0 {
			names = append(names, w)
		}
	}
	return names
}

// stems are the beginnings of the words of texts.
func stems(texts ...string) map[string]bool {
	out := map[string]bool{}
	for _, text := range texts {
		for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if r := []rune(w); len(r) >= minWord {
				out[string(r[:min(len(r), stemLength)])] = true
			}
		}
	}
	return out
}

// sameScript reports whether words and known hold words of one script: ASCII, or letters beyond it.
func sameScript(words, known map[string]bool) bool {
	ascii := func(words map[string]bool) (n int) {
		for w := range words {
			if w[0] < 0x80 {
				n++
			}
		}
		return n
	}
	return 2*ascii(words) > len(words) == (2*ascii(known) > len(known))
}
