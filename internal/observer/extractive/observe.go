package extractive

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	// checkEvery is how many inputs are looked at between two looks at the context.
	checkEvery = 32

	// maxFiles is how many files an observation lists, read and modified each: more is a sweep, not work on files.
	maxFiles = 60

	// maxPaths is how many bytes of paths an observation lists, read and modified each.
	maxPaths = 12 << 10

	// minMessageWeight is the weight of the shortest message that is worth an observation without any work to tell of.
	minMessageWeight = 80

	// minLookups is how many reads and searches are worth an observation of what they show.
	minLookups = 4
)

// observe writes an observation of the calls, if they come to anything, or of an answer without calls; one of each thing worth keeping
// that was said between them; and one of each compaction.
func (p *Provider) observe(ctx context.Context, prompt observer.Prompt) ([]observer.Observation, error) {
	w := newWork(prompt.Cwd)
	var compactions []events.ContextCompacted
	for i, in := range prompt.Inputs {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch e := in.Event.(type) {
		case events.ToolUsed:
			c := observeCall(in.Call())
			c.at = in.At
			w.add(c)
		case events.ContextCompacted:
			compactions = append(compactions, e)
		}
	}
	w.settle()
	prompt = w.withLastWords(prompt)
	var list []observer.Observation
	tell := p.talk
	if w.calls > 0 {
		tell = func(prompt observer.Prompt) (observer.Observation, bool) { return p.answer(w, prompt) }
	}
	outcome := ""
	if o, ok := tell(prompt); ok {
		list, outcome = append(list, o), o.Title+"\n"+o.Narrative
	}
	for _, f := range w.findings(prompt, outcome) {
		list = append(list, f.observation())
	}
	for _, c := range compactions {
		if o, ok := p.compaction(c, prompt); ok && len(list) < observer.MaxObservations {
			list = append(list, o)
		}
	}
	return list, nil
}

// withLastWords takes the last thing that was said between the calls for the agent's last words where it has none, since it ended with a
// call or was cut off: a report, and nothing was changed behind it.
func (w *work) withLastWords(prompt observer.Prompt) observer.Prompt {
	n := len(prompt.Said) - 1
	if n < 0 || prompt.Message != "" || !isMessage(messageBlocks(prompt.Said[n].Text)) {
		return prompt
	}
	calls, _ := slices.BinarySearchFunc(w.callTimes, prompt.Said[n].At, func(call, said time.Time) int { return cmp.Or(call.Compare(said), -1) })
	if !w.changedBetween(calls, w.calls) {
		prompt.Message, prompt.Said = prompt.Said[n].Text, prompt.Said[:n]
	}
	return prompt
}

// answer is the observation of one answer of the agent. It is false where nothing happened.
func (p *Provider) answer(w *work, prompt observer.Prompt) (observer.Observation, bool) {
	message := messageBlocks(prompt.Message)
	if !w.isNotable() && !w.lookedFor(message) && !isMessage(message) && heaviest(prompt).weight < minAnswerWeight {
		return observer.Observation{}, false
	}
	kind, subtitle := w.kind(prompt.Request), w.subtitle()
	o := observer.Observation{
		Type:      kind,
		Title:     w.title(requestBlocks(prompt.Request), message),
		Subtitle:  subtitle,
		Narrative: answerText(message, maxNarrative),
		Facts:     w.facts(maxFacts, subtitle),
		Concepts:  w.concepts(kind),
	}
	if s := w.failure(); s != "" && o.Narrative != "" {
		message = w.withoutFailedPaths(message)
		s = lead(s+". "+w.failedEdit(), maxNarrative)
		o.Narrative = strings.TrimSpace(s + "\n\n" + answerText(message, maxNarrative-runes(s)-2))
	}
	if o.Narrative == "" {
		o.Narrative = w.narrate(w.said(maxFacts), maxNarrative)
	}
	o.FilesRead, o.FilesModified = w.paths()
	return o, o.Title != ""
}

// paths are the files that were read and not changed, and those that were changed, as evidence names them.
func (w *work) paths() (read, changed []string) {
	left := maxPaths
	for _, f := range w.files {
		if left -= len(f.path); left >= 0 && len(changed) < maxFiles {
			changed = append(changed, f.path)
		}
	}
	left = maxPaths
	for _, f := range w.reads {
		if left -= len(f); left >= 0 && len(read) < maxFiles && w.byPath[f] == nil {
			read = append(read, f)
		}
	}
	return read, changed
}

// messageBlocks are the blocks of what the agent said. A message that is one listing is read as text.
func messageBlocks(message string) []block {
	all := blocks(unwrap(clean(message), false))
	for _, b := range all {
		if b.shape != code {
			return unlabelled(all)
		}
	}
	var said []block
	for _, b := range all {
		said = append(said, blocks(b.text)...)
	}
	return unlabelled(said)
}

// requestBlocks are the blocks of what the user said, without what the harness put around it, and what they typed before what they pasted.
func requestBlocks(request string) []block {
	return unlabelled(blocks(sentence.TypedFirst(unwrap(clean(request), true))))
}

// isMessage reports whether a message says something of a length, apart from code and from what it only announces.
func isMessage(all []block) bool {
	n := 0
	for _, b := range all {
		for rest := b.text; rest != "" && b.shape != code && n < minMessageWeight; {
			var s string
			s, rest = sentence.First(rest)
			if s = sentence.Unannounced(s); sentence.PurposeOf(s) != sentence.Announce {
				n += sentence.Letters(sentence.Unplanned(s))
			}
		}
	}
	return n >= minMessageWeight
}

// isNotable reports whether the calls alone come to something that a person would look for again.
func (w *work) isNotable() bool {
	heard := slices.ContainsFunc(w.reports, func(r *report) bool { return r.text != "" || r.calls > 0 })
	if len(w.files)+len(w.restored)+len(w.commits)+len(w.askCalls)+len(w.fetches) > 0 || heard || w.moved || w.settled() {
		return true
	}
	for _, r := range w.runs {
		if r.isTest || r.runOutcome == failed && !r.step.onlyReads() {
			return true
		}
	}
	return false
}

// lookedFor reports whether many reads and searches led to a message with code or a table, of which a weight says nothing.
func (w *work) lookedFor(message []block) bool {
	return len(w.reads)+len(w.searches) >= minLookups &&
		slices.ContainsFunc(message, func(b block) bool { return b.shape == code || b.shape == table })
}

// title is whatCame, and what failed last where files were changed: the agent's own words may be silent about it.
func (w *work) title(request, message []block) string {
	s := w.whatCame(request, message)
	if !w.failedLast() {
		return s
	}
	v := " — " + w.verdict(maxTitle/2-runes(failedVerdict))
	return cut(s, maxTitle-runes(v)) + v
}

// whatCame is a new commit's subject, or that every edit failed, or what the agent says came of it; where that speaks of what the user
// asked for, both. Where it does not say, it is what the user asked for, and where that is talk, the files that were changed.
func (w *work) whatCame(request, message []block) string {
	asked := titleOf(request)
	plain := asked
	if chatty(asked) || w.altered() && questions(request, asked) {
		plain = ""
	}
	came, alone := achieved(message, w.altered())
	switch {
	case alone:
		plain = came
	case asked != "" && !chatty(asked) && sentence.LeansBack(came):
		plain = cut(asked+" — "+came, maxTitle)
	}
	for _, s := range []string{w.subject(), w.failure(), plain, came, w.changes(), w.reported(), asked} {
		if s != "" {
			return s
		}
	}
	if said := w.said(1); len(said) > 0 {
		return cut(said[0], maxTitle)
	}
	return cut(w.outline(), maxTitle)
}

// subject is that of the commits, as many as fit from the first on, or the last one alone.
func (w *work) subject() string {
	subjects := w.subjects()
	for i := len(subjects) - 1; i >= 0; i-- {
		if s := strings.Join(subjects[:i+1], "; "); len(s) <= maxTitle {
			return s
		}
	}
	if len(subjects) > 0 {
		return cut(subjects[len(subjects)-1], maxTitle)
	}
	return ""
}

// failure says which files were to be changed where no edit came to pass, nothing else was changed and no command behind
// it names them, or "".
func (w *work) failure() string {
	if w.altered() {
		return ""
	}
	var tried []string
	for _, c := range w.failures {
		for _, p := range c.failedPaths[:min(len(c.failedPaths), maxFiles-min(len(tried), maxFiles))] {
			tried = addOnce(tried, p)
		}
	}
	tried = slices.DeleteFunc(tried, func(p string) bool {
		return slices.ContainsFunc(w.wrote, func(command string) bool { return strings.Contains(command, path.Base(p)) })
	})
	if len(tried) == 0 {
		return ""
	}
	if !slices.ContainsFunc(w.failures, func(c call) bool { return !c.refused }) {
		return cut("The person refused to have "+nameFiles(w.cwd, tried)+" changed", maxTitle)
	}
	return cut("Failed to change "+nameFiles(w.cwd, tried), maxTitle)
}

// withoutFailedPaths is a message without what it says of files that were to be changed and were not.
func (w *work) withoutFailedPaths(message []block) []block {
	return slices.DeleteFunc(message, func(b block) bool {
		return slices.ContainsFunc(w.failures, func(c call) bool {
			return slices.ContainsFunc(c.failedPaths, func(p string) bool { return strings.Contains(b.text, path.Base(p)) })
		})
	})
}

// altered tells whether the work changed files or the repository.
func (w *work) altered() bool { return len(w.files) > 0 || w.moved || w.settled() }

// changes names the files that were changed most, or is "".
func (w *work) changes() string {
	if len(w.files) == 0 {
		return ""
	}
	files := slices.SortedStableFunc(slices.Values(w.files), func(a, b *file) int {
		return cmp.Compare(b.plus+b.minus, a.plus+a.minus)
	})
	verb, paths := "Create ", make([]string, len(files))
	for i, f := range files {
		if paths[i] = f.path; !f.created {
			verb = "Change "
		}
	}
	return cut(verb+nameFiles(w.cwd, paths), maxTitle)
}

// reported is the first task or report of a subagent that says something.
func (w *work) reported() string {
	for _, r := range w.reports {
		if s, _ := title(line(clean(r.task))); s != "" {
			return s
		}
		if s := titleText(r.text); s != "" {
			return s
		}
	}
	return ""
}

// subjects are those of the commits that were made here, for this work, each once. One word that says little ("wip") is none.
func (w *work) subjects() []string {
	var list []string
	for _, m := range w.commits {
		if !m.preexisting && !m.inOtherFolder && (sentence.Telling(m.subject) || strings.Contains(m.subject, " ")) {
			list = addOnce(list, line(m.subject))
		}
	}
	return list
}

// outline counts what was done, in one line.
func (w *work) outline() string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, number.Plural(n, what))
		}
	}
	add(len(w.files), "file")
	if len(parts) > 0 {
		parts[0] += " changed"
		if n := w.createdCount(); n > 0 && n < len(w.files) {
			parts[0] += " (" + number.Plural(n, "new file") + ")"
		} else if n > 0 {
			parts[0] = number.Plural(n, "new file")
		}
	}
	if s := w.verdict(maxShown); s != "" && !w.failedLast() { // which the title says
		parts = append(parts, s)
	}
	here, more := 0, 0 // more files than were changed by edits
	for _, m := range w.commits {
		if !m.inOtherFolder {
			here++
			if m.files > len(w.files) {
				more = m.files
			}
		}
	}
	if add(here, "commit"); here == 1 && more > 0 {
		parts[len(parts)-1] += " of " + number.Plural(more, "file")
	}
	if len(parts) == 0 {
		if n := len(w.reads); n > 0 {
			parts = append(parts, number.Plural(n, "file")+" read")
		}
		add(len(w.searches), "file search")
		add(len(w.fetches), "web look-up")
		add(len(w.runs), "command")
		calls := 0
		for _, s := range w.servers {
			calls += s.calls
		}
		add(calls, "MCP call")
	}
	add(w.subagents(), "subagent")
	if len(parts) == 0 {
		add(w.calls, "tool call")
	}
	return strings.Replace(strings.Join(parts, ", "), "searchs", "searches", 1)
}

// failedLast reports whether work changed files and its verdict is a failure: that of tests, or one behind which no file was changed. What
// was changed behind another command may have mended it, and another one may have shown that.
func (w *work) failedLast() bool {
	r, ok := w.decisive()
	return ok && r.runOutcome == failed && w.altered() && (r.isTest || !slices.ContainsFunc(w.changingCalls, func(call int) bool { return call > r.callIndex }))
}

// failedVerdict ends a verdict of what failed.
const failedVerdict = " failed"

// verdict says how the run that decides ended, or is "". A command is quoted in at most n graphemes.
func (w *work) verdict(n int) string {
	switch r, ok := w.decisive(); {
	case !ok:
		return ""
	case r.isTest && r.runOutcome == passed:
		return "tests passed"
	case r.isTest:
		return "tests" + failedVerdict
	default:
		return quoted(r, n) + failedVerdict
	}
}

// decisive is the last run of tests whose end is known, unless these were run again; where there is none, the command that failed last of
// those that do more than read, clear away and ask once, and did not go well since, of work that changed files.
func (w *work) decisive() (run, bool) {
	for _, r := range slices.Backward(w.runs) {
		if r.isTest && r.runOutcome != unknown && !w.ranBehind(r) {
			return r, true
		}
	}
	if len(w.files) == 0 {
		return run{}, false
	}
	for _, r := range slices.Backward(w.runs) {
		if r.runOutcome == failed && !r.step.onlyReads() && !r.step.onlyRemoves() && !r.step.runsInline() && w.laterEnd(r) != passed && !w.ranBehind(r) {
			return r, true
		}
	}
	return run{}, false
}

// narrate makes a narrative of facts, for answers without a message.
func (w *work) narrate(facts []string, n int) string {
	var b strings.Builder
	for _, f := range facts {
		if b.Len()+len(f) > n {
			break
		}
		b.WriteString(f)
		if !strings.HasSuffix(f, "…") && !strings.HasSuffix(f, ".") {
			b.WriteByte('.')
		}
		b.WriteByte(' ')
	}
	if b.Len() == 0 {
		return lead(w.outline(), n)
	}
	return strings.TrimSpace(b.String())
}
