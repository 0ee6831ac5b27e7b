package extractive

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// standing leaves out the findings of an answer that were superseded on the way; outcome is what the observation of the answer says.
// A finding is superseded if no evidence supports it, it was said before the last change, and what was said later names all that it
// names: the agent tried it, and then said what came of it. A finding that names nothing is superseded if its command was run again.
func (w *work) standing(all []finding, outcome string) []finding {
	later, again := wordsOf(outcome), map[string]int{}
	for _, r := range w.runs {
		again[strings.Join(r.step.words, "\x00")] = r.callIndex
	}
	stands := make([]bool, len(all))
	for i, f := range slices.Backward(all) {
		stands[i] = f.failed+f.evidenceLine != "" || f.agreed || !w.superseded(f, later, again)
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

// superseded reports whether f was; later are the words of what was said behind it, and again is by which call a command was run last.
func (w *work) superseded(f finding, later map[string]bool, again map[string]int) bool {
	if len(f.names) == 0 {
		return slices.ContainsFunc(w.runs, func(r run) bool {
			return f.firstCall < r.callIndex && r.callIndex <= f.lastCall && again[strings.Join(r.step.words, "\x00")] > f.lastCall
		})
	}
	changed := len(w.changingCalls) > 0 && f.lastCall < w.changingCalls[len(w.changingCalls)-1]
	return changed && !slices.ContainsFunc(f.names, func(name string) bool { return !later[name] })
}

// namesIn are what names something in a text, and its figures that one of calls printed.
func namesIn(text string, calls []*evidence.Call) []string {
	names := evidence.Marks(text)
	printed := sync.OnceValue(func() map[string]bool {
		all := map[string]bool{}
		for _, c := range calls {
			maps.Copy(all, wordsOf(outputText(c.Output)))
		}
		return all
	})
	for word := range wordsOf(text) {
		if unicode.IsDigit(rune(word[0])) && printed()[word] {
			names = append(names, word)
		}
	}
	return names
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
