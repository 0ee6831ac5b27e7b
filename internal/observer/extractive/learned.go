package extractive

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/sentence"
)

// learned is what discoveries and decisions say, and why other work was done, without what a later request went on with; of
// more than there is room for, what weighs most, and of the same weight the last. Without any observation it is what the agent said. Of an
// observation that says only "Done." its title is, unless that was asked for. Where there is room left it is also what was written about
// the work into files.
func learned(prompt observer.Prompt, message []block) string {
	observed, asked := prompt.Observed, requestTitles(prompt)
	if len(observed) == 0 {
		return answerText(message, maxField)
	}
	var parts []string
	outdated := wentOn(observed)
	last, ended := lastAnswer(observed), -1
	for i, o := range observed {
		n := len(parts)
		switch {
		case o.Type == observer.TypeDecision || isLearned(o) && !outdated[i]:
			said := fromTitle(o)
			if before, _, _ := cutAsking(said, false); o.Type != observer.TypeDecision && len(before) > 0 {
				said = before
			}
			text := unlessShort(narrative(said, maxLearned))
			if title := line(clean(o.Title)); text == "" && !asked[title] {
				text = title
			}
			parts = addOnce(parts, text)
		case !isLearned(o) && !outdated[i]:
			parts = addOnce(parts, reasonIn(o.Narrative))
		}
		if i == last && len(parts) > n {
			ended = n
		}
	}
	parts = weightiest(parts, ended, maxReasons)
	for _, o := range observed {
		for _, f := range append([]string{o.Subtitle}, o.Facts...) {
			said := line(clean(f))
			if all := addOnce(slices.Clone(parts), said); !isLearned(o) && isNote(said) && runes(strings.Join(all, "  ")) <= maxReasons {
				parts = all
			}
		}
	}
	return strings.Join(parts, "\n\n")
}

// reasonIn is the weightiest passage of a narrative that says why, or of what to beware; "" where none does. One that also says what was
// decided, ordered or approved is none: others' words may have led to that.
func reasonIn(text string) string {
	var best finding
	for _, f := range findingsIn(text, "", priorCalls{}) {
		if (f.purpose == sentence.Cause || f.purpose == sentence.Gotcha) && f.weight > best.weight && !sentence.Decides(f.text) {
			best = f
		}
	}
	return lead(best.text, maxLearned)
}

// lastAnswer is the first observation of the last answer, which says how it ended; what was found on the way stands behind it.
func lastAnswer(observed []events.ObservationParsed) int {
	at := len(observed) - 1
	for at > 0 && observed[at-1].Prompt == observed[at].Prompt {
		at--
	}
	return at
}

// weightiest are those of parts that weigh most by their weightiest sentences, in their order, as many as fit into n runes, at least one: that
// with which the work ended, if it is among them.
func weightiest(parts []string, ended, n int) []string {
	weights, byWeight := make([]int, len(parts)), make([]int, len(parts))
	for i, part := range parts {
		byWeight[i] = len(parts) - 1 - i
		for _, s := range sentencesOf(part) {
			weight, _ := sentence.Weigh(s, 0)
			weights[i] = max(weights[i], weight)
		}
	}
	if ended >= 0 {
		weights[ended] = math.MaxInt
	}
	slices.SortStableFunc(byWeight, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	var kept []int
	for _, i := range byWeight {
		if size := runes(parts[i]) + bulletRunes; size <= n || len(kept) == 0 {
			kept, n = append(kept, i), n-size
		}
	}
	slices.Sort(kept)
	var fit []string
	for _, i := range kept {
		fit = append(fit, parts[i])
	}
	return fit
}

// isNote is for what is quoted of comments and documents that were written.
func isNote(said string) bool { return strings.HasPrefix(said, wroteIn) }

// unlessShort is a text that says something by itself; "Done." does not.
func unlessShort(text string) string {
	if sentence.Letters(text) < sentence.MinLetters {
		return ""
	}
	return text
}

// wentOn reports of each observation whether what a later request led to goes on with the same: what was found may hold no longer.
func wentOn(observed []events.ObservationParsed) []bool {
	subjects, outdated := make([]sentence.Subject, len(observed)), make([]bool, len(observed))
	for at, later := range observed {
		subjects[at] = sentence.SubjectOf(append([]string{later.Title, later.Narrative}, later.Facts...), later.FilesRead, later.FilesModified)
		for i, o := range observed[:at] {
			outdated[i] = outdated[i] || o.Prompt < later.Prompt && subjects[i].GoesOn(subjects[at])
		}
	}
	return outdated
}

// fromTitle is what an observation says from the paragraph on that its title is made of, or from the line that announces the title's
// item: what stands before it said less. All of it is, where that does not stand in it.
func fromTitle(o events.ObservationParsed) []block {
	all := blocks(clean(cmp.Or(o.Narrative, o.Title)))
	title, _ := sentence.First(strings.TrimSuffix(clean(o.Title), "…"))
	label, _, labelled := strings.Cut(title, ": ")
	for i, b := range all {
		if b.shape == paragraph && title != "" && (begins(tidy(b.text), title) || labelled && b.leads() && strings.HasPrefix(tidy(b.text), label)) {
			return all[i:]
		}
	}
	return all
}

// begins reports whether a sentence of a text begins with title.
func begins(text, title string) bool {
	for rest := text; rest != ""; {
		var s string
		if s, rest = sentence.First(rest); strings.HasPrefix(s, title) {
			return true
		}
	}
	return false
}

// isLearned is for observations of what is so: nothing was done by them.
func isLearned(o events.ObservationParsed) bool {
	return o.Type == observer.TypeDiscovery || o.Type == observer.TypeDecision
}
