package extractive

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// standing leaves out of the findings of an answer, whose observation says outcome, what was superseded on the way. That is what nothing
// bears out, and was said before the last change of the answer, if what was said later speaks again of all that it names: the agent had
// then tried it, and says what came of that. It is also what names nothing, and was said of a command that was run again.
func (w *work) standing(all []finding, outcome string) []finding {
	later := wordsOf(outcome)
	stands := make([]bool, len(all))
	for i, f := range slices.Backward(all) {
		stands[i] = f.failed+f.bearing != "" || f.agreed || !w.superseded(f, later)
		maps.Copy(later, wordsOf(f.text))
	}
	kept := all[:0]
	for i, f := range all {
		if stands[i] {
			kept = append(kept, f)
		}
	}
	return kept
}

// superseded reports whether f was; later are the words of what was said, and is told, behind it.
func (w *work) superseded(f finding, later map[string]bool) bool {
	if len(f.names) == 0 {
		return w.runAgain(f.after, f.upTo)
	}
	changed := len(w.changed) > 0 && f.upTo < w.changed[len(w.changed)-1]
	return changed && !slices.ContainsFunc(f.names, func(name string) bool { return !later[name] })
}

// runAgain reports whether one of the commands that were run by the calls behind a first one, up to a last one, was run again later.
func (w *work) runAgain(first, last int) bool {
	return slices.ContainsFunc(w.runs, func(r run) bool {
		return first < r.at && r.at <= last && slices.ContainsFunc(w.runs, func(again run) bool {
			return again.at > last && slices.Equal(again.step.words, r.step.words)
		})
	})
}

// namesIn are what names something in a text, and its figures that one of calls printed.
func namesIn(text string, calls []*evidence.Call) []string {
	names := evidence.Marks(text)
	for word := range wordsOf(text) {
		if unicode.IsDigit(rune(word[0])) && printedFigure(calls, word) {
			names = append(names, word)
		}
	}
	return names
}

// printedFigure reports whether one of calls printed a figure, not as a part of a longer one.
func printedFigure(calls []*evidence.Call, figure string) bool {
	const part = "0123456789."
	return slices.ContainsFunc(calls, func(u *evidence.Call) bool {
		for before, rest, ok := strings.Cut(outputText(u.Output), figure); ok; before, rest, ok = strings.Cut(rest, figure) {
			if strings.TrimRight(before, part) == before && strings.TrimLeft(rest, part) == rest {
				return true
			}
		}
		return false
	})
}

// wordsOf are the words of a text as programs write them, those that are joined by dots or slashes also apart.
func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !strings.ContainsRune("_./-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if word = strings.Trim(word, "./-"); word == "" {
			continue
		}
		all[word] = true
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '.' || r == '/' }) {
			all[part] = true
		}
	}
	return all
}
