package preference

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	// maxFound is how many sentences of one text are taken: somebody who types states one or two.
	maxFound = 8

	// A rule to keep in mind has at most so many bytes and words, and at least so many letters (sentence.Letters).
	maxSentence = 240
	maxWords    = 40
	minLetters  = 7
)

// Sentence is one sentence in which a person says how to work.
type Sentence struct {
	Text       string // as it was said
	Normalized string // by which it is known again, whatever its letter case, marks and courtesies
}

// InPrompt returns the sentences of a prompt that say how to work, in their order, each once. It looks at the prompt's first
// kilobytes, in linear time.
func InPrompt(prompt string) []Sentence {
	if found := find(prompt, rule, correction); isAll(prompt, found) {
		return found
	}
	return find(prompt, rule)
}

// InRefusal returns those of the reason for which a person refused a tool call: what it says of the like of that call is a correction.
func InRefusal(reason string) []Sentence { return find(reason, rule, correction, refused) }

func find(text string, wanted ...purpose) (found []Sentence) {
	if isCommand(text) || !utf8.ValidString(text) {
		return nil
	}
	points := false // at something that is likely to follow
	for i, p := range runningText(text) {
		if points || i > 0 && len(found) == 0 && !p.ruled && !p.marked { // behind the task may stand what it is about
			return found
		}
		for rest := p.text; rest != ""; {
			var s string
			s, rest = firstOf(rest)
			words := wordsOf(s)
			once := isOnce(words)
			if once && strings.ContainsAny(s, ":：") && !states(words, rule) || anyHas(role, words) {
				return found
			}
			if strings.ContainsAny(s, "?？") { // what stands behind a question is what was asked about
				return found
			}
			points = points || once
			if isStatement(s, words) && (p.ruled && !once || states(words, wanted...)) {
				found = appendOnce(found, s)
			}
		}
	}
	return found
}

// firstOf cuts the first sentence off a text. People who type begin sentences in lower case too.
func firstOf(text string) (first, rest string) {
	first, rest = sentence.First(text)
	for i, r := range first {
		if !strings.ContainsRune(".!?", r) || !strings.HasPrefix(first[i+1:], " ") {
			continue
		}
		if word := first[strings.LastIndexByte(first[:i], ' ')+1 : i]; len(word) > 1 && !strings.ContainsAny(word, ".") {
			return first[:i+1], first[i+1:] + rest
		}
	}
	return first, rest
}

// isAll reports whether a text says what was found, and no more.
func isAll(text string, found []Sentence) bool {
	return len(found) == 1 && len(text) <= 2*maxSentence && keyOf(text) == found[0].Normalized
}

// states reports whether a phrase of one of the purposes stands in a sentence that is, in the same language, not about one thing.
func states(words []string, wanted ...purpose) bool {
	return slices.ContainsFunc(languages(), func(l *language) bool {
		return slices.ContainsFunc(wanted, func(p purpose) bool { return l.has(p, words) }) && !l.has(oneOff, l.withoutLasting(words))
	})
}

// isOnce reports whether a sentence is about one thing, in any language.
func isOnce(words []string) bool {
	return slices.ContainsFunc(languages(), func(l *language) bool { return l.has(oneOff, l.withoutLasting(words)) })
}

// appendOnce appends a sentence that is not there yet, while there is room.
func appendOnce(found []Sentence, s string) []Sentence {
	one := Sentence{Text: s, Normalized: keyOf(s)}
	for _, other := range found {
		if other.Normalized == one.Normalized {
			return found
		}
	}
	return append(found, one)[:min(len(found)+1, maxFound)]
}

// isCommand reports whether a prompt is a command of the agent's, or a line for a shell.
func isCommand(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!")
}

// isStatement reports whether s is a short sentence in plain words that asks nothing and announces nothing.
func isStatement(s string, words []string) bool {
	return len(s) <= maxSentence && len(words) <= maxWords && sentence.Letters(s) >= minLetters &&
		!strings.ContainsAny(s, "?？{}<>|\\"+gap) && !strings.Contains(s, "://") && strings.TrimRight(s, ":：") == s
}
