package extractive

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/sentence"
)

// statements are what can be said of the work, the most telling first.
func (w *work) statements() factList {
	var all factList
	w.commitFacts(&all)
	w.runFacts(&all)
	w.fileFacts(&all)
	w.commentFacts(&all)
	w.otherFacts(&all)
	slices.SortStableFunc(all, func(a, b fact) int { return cmp.Compare(b.rank, a.rank) })
	return all
}

// facts are the n most telling statements about the work, best first, without what the subtitle says.
func (w *work) facts(n int, subtitle string) []string {
	list := make([]string, 0, n)
	for _, f := range w.statements() {
		if f.why != "" && f.why == subtitle {
			f.text = f.bare
		}
		if len(list) < n && f.text != "" {
			list = addOnce(list, f.text)
		}
	}
	return list
}

// subtitle is what says why, or of what to beware, in a commit's message or in a file that was written; else the outline.
func (w *work) subtitle() string {
	var all factList
	w.commitFacts(&all)
	w.commentFacts(&all)
	for _, f := range all {
		if f.why != "" {
			return f.why
		}
	}
	return w.outline()
}

// said are the n most telling statements without what was printed: words for titles and narratives, which sessions to come are told.
func (w *work) said(n int) []string {
	var list []string
	for _, f := range w.statements() {
		if len(list) < n {
			list = addOnce(list, f.withoutOutput)
		}
	}
	return list
}

func (w *work) commitFacts(to *factList) {
	for _, m := range w.commits {
		switch {
		case m.inOtherFolder && m.hash == "":
		case m.hash == "":
			to.explain(rankCommit, "Committed: "+m.subject, m.why())
		case m.inOtherFolder:
			to.add(rankRan, "Commit %s in another folder: %s", m.hash, m.subject)
		case m.amends:
			to.explain(rankCommit, "Commit "+m.hash+" (amended): "+m.subject, m.why())
		default:
			to.explain(rankCommit, "Commit "+m.hash+": "+m.subject, m.why())
		}
	}
}

// why is what stands below the subject, or "".
func (m commit) why() string {
	if m.reason == "" {
		return ""
	}
	return messageSays + "“" + m.reason + "”"
}

func (w *work) fileFacts(to *factList) {
	w.removalFacts(to)
	for _, p := range w.restored[:min(len(w.restored), maxNamed)] {
		to.add(rankRan, "Edited %s, and put back what it was", w.show(p))
	}
	if len(w.files) > maxNamed-2 {
		w.filesFact(to, "Created", func(f *file) bool { return f.created })
		w.filesFact(to, "Edited", func(f *file) bool { return !f.created })
		return
	}
	for _, f := range w.files {
		verb := "Edited"
		if f.created {
			verb = "Created"
		}
		by := ""
		if f.subagent != "" {
			by = " (by subagent " + line(clean(f.subagent)) + ")"
		}
		to.add(rankFiles, "%s %s%s%s", verb, w.show(f.path), f.size(), by)
	}
}

// removalFacts name what was removed of that which was read or changed before; the rest was scratch.
func (w *work) removalFacts(to *factList) {
	for _, r := range w.runs {
		if r.step.words[0] != "rm" || r.runOutcome != passed {
			continue
		}
		for _, p := range r.step.words[1:] {
			if p = absolute(w.cwd, p); w.handled(p) {
				to.add(rankFiles, "Removed %s", w.show(p))
			}
		}
	}
}

// handled tells whether the file p, or one in the folder p, was read or changed.
func (w *work) handled(p string) bool {
	return slices.ContainsFunc(w.reads, func(f string) bool { return under(f, p) }) ||
		slices.ContainsFunc(w.files, func(f *file) bool { return under(f.path, p) })
}

// size says how much of f was changed.
func (f *file) size() string {
	switch {
	case f.created && f.plus > 0:
		return fmt.Sprintf(" (%d lines)", f.plus)
	case f.created:
		return ""
	case f.plus+f.minus > 0:
		return fmt.Sprintf(" (%s, +%d -%d lines)", number.Plural(f.edits, "edit"), f.plus, f.minus)
	}
	return " (" + number.Plural(f.edits, "edit") + ")"
}

func (w *work) filesFact(to *factList, verb string, want func(*file) bool) {
	var names []string
	for _, f := range w.files {
		if want(f) {
			names = append(names, w.show(f.path))
		}
	}
	if len(names) > 0 {
		to.add(rankFiles, "%s %s: %s", verb, number.Plural(len(names), "file"), enumerate(names, maxNamed))
	}
}

func (w *work) otherFacts(to *factList) {
	for _, c := range w.askCalls {
		if q := titleText(c.target); q != "" && c.report != "" {
			to.add(rankAnswer, "Asked “%s”, answered “%s”", q, cut(line(clean(c.report)), maxTitle))
		} else if q != "" {
			to.add(rankAnswer, "Asked “%s”", q)
		}
	}
	w.reportFacts(to)
	if len(w.uncommitted) > 0 {
		to.add(rankUncommitted, "Left uncommitted: %s", enumerate(w.uncommitted, maxNamed))
	}
	open := 0
	for _, t := range w.todos {
		if s := line(clean(t.text)); !t.done && s != "" && open < 4 {
			open++
			to.add(rankTodo, "[ ] %s", cut(s, maxProblem))
		}
	}
	if len(w.fetches) > 0 {
		to.add(rankFetched, "Looked up on the web: %s", enumerate(cleanAll(w.fetches), maxNamed))
	}
	for _, s := range w.servers {
		to.add(rankServer, "Called the MCP server %s: %s", line(clean(s.name)), enumerate(cleanAll(s.tools), maxNamed))
	}
	if len(w.emptySearches) > 0 {
		to.add(rankEmptySearch, "Searched for, and found nothing: %s", enumerate(cleanAll(w.emptySearches), maxNamed))
	}
	if len(w.searches) > 0 {
		to.add(rankSearched, "Searched for: %s", enumerate(cleanAll(w.searches), maxNamed))
	}
	w.refusals(to)
}

// refusals tells of the last failures of calls that are no commands, if nothing of their kind came to be after all.
func (w *work) refusals(to *factList) {
	for i := len(w.failures) - 1; i >= max(0, len(w.failures)-2); i-- {
		c := w.failures[i]
		if c.action == actionRead || c.action == actionSearch || c.action == actionServer || c.action == actionFetch || c.action == actionEdit && len(w.files) > 0 || c.action == actionTask && len(w.reports) > 0 {
			continue
		}
		rank := rankRefused
		if c.action == actionEdit {
			rank = rankOpen
		}
		if p := firstLine(c.output); p != "" {
			to.quote(rank, line(clean(c.tool))+" failed", ": "+p, "")
		}
	}
}

// failedEdit is the error of the last edit that failed, with the tool's name.
func (w *work) failedEdit() string {
	for _, c := range slices.Backward(w.failures) {
		if p := firstLine(c.output); p != "" && c.action == actionEdit {
			return line(clean(c.tool)) + " failed: " + p
		}
	}
	return ""
}

// reportFacts say what subagents were for, and what each reported; of those that reported nothing, how many calls
// those of one name made together.
func (w *work) reportFacts(to *factList) {
	var mute []string
	calls := map[string]int{}
	for _, r := range w.reports {
		who := r.name()
		if said := r.said(); said != "" {
			to.quote(rankReport, who+" reported", ": "+said, "")
		} else if r.calls > 0 {
			mute = addOnce(mute, who)
			calls[who] += r.calls
		}
	}
	for _, who := range mute {
		to.add(rankMute, "%s made %s", who, number.Plural(calls[who], "tool call"))
	}
}

// name says which subagent it was, and what for.
func (r *report) name() string {
	who := "Subagent"
	if kind := line(clean(r.kind)); kind != "" {
		who += " " + kind
	}
	if task := line(clean(r.task)); task != "" {
		who += " (" + cut(task, maxTitle) + ")"
	}
	return who
}

// said is the gist of a report: its passage that tells most, or else its first heading with what stands under it, because what stands
// before it is the way to it; of a report without headings, its opening.
func (r *report) said() string {
	best := finding{}
	for _, f := range findingsIn(r.text, r.task, priorCalls{}) {
		if f.weight > best.weight {
			best = f
		}
	}
	if best.text != "" {
		return lead(line(best.text), maxFact*2/3)
	}
	all := blocks(unwrap(clean(r.text), false))
	for i, b := range all {
		if b.shape != heading || !sentence.Telling(b.text) {
			continue
		}
		if under := opening(all[i+1:], maxFact/2); under != "" {
			return cut(trimTitle(b.text), maxTitle) + ": " + under
		}
		return cut(trimTitle(b.text), maxTitle)
	}
	return opening(all, maxFact/2)
}
