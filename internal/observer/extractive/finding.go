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
	// maxFindings is how many findings of one purpose an answer comes to, the weightiest: a long search finds many causes, of which the later
	// ones refute the earlier.
	maxFindings = 3

	// maxFinding is how long a finding is in runes: some sentences.
	maxFinding = 420

	// minLetters is how many letters (see sentence.Letters) a finding has that stands alone: in English about 160 characters. Of 27 shorter
	// ones of real sessions a reader who knew nothing of them found three of use: the others are steps on the way.
	minLetters = 120

	// minKeptWeight is the weight from which a sentence is kept, and those beside it.
	minKeptWeight = 3

	// minAnswerWeight is the weight from which a sentence makes a short answer worth keeping: somebody asked.
	minAnswerWeight = 2
)

// leanRank is by how much a sentence lags behind others as what a finding is called by that speaks of the one before it.
const leanRank = sentence.PurposeBonus + 1

// finding is something that the agent said on its way: sentences that stand together in one text, quoted.
type finding struct {
	text         string
	best         string // the weightiest sentence of it
	bestHead     string // the line that announces the list in which best is an item; empty: it is none
	weight       int    // the most that a sentence of it weighs
	bestRank     int    // of best: its weight, less where it speaks of the sentence before it
	purpose      sentence.Purpose
	open         bool     // a list goes on
	head         string   // the line that announces that list
	agreed       bool     // it says why the person is right
	names        []string // what it names, and its figures that a call before it printed
	firstCall    int      // it was said behind the calls from this one on
	lastCall     int      // and before the next one
	failed       string   // the failure that it was said behind, as a fact; empty: none
	evidenceLine string   // a line that a call before it printed, as a fact; empty: none
	laterChange  string   // what was done after it to what it speaks of: "cart.go was changed"; empty: nothing
	then         string   // what else was changed after it
}

// talk is the observation of an answer without a tool call. It is false where the answer says nothing that is worth keeping.
func (p *Provider) talk(prompt observer.Prompt) (observer.Observation, bool) {
	if !slices.ContainsFunc(prompt.Inputs, func(in observer.Input) bool { _, ok := in.Event.(events.AgentStopped); return ok }) {
		return observer.Observation{}, false
	}
	best := heaviest(prompt)
	o, message := best.observation(), messageBlocks(prompt.Message)
	if said, _ := achieved(message, false); said != "" && sentence.Holds(best.best, sentence.Offer) { // what waits for the person's word says less
		o.Title = said
	}
	o.Narrative = answerText(message, maxNarrative)
	return o, best.weight >= minAnswerWeight
}

// heaviest is the passage of an answer that says most, if one makes an answer worth keeping.
func heaviest(prompt observer.Prompt) (best finding) {
	for _, f := range passages(prompt.Message, reading{requestText: strings.ToLower(prompt.Request), minWeight: minAnswerWeight}) {
		if f.weight > best.weight {
			best = f
		}
	}
	return best
}

// findings are what was said between the calls that is worth keeping, in its order. What the last message says too is left
// out, and so is what the observation of the answer says, which is outcome, and a guess: the agent says later what came of it.
func (w *work) findings(prompt observer.Prompt, outcome string) []finding {
	told := append(sentencesOf(prompt.Message), outcome)
	var all []finding
	calls := 0
	for i, s := range prompt.Said {
		before := calls
		for calls < len(w.callTimes) && !w.callTimes[calls].After(s.At) {
			calls++
		}
		since := priorCallsOf(prompt, i)
		for _, f := range findingsIn(s.Text, prompt.Request, since) {
			if !slices.ContainsFunc(told, func(t string) bool { return says(t, f.best) }) {
				f.failed, f.evidenceLine = since.failure, w.bearing(since.own, f)
				f.firstCall, f.lastCall, f.names = before, calls, namesIn(f.text, since.own)
				if f.failed != "" && w.overcame(calls) {
					f.failed += passedAfter
				}
				all = append(all, f)
				told = append(told, f.best)
			}
		}
	}
	all = w.joined(w.standing(all, outcome))
	order := make(map[string]int, len(all))
	for i, f := range all {
		order[f.best] = i
	}
	slices.SortStableFunc(all, func(a, b finding) int { return cmp.Compare(b.weight, a.weight) })
	n := map[sentence.Purpose]int{}
	all = slices.DeleteFunc(all, func(f finding) bool {
		n[f.purpose]++
		return n[f.purpose] > maxFindings
	})
	w.markOutdated(all)
	files := w.fileChanges()
	for i := range all {
		all[i].then = w.then(all[i].lastCall, files)
	}
	slices.SortFunc(all, func(a, b finding) int { return cmp.Compare(order[a.best], order[b.best]) })
	return gathered(all)
}

// gathered puts what is too short to stand alone together with what was found before or behind it, where both hold at the same time.
func gathered(all []finding) []finding {
	kept := all[:0]
	for _, f := range all {
		n := len(kept)
		if n > 0 && (kept[n-1].isShort() || f.isShort()) && kept[n-1].laterChange == f.laterChange && kept[n-1].joins(f) {
			kept[n-1].join(f)
		} else {
			kept = append(kept, f)
		}
	}
	return kept
}

func (f *finding) isShort() bool { return sentence.Letters(f.text) < minLetters }

// maxJoined is how long findings are together that are put into one, in runes.
const maxJoined = 2 * maxFinding

// joined puts findings together between which the answer changed no file: they are the steps in which the agent came to know one thing.
// What was chosen, and what another failure or another output bears out, stands alone.
func (w *work) joined(all []finding) []finding {
	kept := all[:0]
	for _, f := range all {
		if n := len(kept); n > 0 && kept[n-1].joins(f) && !w.changedBetween(kept[n-1].lastCall, f.lastCall) {
			kept[n-1].join(f)
		} else {
			kept = append(kept, f)
		}
	}
	return kept
}

// overcame reports whether what failed in a call passed after a change.
func (w *work) overcame(at int) bool {
	return slices.ContainsFunc(w.runs, func(r run) bool { return r.callIndex == at && r.runOutcome == failed && w.passedAfterChange(r) })
}

// changedBetween reports whether a call behind from, to the one to, changed a file.
func (w *work) changedBetween(from, to int) bool {
	i, _ := slices.BinarySearch(w.changingCalls, from+1)
	return i < len(w.changingCalls) && w.changingCalls[i] <= to
}

// joins reports whether next, said behind f, may be put into one with it.
func (f *finding) joins(next finding) bool {
	return f.purpose != sentence.Decision && next.purpose != sentence.Decision && (f.failed == "" || next.failed == "") &&
		(f.evidenceLine == "" || next.evidenceLine == "") && runes(f.text)+runes(next.text) <= maxJoined
}

// join takes next along. Of two sentences that weigh the same the later leads: it says what the agent came to.
func (f *finding) join(next finding) {
	f.text += "\n\n" + next.text
	f.weight = max(f.weight, next.weight)
	if next.bestRank >= f.bestRank {
		f.best, f.bestHead, f.bestRank, f.purpose = next.best, next.bestHead, next.bestRank, next.purpose
	}
	f.agreed, f.lastCall, f.then = f.agreed || next.agreed, next.lastCall, next.then
	f.names = append(f.names, next.names...)
	f.failed, f.evidenceLine = cmp.Or(f.failed, next.failed), cmp.Or(f.evidenceLine, next.evidenceLine)
}

// findingsIn are the passages of one text that are worth keeping: those with a sentence that weighs enough, and what stands beside it
// in its paragraph, and in the list below that, but for announcements and questions. What the calls before printed bears out.
func findingsIn(text, asked string, b priorCalls) []finding {
	return passages(text, reading{requestText: strings.ToLower(asked), prior: b, minWeight: minKeptWeight, dropGuesses: true})
}

// passages are the findings of a text as r is set up to read it.
func passages(text string, r reading) []finding {
	all := unlabelled(blocks(unwrap(clean(text), false)))
	for i, b := range all {
		switch b.shape {
		case paragraph:
			r.end()
			r.paragraph(b, all[i+1:])
		case item:
			r.item(b)
		default:
			r.end()
		}
	}
	r.end()
	return r.all
}

// reading is a text that is being read for findings.
type reading struct {
	prior       priorCalls
	minWeight   int  // the least weight
	dropGuesses bool // guesses are left out
	all         []finding
	current     finding
	agreed      bool    // the sentence at hand says why the person is right
	requestText string  // what the person wrote
	skipsItems  bool    // the list at hand is of plans, or of options
	openOptions finding // options that were weighed, until it is said which was taken
}

// end ends the passage at hand, and keeps it if it is worth it. It announces no list of which no item was taken along.
func (r *reading) end() {
	r.current.text = strings.TrimRight(r.current.text, ":：")
	if r.current.weight >= r.minWeight {
		r.all = append(r.all, r.current)
	}
	r.current, r.skipsItems = finding{}, false
}

// paragraph reads one, which behind follows. What ends with a colon where nothing does leads to what the agent does next, and is half a
// sentence without it.
func (r *reading) paragraph(b block, behind []block) {
	for rest := b.marked(); rest != ""; {
		var s string
		s, rest = sentence.First(rest)
		r.agreed = sentence.Consents(s)
		s = sentence.Unannounced(s)
		if r.dropGuesses {
			s = sentence.Unplanned(sentence.Unguessed(s))
		}
		switch head := strings.TrimRight(s, " :："); {
		case head == s:
			r.sentence(s, " ")
		case sentence.PurposeOf(head) == sentence.Announce:
			r.end()
			r.skipsItems = true
		case sentence.PurposeOf(head) == sentence.Menu:
			r.end()
			r.skipsItems, r.openOptions = true, finding{text: s}
		case strings.TrimSpace(rest) == "" && len(behind) > 0:
			r.lead(s, head, behind[0].shape == item)
		}
	}
}

// lead reads the line s, which is head and a colon, that announces what follows it. Before a list the colon stays: by it the list is known
// as what the line says, and as a guess where the line is one.
func (r *reading) lead(s, head string, list bool) {
	r.sentence(head, " ")
	if list {
		if !strings.HasSuffix(r.current.text, head) {
			r.current.text = strings.TrimSpace(r.current.text + " " + head)
		}
		r.current.text += strings.TrimSpace(s[len(head):])
		r.current.head = head
	}
	r.current.open = r.current.text != ""
}

// itemMark stands before an item of a list.
const itemMark = "\n- "

// item takes an item of a list along with the passage that announces it, or with the items before it.
func (r *reading) item(b block) {
	text := b.marked()
	switch {
	case r.openOptions.text != "" && r.skipsItems:
		if runes(r.openOptions.text)+runes(text) < maxFinding {
			r.openOptions.text += itemMark + text
		}
		return
	case r.skipsItems:
		return
	case !r.current.open:
		r.end()
		r.current.open = true
	}
	mark := itemMark
	for rest := text; rest != ""; mark = " " {
		var s string
		if s, rest = sentence.First(rest); r.dropGuesses {
			s = sentence.Unplanned(s)
		}
		r.sentence(s, mark)
	}
}

// sentence takes one along, behind mark. One that chooses takes the options along that were weighed before it.
func (r *reading) sentence(s, mark string) {
	weight, p := sentence.Weigh(s, r.bornOut(s))
	switch {
	case p == sentence.Announce || r.dropGuesses && sentence.Holds(s, sentence.Hedge):
		if mark == " " {
			r.end()
		}
		return
	case !sentence.Telling(s):
		return
	case r.current.text != "" && runes(r.current.text)+runes(s) > maxFinding:
		open, head := r.current.open, r.current.head
		r.end()
		if r.current.open = open; head != "" && runes(head) <= maxTitle/2 { // what the list goes on with is of that line too
			r.current.text, r.current.head = head+":", head
		}
	}
	if r.current.text == "" {
		mark = ""
	}
	r.current.agreed = r.current.agreed || r.agreed
	r.current.text += mark + s
	r.current.weight = max(r.current.weight, weight)
	rank := weight
	if sentence.LeansBack(s) {
		rank = max(min(1, weight), weight-leanRank)
	}
	if rank > r.current.bestRank {
		r.current.best, r.current.bestHead, r.current.bestRank, r.current.purpose = s, "", rank, p
		if mark == itemMark {
			r.current.bestHead = r.current.head
		}
	}
	if p == sentence.Decision && r.openOptions.text != "" {
		r.current.text += "\n\n" + r.openOptions.text
		r.openOptions = finding{}
	}
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
		if w = strings.TrimFunc(w, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }); len(w) > 3 {
			words++
			if strings.Contains(strings.ToLower(other), w) {
				found++
			}
		}
	}
	return words > 0 && 5*found >= 4*words
}

// observation is f as an observation of its own.
func (f finding) observation() observer.Observation {
	best, text := f.best, f.text
	if f.bestHead != "" && runes(f.bestHead) <= maxTitle/2 {
		best = f.bestHead + ": " + best
	}
	if f.laterChange != "" {
		best, text = sentence.Dated(best, f.laterChange), sentence.Dated(text, f.laterChange)
	}
	o := observer.Observation{Type: observer.TypeDiscovery, Title: trimTitle(cut(plain(best), maxTitle))}
	o.Subtitle = f.then
	switch f.purpose {
	case sentence.Decision:
		o.Type, o.Concepts = observer.TypeDecision, []string{observer.ConceptTradeOff}
	case sentence.Cause, sentence.Fix:
		o.Concepts = []string{observer.ConceptProblemSolution}
	case sentence.Gotcha:
		o.Concepts = []string{observer.ConceptGotcha}
	}
	if said := plain(text); said != o.Title && said != o.Title+"." {
		o.Narrative = text
	}
	_, line, _ := strings.Cut(f.evidenceLine, ": ")
	for _, s := range []string{f.failed, f.evidenceLine} {
		if s != "" && (s != f.evidenceLine || !strings.Contains(f.failed, line)) {
			o.Facts = append(o.Facts, cut(s, maxFact))
			o.Narrative = text // what was printed is a fact alone
		}
	}
	return o
}
