package full

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const (
	// farReach is how far from its keyword a match without a limit may end at which anything may stand before its last
	// characters: a private key of the largest kind in use.
	farReach = 16 << 10

	// unboundedReach is what is looked at of a run without a limit, to begin with: a match that goes on is followed.
	unboundedReach = 128

	// lookaroundBytes is what an expression may look at beside its match: one character.
	lookaroundBytes = utf8.UTFMax
)

// wide lists the rules whose keyword may stand anywhere in a text: it names the service, and not the secret.
func wide() []string {
	return []string{"airtable-personnal-access-token", "facebook-access-token", "sourcegraph-access-token"}
}

// reachOf returns how far from a keyword a match of the rule may begin and end, in bytes; 0: anywhere.
func reachOf(e entry) int {
	if len(e.Keywords) == 0 || slices.Contains(wide(), e.ID) {
		return 0
	}
	expr, err := syntax.Parse(e.Regex, syntax.Perl)
	switch {
	case err != nil:
		return 0 // it was compiled before
	case spansWords(expr):
		return farReach
	}
	return min(longest(expr), farReach) + lookaroundBytes
}

// spansWords reports whether something without a limit in r may hold spaces.
func spansWords(r *syntax.Regexp) bool {
	if r.Op == syntax.OpStar || r.Op == syntax.OpPlus || r.Op == syntax.OpRepeat && r.Max < 0 {
		if one, err := regexp.Compile("^(?:" + r.Sub[0].String() + ")$"); err != nil || one.MatchString(" ") {
			return true
		}
	}
	return slices.ContainsFunc(r.Sub, spansWords)
}

// longest is how many bytes a match has at most, where what has no limit has its least length and a run behind it. Letters
// that are not ASCII, but equal to some in another case, count as one byte.
func longest(r *syntax.Regexp) (n int) {
	switch r.Op {
	case syntax.OpLiteral:
		return len(string(r.Rune))
	case syntax.OpCharClass:
		if r.Rune[0] < utf8.RuneSelf {
			return 1
		}
		return utf8.UTFMax
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpStar, syntax.OpPlus:
		return unboundedReach
	case syntax.OpRepeat:
		if r.Max < 0 {
			return longest(r.Sub[0])*r.Min + unboundedReach
		}
		return longest(r.Sub[0]) * r.Max
	case syntax.OpAlternate:
		for _, sub := range r.Sub {
			n = max(n, longest(sub))
		}
		return n
	}
	for _, sub := range r.Sub {
		n += longest(sub)
	}
	return n
}
