package preference

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

// Cues are beginnings and turns of phrase by which a rule is known, or known not to be one. They are data, a file a language: a
// line is a purpose, a tab and a phrase. In a phrase
//
//	^   is where a clause begins, or goes on behind words that only open it
//	$   is the sentence's end
//	*   is any word, *s any that ends so
//	~   is one bare word or two, none of which is an article
//	…   is anything
//
//go:embed cues
var cueFiles embed.FS

// purpose is what a phrase says of its sentence.
type purpose uint8

const (
	rule         purpose = iota // it says how to work
	correction                  // it does in the reason of a refusal, and where it is all that a prompt says
	refused                     // it does in the reason of a refusal
	oneOff                      // it is about one thing, or tells what is
	lasting                     // it names what lasts, though words of it may stand for one thing
	role                        // the prompt is no person's: it says what a model is to be
	clauseOpener                // it only opens a clause
	articleWord                 // it stands before the name of one thing

	purposeCount // how many there are
)

func purposeNames() map[string]purpose {
	return map[string]purpose{
		"rule": rule, "correction": correction, "refused": refused, "once": oneOff, "lasting": lasting, "role": role,
		"opener": clauseOpener, "article": articleWord,
	}
}

// phrase is one cue.
type phrase struct {
	beginsClause bool     // a clause
	words        []string // what they mean says cueFiles
}

// language is the phrases of each purpose of one language by their first word; those that begin with any word have none.
type language [purposeCount]map[string][]phrase

// languages are those that there are cues of. A word may be one in one language, and another in another: they are asked one by one.
var languages = sync.OnceValue(func() (all []*language) {
	files, _ := cueFiles.ReadDir("cues")
	for _, f := range files {
		data, _ := cueFiles.ReadFile("cues/" + f.Name())
		l := new(language)
		for line := range strings.Lines(string(data)) {
			name, text, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
			if p, ok := purposeNames()[name]; ok {
				l.add(p, phraseOf(text))
			}
		}
		all = append(all, l)
	}
	return all
})

func (l *language) add(p purpose, c phrase) {
	if l[p] == nil {
		l[p] = map[string][]phrase{}
	}
	l[p][c.first()] = append(l[p][c.first()], c)
}

// phraseOf reads a phrase as the files have it. An ideograph, or a syllable, is a word.
func phraseOf(text string) (c phrase) {
	text, c.beginsClause = strings.CutPrefix(text, "^")
	var out strings.Builder
	for _, r := range text {
		if isIdeograph(r) || r == '…' {
			out.WriteString(" " + string(r) + " ")
		} else {
			out.WriteRune(r)
		}
	}
	c.words = strings.Fields(out.String())
	return c
}

// first is the word that a phrase begins with; empty: any.
func (c phrase) first() string {
	if strings.Trim(c.words[0], "~*…") != c.words[0] {
		return ""
	}
	return c.words[0]
}

// anyHas reports whether a phrase of the purpose, in any language, stands in a sentence.
func anyHas(p purpose, sentence []string) bool {
	return slices.ContainsFunc(languages(), func(l *language) bool { return l.has(p, sentence) })
}

// has reports whether a phrase of the purpose stands in a sentence.
func (l *language) has(p purpose, sentence []string) bool {
	begins := false
	for i, w := range sentence {
		if w == mark {
			begins = true
			continue
		}
		if l.longest(p, sentence[i:], begins) > 0 {
			return true
		}
		begins = begins && isOpener(w)
	}
	return false
}

// longest is the length of the longest phrase of the purpose with which a sentence begins, in words; 0: none.
func (l *language) longest(p purpose, sentence []string, begins bool) (most int) {
	for _, first := range []string{sentence[0], ""} {
		for _, c := range l[p][first] {
			if n, ok := l.match(c.words, sentence); ok && (begins || !c.beginsClause) {
				most = max(most, n)
			}
		}
	}
	return most
}

// isOpener reports whether a word only opens a clause, in any language.
func isOpener(w string) bool {
	return slices.ContainsFunc(languages(), func(l *language) bool { return len(l[clauseOpener][w]) > 0 })
}

// match reports whether a sentence begins with the words of a phrase, and how many words that are. Marks between them do not count.
func (l *language) match(want, sentence []string) (n int, ok bool) {
	for i, w := range want {
		for n < len(sentence) && sentence[n] == mark {
			n++
		}
		switch {
		case w == "…":
			return l.matchBehind(want[i+1:], sentence, n, len(sentence))
		case w == "~":
			return l.matchBehind(want[i+1:], sentence, n+1, n+l.bareWords(sentence[n:]))
		case w == "$":
			return n, n == len(sentence)
		case n == len(sentence) || !equal(w, sentence[n]):
			return 0, false
		}
		n++
	}
	return n, true
}

// matchBehind matches the rest of a phrase behind from to to words.
func (l *language) matchBehind(want, sentence []string, from, to int) (int, bool) {
	for n := from; n <= to; n++ {
		if m, ok := l.match(want, sentence[n:]); ok {
			return n + m, true
		}
	}
	return 0, false
}

func equal(want, word string) bool {
	if end, ok := strings.CutPrefix(want, "*"); ok {
		return strings.HasSuffix(word, end)
	}
	return want == word
}

// openers is how many words at the beginning of a clause only open it.
func openers(clause []string) int {
	n := 0
	for n < len(clause) && isOpener(clause[n]) {
		n++
	}
	return n
}

// bareWords is how many words at the beginning of a sentence may name a thing without an article: two at most.
func (l *language) bareWords(sentence []string) int {
	n := 0
	for n < min(2, len(sentence)) && sentence[n] != mark && len(l[articleWord][sentence[n]]) == 0 {
		n++
	}
	return n
}

// withoutLasting is a sentence without what names what lasts.
func (l *language) withoutLasting(sentence []string) []string {
	var kept []string
	for i := 0; i < len(sentence); {
		n := l.longest(lasting, sentence[i:], true)
		if n == 0 {
			kept = append(kept, sentence[i])
			n = 1
		}
		i += n
	}
	return kept
}
