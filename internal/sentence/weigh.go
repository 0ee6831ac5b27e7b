package sentence

import (
	"strings"
	"unicode"
)

// PurposeBonus is what a sentence weighs more that says what it is for.
const PurposeBonus = 3

// Weigh says how much a sentence tells somebody who comes later, and what it is for. What it names counts: identifiers, files,
// numbers; and so does whatever bears it out, as the caller counts it: a failure that it was said behind, an output that holds what it
// names. A question, an announcement, a word of consent and an exclamation that names nothing weigh nothing; of a sentence that comes to
// what the agent is about to do, what stands before that is weighed, but for what it is to be done instead of.
func Weigh(s string, bornOut int) (int, Purpose) {
	low := lower(s)
	of := find(low)
	if said := of.unplanned(s, low); len(said) < len(s) {
		weight, p := Weigh(said, bornOut)
		if weight == 0 || of.opens(Decision) && strings.HasSuffix(strings.TrimSpace(said), ",") {
			return 0, Announce
		}
		return weight, p
	}
	p := of.purpose()
	if p == Announce || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") {
		return 0, Announce
	}
	if !Telling(s) {
		return 0, Plainly
	}
	names, numbers := 0, 0
	for w := range strings.FieldsSeq(s) {
		quoted := strings.Contains(w, "`")
		switch w = strings.Trim(w, ".,;:!?()[]{}\"'“”’`…"); {
		case IsName(w), quoted && len(w) > 2:
			names++
		case strings.ContainsAny(w, "0123456789"):
			numbers++
		}
	}
	if names+numbers == 0 && (strings.HasSuffix(s, "!") || strings.HasSuffix(s, "！")) {
		return 0, Announce
	}
	worth := min(names, 3) + min(numbers, 2) + bornOut
	if p != Plainly && p != Menu {
		worth += PurposeBonus
	}
	if worth > 0 && Letters(s) >= 3*MinLetters {
		worth++
	}
	return worth, p
}

// IsName is for words that name something in a program: a path, a call, words joined as no language joins them.
func IsName(w string) bool {
	if len(w) < 3 || strings.Contains(w, "://") {
		return false
	}
	for i, r := range w {
		switch {
		case r == '_', r == '/' && i > 0, r == '\\':
			return true
		case r == '.' && i > 0 && i < len(w)-1 && isLetter(w[i+1]) && isLetter(w[i-1]):
			return true
		case unicode.IsUpper(r) && i > 0 && 'a' <= w[i-1] && w[i-1] <= 'z':
			return true
		}
	}
	return strings.HasPrefix(w, "--") || strings.Contains(w, "()")
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
