package preference

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mark   = "," // stands for any mark between clauses, and for a sentence's beginning
	quoted = `"` // stands for what a sentence quotes
)

// wordsOf are the words of a sentence in lower case, with a mark before each clause. An ideograph, or a syllable, is a word.
func wordsOf(s string) []string {
	t := tokens{words: []string{mark}}
	for s != "" {
		if n := quotation(s); n > 0 {
			t.endWord()
			t.add(quoted)
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		t.take(r, s)
	}
	t.endWord()
	return t.words
}

// keyOf is what two sentences have in common that say the same, what they quote included.
func keyOf(s string) string {
	said := wordsOf(strings.Map(func(r rune) rune {
		if _, quotes := closing(r); quotes || r == '”' {
			return -1
		}
		return r
	}, s))
	said = slices.DeleteFunc(said, func(w string) bool { return w == mark })
	return strings.Join(said[openers(said):], " ")
}

// tokens are words as they are put together.
type tokens struct {
	words []string
	word  strings.Builder
}

// take adds a rune that stands before rest.
func (t *tokens) take(r rune, rest string) {
	switch {
	case isIdeograph(r):
		t.endWord()
		t.add(string(r))
	case isLetter(r) || t.word.Len() > 0 && (strings.ContainsRune("_+#", r) || strings.ContainsRune("'’.-/@", r) && startsWord(rest)):
		if r == '’' {
			r = '\''
		}
		t.word.WriteRune(unicode.ToLower(r))
	default:
		t.endWord()
		if strings.ContainsRune(",;:.!—–()，、；：。！…", r) {
			t.add(mark)
		}
	}
}

func (t *tokens) endWord() {
	if t.word.Len() > 0 {
		t.add(t.word.String())
		t.word.Reset()
	}
}

func (t *tokens) add(w string) {
	if w != mark || t.words[len(t.words)-1] != mark {
		t.words = append(t.words, w)
	}
}

// quotation is the length of what is quoted at the beginning of s; 0: nothing is.
func quotation(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	end, ok := closing(r)
	if !ok {
		return 0
	}
	if i := strings.IndexAny(s[n:], end); i >= 0 {
		_, m := utf8.DecodeRuneInString(s[n+i:])
		return n + i + m
	}
	return 0
}

// closing are the marks one of which ends what a mark begins to quote.
func closing(open rune) (string, bool) {
	switch open {
	case '"':
		return `"`, true
	case '`':
		return "`", true
	case '“', '„', '”':
		return `“”"`, true
	case '«':
		return "»", true
	case '»':
		return "«", true
	case '「':
		return "」", true
	case '『':
		return "』", true
	}
	return "", false
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isLetter(r)
}

// isLetter is for what words between blanks are made of.
func isLetter(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !isIdeograph(r)
}

func isIdeograph(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }
