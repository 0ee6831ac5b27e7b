package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/rows"
)

// overlap says how much of a prompt's telling words a row has: one for every word that it shares, two for names of code and
// files. Words are compared by their first six letters, so that forms of one word meet; words that stand in every prompt
// tell nothing. Where no blanks are written, two signs that stand together count as a word. All says that the row has
// every one of the words.
func overlap(words []string, row rows.Row) (score int, all bool) {
	has := map[string]bool{}
	texts := slices.Concat(row.Words(), row.Concepts, row.FilesModified, row.FilesRead, row.FilesUnverified)
	for _, text := range texts {
		for _, w := range splitWords(text) {
			has[stem(w)] = true
			for _, part := range strings.FieldsFunc(w, isNamePunct) {
				has[stem(part)] = true
			}
		}
	}
	all = true
	covered := 0 // of the next words, those that begin within one that counts
	for i, w := range words {
		if covered--; covered >= 0 && chained(words[i-1], w) {
			all = all && has[stem(w)]
			continue
		}
		covered = 0
		if !has[stem(w)] {
			all = false
			continue
		}
		score++
		if isName(w) {
			score++
		}
		if unspaced(w) {
			covered = utf8.RuneCountInString(w) - 1
		}
	}
	return score, all
}

// tellingWords are the words of a prompt that say what it is about, each once, names of code first.
func tellingWords(prompt string) []string {
	prompt = prompt[:min(len(prompt), maxPromptRead)]
	seen := map[string]bool{}
	var names, words []string
	for _, w := range splitWords(prompt) {
		key := stem(w)
		if seen[key] || !isTelling(w) {
			continue
		}
		seen[key] = true
		if isName(w) {
			names = append(names, w)
			continue
		}
		words = append(words, w)
	}
	return append(names, words...)
}

// isTelling reports whether a word is of use to find what a prompt is about.
func isTelling(w string) bool {
	if unspaced(w) {
		return !isCommonPiece(w)
	}
	return !isCommon(strings.ToLower(w)) && (isName(w) || utf8.RuneCountInString(w) >= 3)
}

// splitWords cuts text into words; names of code and paths stay whole, what is written without blanks is cut by pieces.
func splitWords(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !isNamePunct(r)
	})
	out := make([]string, 0, len(words))
	for _, w := range words {
		if strings.IndexFunc(w, index.Spaceless) >= 0 {
			out = append(out, pieces(w)...)
			continue
		}
		out = append(out, strings.TrimFunc(w, isNamePunct))
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" })
}

// isName reports whether a word is a name of code or a file rather than a word of a language.
func isName(w string) bool {
	letters, digits, joint, hump := false, false, false, false
	var before rune
	for _, r := range w {
		letters = letters || unicode.IsLetter(r)
		digits = digits || unicode.IsDigit(r)
		joint = joint || strings.ContainsRune("_./", r)
		hump = hump || unicode.IsUpper(r) && unicode.IsLower(before)
		before = r
	}
	return letters && (digits || joint || hump)
}

// stemLength is how many letters of a word count.
const stemLength = 6

func stem(w string) string {
	if isName(w) {
		return strings.ToLower(w)
	}
	r := []rune(strings.ToLower(w))
	if len(r) > 4 && r[len(r)-1] == 's' {
		r = r[:len(r)-1]
	}
	return string(r[:min(len(r), stemLength)])
}

// isCommon knows the words that stand in prompts whatever they are about.
func isCommon(w string) bool {
	switch w {
	case "a", "about", "add", "after", "again", "all", "also", "always", "an", "and", "any", "are", "as", "at", "be", "because",
		"been", "before", "but", "by", "can", "change", "check", "code", "could", "current", "did", "do", "does", "done", "each",
		"every", "explain", "file", "files", "find", "first", "fix", "for", "from", "function", "get", "give", "go", "good", "had",
		"has", "have", "help", "here", "how", "if", "implement", "in", "into", "is", "issue", "it", "its", "just", "know", "let",
		"like", "look", "make", "me", "more", "my", "need", "new", "next", "no", "not", "now", "of", "ok", "on", "one", "only", "or",
		"other", "our", "out", "please", "problem", "project", "really", "remove", "run", "same", "see", "should", "show", "so",
		"some", "still", "sure", "take", "tell", "test", "tests", "than", "thanks", "that", "the", "them", "then", "there", "these",
		"they", "thing", "things", "this", "to", "too", "try", "two", "up", "update", "us", "use", "using", "want", "was", "way",
		"we", "well", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "without", "work", "working",
		"works", "would", "write", "yes", "you", "your":
		return true
	}
	return false
}

// DefaultPromptScore is how much a row must have of a prompt to be injected; see overlap.
const DefaultPromptScore = 3

// maxPromptRead is how much of a prompt is read, in bytes: a pasted text says less of what is asked than the first sentences do.
const maxPromptRead = 2 << 10
