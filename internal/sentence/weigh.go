package sentence

import (
	"strings"
)

// PurposeBonus is what a sentence weighs more that says what it is for.
const PurposeBonus = 3

// Weigh says how much a sentence tells somebody who comes later, and what it is for. What it names counts: identifiers, files,
// numbers; and so does whatever bears it out, as the caller counts it: a failure that it was said behind, an output that holds what it
// names. A question, an announcement, a word of consent and an exclamation that names nothing weigh nothing; of a sentence that comes to
// what the agent is about to do, what stands before that is weighed.
func Weigh(s string, bornOut int) (int, Purpose) {
	if said := unplanned(s); len(said) < len(strings.ReplaceAll(s, "’", "'")) {
		weight, p := Weigh(said, bornOut)
		if weight == 0 {
			p = Announce
		}
		return weight, p
	}
	p := PurposeOf(s)
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
