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

// room is what is left of a budget, or what something takes of it.
type room struct {
	chars, tokens int
	counts        bool // tokens are bounded
}

// roomOf is what s takes.
func (r room) of(s string) room {
	cost := room{chars: size(s)}
	if r.counts {
		cost.tokens = Tokens(s)
	}
	return cost
}

// plus adds a cost.
func (r room) plus(cost room) room {
	r.chars += cost.chars
	r.tokens += cost.tokens
	return r
}

// minus takes a cost away.
func (r room) minus(cost room) room {
	r.chars -= cost.chars
	r.tokens -= cost.tokens
	return r
}

// left reports whether nothing is overdrawn.
func (r room) left() bool { return r.chars >= 0 && (!r.counts || r.tokens >= 0) }
