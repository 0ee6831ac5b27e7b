package observer

import (
	"slices"
	"strings"
)

// scrubbed takes the place of what Scrub takes out.
const scrubbed = "[secret]"

const (
	// longToken is how many letters and digits in one run are taken for a key whatever they begin with: longer than the ids
	// and model names that services use, shorter than any key without a prefix of its own.
	longToken = 40

	// keyTail is how many characters behind a known prefix make a key of it: fewer are words that begin alike.
	keyTail = 8
)

// keyPrefixes are what the keys of services begin with, as these document them.
func keyPrefixes() []string {
	return []string{
		"sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-",
		"AIza", "ya29", "AKIA", "ASIA", "eyJ", "hf_", "gsk_", "nvapi-", "npm_",
	}
}

// Scrub returns what a service or a client said of a failure, for people, without what may be a key in it: a token that
// begins like one, and any that is very long. It takes time linear in text.
func Scrub(text string) string {
	var out strings.Builder
	for text != "" {
		n := strings.IndexFunc(text, isToken)
		if n < 0 {
			break
		}
		out.WriteString(text[:n])
		text = text[n:]
		end := strings.IndexFunc(text, func(r rune) bool { return !isToken(r) })
		if end < 0 {
			end = len(text)
		}
		if token := text[:end]; isKey(token) {
			out.WriteString(scrubbed)
		} else {
			out.WriteString(token)
		}
		text = text[end:]
	}
	out.WriteString(text)
	return out.String()
}

func isToken(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '+'
}

func isKey(token string) bool {
	if len(token) >= longToken {
		return true
	}
	return slices.ContainsFunc(keyPrefixes(), func(p string) bool {
		rest, ok := strings.CutPrefix(token, p)
		return ok && len(rest) >= keyTail
	})
}
