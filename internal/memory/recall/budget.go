package recall

import "unicode"

// Tokens estimates how many tokens a model makes of s: one for every four letters of a word, three digits, or two letters
// beyond ASCII; one for every ideograph, line end and other visible character. It is a little more than what the usual
// tokenizers make of prose and code, so that a bound in tokens holds.
func Tokens(s string) int {
	n := 0
	run, kind := 0, tokenNone
	for _, r := range s {
		k := tokenKindOf(r)
		if k == kind && run < int(k) {
			run++
			continue
		}
		kind, run = k, 1
		if k != tokenNone {
			n++
		}
	}
	return n
}

// tokenKind is how many characters of a kind make a token; 0 for what makes none.
type tokenKind int

const (
	tokenNone  tokenKind = 0
	tokenOther tokenKind = 1
	tokenLong  tokenKind = 2 // letters beyond ASCII
	tokenDigit tokenKind = 3
	tokenWord  tokenKind = 4
)

func tokenKindOf(r rune) tokenKind {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return tokenWord
	case '0' <= r && r <= '9':
		return tokenDigit
	case r == ' ' || r == '\t' || r == '\r':
		return tokenNone
	case r < 0x80 || unicode.Is(unicode.Han, r) || !unicode.IsLetter(r):
		return tokenOther
	}
	return tokenLong
}

// budget is how much may still be said, or what something takes of it.
type budget struct {
	chars, tokens int
	counts        bool // tokens are bounded
}

// of is what s takes.
func (b budget) of(s string) budget {
	cost := budget{chars: size(s)}
	if b.counts {
		cost.tokens = Tokens(s)
	}
	return cost
}

// plus adds a cost.
func (b budget) plus(cost budget) budget {
	b.chars += cost.chars
	b.tokens += cost.tokens
	return b
}

// minus takes a cost away.
func (b budget) minus(cost budget) budget {
	b.chars -= cost.chars
	b.tokens -= cost.tokens
	return b
}

// left reports whether nothing is overdrawn.
func (b budget) left() bool { return b.chars >= 0 && (!b.counts || b.tokens >= 0) }
