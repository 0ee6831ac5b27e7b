package extractive

import (
	"strings"

	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	// maxBefore is how many calls before something that was said are searched for what bears it out.
	maxBefore = 12

	// maxOccurrences is how many places of one name are looked at in one output.
	maxOccurrences = 8

	// maxPrinted is the longest line of an output that is quoted, in bytes: longer ones are data.
	maxPrinted = 240

	// minShared is how long a word is, in bytes, by which a sentence speaks of what the person wrote: shorter ones stand in any.
	minShared = 6

	// minNameScore is how much a line must share with what was said to bear it out.
	minNameScore = 3
)

// printedBy begins a fact that quotes what a call printed; the call follows.
const printedBy = "Printed by "

// priorCalls is what was done before something that was said.
type priorCalls struct {
	failure string           // of the last call, as a fact; empty: it went well
	own     []*evidence.Call // the last calls whose output is the session's own
}

// priorCallsOf is what was done between what was said before prompt.Said[i] and that.
func priorCallsOf(prompt observer.Prompt, i int) (b priorCalls) {
	var calls []*evidence.Call
	for _, in := range prompt.Inputs {
		if in.At.After(prompt.Said[i].At) || i > 0 && !in.At.After(prompt.Said[i-1].At) {
			continue
		}
		if u := in.Call(); u != nil {
			calls = append(calls, u)
		}
	}
	for _, u := range calls[max(0, len(calls)-maxBefore):] {
		if isOwn(u) {
			b.own = append(b.own, u)
		}
	}
	if n := len(calls); n > 0 {
		b.failure = failureOf(calls[n-1])
	}
	return b
}

// isOwn is for calls whose output comes from the disk or from a command that was run here: not from the web, another server or a
// subagent's answer.
func isOwn(u *evidence.Call) bool {
	switch u.Kind() {
	case evidence.Command, evidence.Read, evidence.Search:
		return true
	}
	return false
}

// failureOf is how a command failed, as a fact; empty: it went well, or said nothing.
func failureOf(u *evidence.Call) string {
	c := observeCall(u)
	if !c.failed || c.refused || c.action != actionRun {
		return ""
	}
	if p := problem(c.output); p != "" {
		return "Said behind a failure: " + p
	}
	return ""
}

// bornOut counts what bears a sentence out: that the last call failed, that what it names was printed, that it speaks of what the
// person wrote, or says why they are right.
func (r *reading) bornOut(s string) int {
	n := 0
	if r.prior.failure != "" {
		n++
	}
	if r.agreed {
		n++
	}
	named, answers := false, false
	for w := range strings.FieldsSeq(s) {
		w = strings.Trim(w, ".,;:!?()[]{}\"'“”’`…*")
		named = named || sentence.IsName(w) && printed(r.prior.own, w)
		answers = answers || len(w) >= minShared && strings.Contains(r.requestText, strings.ToLower(w))
	}
	for _, is := range []bool{named, answers} {
		if is {
			n++
		}
	}
	return n
}

// printed reports whether one of calls printed a name.
func printed(calls []*evidence.Call, name string) bool {
	for _, u := range calls {
		if strings.Contains(u.Output, name) {
			return true
		}
	}
	return false
}

// bearing is the line that one of calls printed that shares most with a finding, as a fact; empty: none shares enough.
func (w *work) bearing(calls []*evidence.Call, f finding) string {
	var names []string
	for word := range strings.FieldsSeq(f.text) {
		word = strings.Trim(word, ".,;:!?()[]{}\"'“”’`…~*")
		if len(word) > 2 && (sentence.IsName(word) || strings.ContainsAny(word, "0123456789")) {
			names = addOnce(names, word)
		}
	}
	best, most, by := "", minNameScore-1, (*evidence.Call)(nil)
	for _, u := range calls {
		out := outputText(u.Output)
		for _, name := range names {
			for _, l := range linesWith(out, name) {
				n := nameScore(l, u.Input, names)
				if callsWarning(l) || callsError(l) || strings.ContainsAny(l, "0123456789") {
					n++
				}
				if n > most && !says(f.text, l) {
					best, most, by = l, n, u
				}
			}
		}
	}
	if best == "" {
		return ""
	}
	return printedBy + w.source(by) + ": " + best
}

// linesWith are the lines of an output in which a name stands, the first few.
func linesWith(out, name string) (lines []string) {
	for at := 0; len(lines) < maxOccurrences; {
		i := strings.Index(out[at:], name)
		if i < 0 {
			break
		}
		i += at
		from, to := strings.LastIndexByte(out[:i], '\n')+1, len(out)
		if n := strings.IndexByte(out[i:], '\n'); n >= 0 {
			to = i + n
		}
		if l := out[from:to]; len(l) <= maxPrinted {
			if l = line(clean(unnumbered(l))); sentence.Letters(l) >= sentence.MinLetters {
				lines = append(lines, l)
			}
		}
		at = to
	}
	return lines
}

// unnumbered takes the number off a line that a tool which reads files put before it.
func unnumbered(l string) string {
	number, rest, ok := strings.Cut(strings.TrimLeft(l, " "), "→")
	if ok && strings.Trim(number, "0123456789") == "" {
		return rest
	}
	return l
}

// nameScore is how much of what names something stands in a line: twice what the call did not ask for.
func nameScore(l, input string, names []string) int {
	n := 0
	for _, name := range names {
		if strings.Contains(l, name) {
			if n++; !strings.Contains(input, name) {
				n++
			}
		}
	}
	return n
}

// source names the call that printed something.
func (w *work) source(u *evidence.Call) string {
	c := observeCall(u)
	switch {
	case len(c.read) > 0:
		return w.show(c.read[0])
	case c.command != "":
		return "`" + cut(strings.ReplaceAll(line(clean(c.command)), "`", "'"), maxShown/2) + "`"
	}
	return line(clean(u.Tool))
}
