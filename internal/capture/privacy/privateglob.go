package privacy

import (
	"path"
	"strings"
)

// maxBraces is how many words a word with braces is taken for.
const maxBraces = 16

// privateGlob says what a word with signs that stand for others is if it may stand for a private file; empty: for none. What
// stands for any file at all, as * does, names none.
func privateGlob(word string, as role) string {
	for _, w := range braces([]string{word}) {
		folder, base := parts(w)
		if as == roleShown && isAnyName(base) && strings.IndexByte(w, '/') < 0 {
			continue
		}
		if what := privateFile(folder + strings.NewReplacer("*", "x", "?", "x", "[", "", "]", "").Replace(base)); what != "" {
			return what
		}
		if literals(base) < 2 && (literals(base) == 0 || as != roleOperand) {
			continue
		}
		for _, name := range [...]string{
			".env", ".env.local", ".env.production", ".envrc", ".dev.vars", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd",
			"id_rsa", "id_ed25519", "id_ecdsa",
		} {
			if base[0] == '.' != (name[0] == '.') {
				continue // as in a shell, no sign stands for a dot at the beginning
			}
			if ok, err := path.Match(base, name); ok && err == nil {
				return privateFile(name)
			}
		}
	}
	return ""
}

// literals is how many letters of a pattern stand for themselves.
func literals(pattern string) int {
	return len(pattern) - strings.Count(pattern, "*") - strings.Count(pattern, "?") - strings.Count(pattern, "[") - strings.Count(pattern, "]")
}

// braces are the words that words with {a,b} in them stand for.
func braces(words []string) []string {
	for i := 0; i < len(words) && len(words) < maxBraces; {
		before, rest, ok := strings.Cut(words[i], "{")
		inner, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			i++
			continue
		}
		alternatives := strings.SplitN(inner, ",", maxBraces)
		words = append(words[:i:i], words[i+1:]...)
		for _, a := range alternatives {
			words = append(words, before+a+after)
		}
	}
	return words
}
