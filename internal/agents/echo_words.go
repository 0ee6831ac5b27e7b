package agents

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// words are the letters and digits of a text, lower case and without all that stands between, and where they came from. Its
// memory is used again by the next text.
type words struct {
	letters []byte
	list    []word
}

// word is a run of letters and digits, or one sign of a script that is written without blanks.
type word struct {
	letter     int32 // its first one's place among the letters
	start, end int32 // its bytes in the text
}

// firstUnspacedRune is the first rune of the scripts whose words stand without blanks between them: from the radicals on.
const firstUnspacedRune = 0x2E80

// read takes a text apart, and returns its letters. What stands for a line end, a tab or a rune in JSON does so here, however
// often it was quoted.
func (w *words) read(text string) []byte {
	w.letters, w.list = slices.Grow(w.letters[:0], len(text)), slices.Grow(w.list[:0], len(text)/usualWord)
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case lower(c) > 0 || c >= utf8.RuneSelf || c == '\\':
			i = w.word(text, i)
		default:
			i++
		}
	}
	return w.letters
}

// usualWord is about how many bytes a word has, with what stands behind it.
const usualWord = 4

// word reads the word that begins at text[i], or one rune that is none, and returns where it ends.
func (w *words) word(text string, i int) int {
	start, letters := i, w.letters
	for i < len(text) {
		if low := lower(text[i]); low > 0 {
			letters = append(letters, low)
			i++
			continue
		}
		if text[i] < utf8.RuneSelf && text[i] != '\\' {
			break
		}
		r, size := runeAt(text[i:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if i == start {
				return i + size
			}
			break
		}
		if r >= firstUnspacedRune && i > start {
			break
		}
		letters = utf8.AppendRune(letters, unicode.ToLower(r))
		i += size
		if r >= firstUnspacedRune {
			break
		}
	}
	w.list = append(w.list, word{int32(len(w.letters)), int32(start), int32(i)})
	w.letters = letters
	return i
}

// lower is an ASCII letter or digit in lower case; 0 for anything else.
func lower(c byte) byte {
	if '0' <= c && c <= '9' {
		return c
	}
	if c |= 'a' - 'A'; 'a' <= c && c <= 'z' {
		return c
	}
	return 0
}

// runeAt is the rune that begins s, which is a backslash or no ASCII, and its bytes: for \n, and what else is no letter, a blank.
func runeAt(s string) (r rune, size int) {
	if s[0] != '\\' {
		return utf8.DecodeRuneInString(s)
	}
	n := slashes(s)
	if n == len(s) {
		return ' ', n
	}
	switch s[n] {
	case 'n', 't', 'r', 'b', 'f', '"', '/':
		return ' ', n + 1
	case 'u':
		if r, ok := jsonscan.CodeUnit(s[n-1 : min(len(s), n+5)]); ok {
			return r, n + 5
		}
	}
	return ' ', n
}

// slashes is how many backslashes begin s.
func slashes(s string) int { return len(s) - len(strings.TrimLeft(s, `\`)) }

// wordAfter returns the index behind the word that ends with the letters up to n, counted from the first; ok is false if none ends there.
func (w *words) wordAfter(n int) (i int, exact bool) {
	i = sort.Search(len(w.list), func(i int) bool { return int(w.list[i].letter) >= n })
	if i == len(w.list) {
		return i, n == len(w.letters)
	}
	return i, int(w.list[i].letter) == n
}

// from returns the index of the first word at or behind a byte of the text.
func (w *words) from(at int) int {
	return sort.Search(len(w.list), func(i int) bool { return int(w.list[i].start) >= at })
}

// size is how many letters the words from i to before j have.
func (w *words) size(i, j int) int { return w.letterAt(j) - w.letterAt(i) }

// letterAt is where the letters of word i begin, or all end.
func (w *words) letterAt(i int) int {
	if i >= len(w.list) {
		return len(w.letters)
	}
	return int(w.list[i].letter)
}
