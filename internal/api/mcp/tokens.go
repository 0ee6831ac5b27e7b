package mcp

import "unicode/utf8"

const (
	// maxTokens is the longest answer in tokens: agents cut or refuse one of 25,000 or more. What is between is for what
	// the estimate may miss and for what agents put around it.
	maxTokens = 20_000

	// tokenWeight is what a token weighs.
	tokenWeight = 6
)

// weight is at least how many tokens the usual tokenizers make of s, times unit. It takes text for the worst that it may
// be: random letters, hex, ideographs, symbols. Prose comes out at a third more than it costs.
func weight(s string) int {
	n := 0
	for _, r := range s {
		n += weightOf(r)
	}
	return n
}

func weightOf(r rune) int {
	switch {
	case 'a' <= r && r <= 'z':
		return 2
	case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return 3
	case r == ' ':
		return 1
	case r < utf8.RuneSelf:
		return tokenWeight
	case r < 0x800: // Latin, Greek, Cyrillic, Hebrew, Arabic
		return tokenWeight
	case r < 0x10000: // ideographs, and the letters of the rest of the world
		return 2 * tokenWeight
	}
	return 3 * tokenWeight
}

// fitting is the longest beginning of s, whole runes, that weighs at most room.
func fitting(s string, room int) string {
	for i, r := range s {
		if room -= weightOf(r); room < 0 {
			return s[:i]
		}
	}
	return s
}
