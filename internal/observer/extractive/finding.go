package extractive

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	// maxFindings is how many findings one answer comes to, the weightiest.
	maxFindings = 8

	// maxFinding is how long a finding is in runes: some sentences.
	maxFinding = 420

	// keepFrom is the weight from which a sentence is kept, and those beside it.
	keepFrom = 3
)

// finding is something that the agent said on its way: sentences that stand together in one text, quoted.
type finding struct {
	text    string
	best    string // the weightiest sentence of it
	weight  int    // of that one
	purpose sentence.Purpose
	failed  string // the failure that it was said behind, as a fact; empty: none
}

// talk is the observation of an answer without a tool call. It is false where the answer says nothing that is worth keeping.
func (p *Provider) talk(prompt observer.Prompt) (observer.Observation, bool) {
	if !slices.ContainsFunc(prompt.Inputs, func(in observer.Input) bool { _, ok := in.Event.(events.AgentStopped); return ok }) {
		return observer.Observation{}, false
	}
	var best finding
	for _, f := range findingsIn(prompt.Message, false) {
		if f.weight > best.weight {
			best = f
		}
	}
	o := best.observation()
	o.Narrative = narrative(messageBlocks(prompt.Message), p.maxNarrative)
	return o, best.weight >= keepFrom
}

// findings are what was said between the calls that is worth keeping, in its order. What the last message says too is not told
// again.
func (w *work) findings(prompt observer.Prompt) []finding {
	told := sentencesOf(prompt.Message)
	var all []finding
	for _, s := range prompt.Said {
		failure := w.failureBefore(prompt.Inputs, s)
		for _, f := range findingsIn(s.Text, failure != "") {
			if !slices.ContainsFunc(told, func(t string) bool { return says(t, f.best) }) {
				f.failed = failure
				all = append(all, f)
				told = append(told, f.best)
			}
		}
	}
	order := make(map[string]int, len(all))
	for i, f := range all {
		order[f.best] = i
	}
	slices.SortStableFunc(all, func(a, b finding) int { return cmp.Compare(b.weight, a.weight) })
	all = all[:min(len(all), maxFindings)]
	slices.SortFunc(all, func(a, b finding) int { return cmp.Compare(order[a.best], order[b.best]) })
	return all
}

// findingsIn are the runs of sentences of one text that are worth keeping: those with one that weighs enough, and what stands beside
// it in its paragraph but for announcements and questions.
func findingsIn(text string, afterFailure bool) []finding {
	var all []finding
	for _, b := range unlabelled(blocks(unwrap(clean(text), false))) {
		if b.shape != paragraph && b.shape != item {
			continue
		}
		var run finding
		end := func() {
			if run.weight >= keepFrom {
				all = append(all, run)
			}
			run = finding{}
		}
		for rest := tidy(b.text); rest != ""; {
			var s string
			s, rest = sentence.First(rest)
			s = unannouncing(s)
			weight, p := sentence.Weigh(s, afterFailure)
			switch {
			case p == sentence.Announce:
				end()
				continue
			case !sentence.Telling(s):
				continue
			case run.text != "" && runes(run.text)+runes(s) > maxFinding:
				end()
			}
			if run.text = strings.TrimSpace(run.text + " " + s); weight > run.weight {
				run.best, run.weight, run.purpose = s, weight, p
			}
		}
		end()
	}
	return all
}

// unannouncing is what stands behind the dash of a sentence that begins with an announcement, or else the sentence.
func unannouncing(s string) string {
	if sentence.PurposeOf(s) != sentence.Announce {
		return s
	}
	for _, dash := range []string{" - ", " – ", " — "} {
		if _, behind, ok := strings.Cut(s, dash); ok {
			return strings.TrimRight(behind, ":： ")
		}
	}
	return s
}

// sentencesOf are the sentences of a text, apart from code.
func sentencesOf(text string) []string {
	var all []string
	for _, b := range messageBlocks(text) {
		for rest := tidy(b.text); rest != "" && b.shape != code; {
			var s string
			if s, rest = sentence.First(rest); s != "" {
				all = append(all, s)
			}
		}
	}
	return all
}

// says reports whether most words of a sentence stand in another.
func says(other, s string) bool {
	words, found := 0, 0
	for w := range strings.FieldsSeq(strings.ToLower(s)) {
		if w = strings.TrimFunc(w, unicode.IsPunct); len(w) > 3 {
			words++
			if strings.Contains(strings.ToLower(other), w) {
				found++
			}
		}
	}
	return words > 0 && 5*found >= 4*words
}

// failureBefore is the failure of the last call before something was said, as a fact; empty: that one went well.
func (w *work) failureBefore(inputs []observer.Input, s observer.Saying) string {
	last := -1
	for i, in := range inputs {
		if _, ok := in.Event.(events.ToolUsed); ok && !in.At.After(s.At) {
			last = i
		}
	}
	if last < 0 {
		return ""
	}
	c := observeCall(inputs[last].Event.(events.ToolUsed))
	if !c.failed || c.refused || c.deed != ran {
		return ""
	}
	if p := problem(c.output); p != "" {
		return "Said behind a failure: " + p
	}
	return ""
}

// observation is f as an observation of its own.
func (f finding) observation() observer.Observation {
	o := observer.Observation{Type: observer.TypeDiscovery, Title: trimTitle(cut(f.best, maxTitle))}
	switch f.purpose {
	case sentence.Decision:
		o.Type, o.Concepts = observer.TypeDecision, []string{observer.ConceptTradeOff}
	case sentence.Cause, sentence.Fix:
		o.Concepts = []string{observer.ConceptProblemSolution}
	case sentence.Gotcha:
		o.Concepts = []string{observer.ConceptGotcha}
	}
	if f.text != o.Title && f.text != o.Title+"." {
		o.Narrative = f.text
	}
	if f.failed != "" {
		o.Facts = []string{cut(f.failed, maxFact)}
	}
	return o
}
