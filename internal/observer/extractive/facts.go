package extractive

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	maxFact    = 300 // graphemes
	maxShown   = 140 // of a command
	maxProblem = 160 // of an error
	maxNamed   = 6   // files named in one fact
	maxPlain   = 4   // commands that simply went well
)

// The ranks of facts: what a person would look for first.
const (
	rankCommit   = 100
	rankTest     = 90
	rankOpen     = 85 // a failure that stayed
	rankAnswer   = 80
	rankSolved   = 75 // a failure that was overcome
	rankFiles    = 70
	rankReport   = 65
	rankTodo     = 60
	rankPush     = 55
	rankFetched  = 40
	rankRan      = 30
	rankServer   = 25
	rankSearched = 20
	rankRefused  = 10 // a failed call that is no command
)

// searchedFor begins the fact that names searches; a summary tells it again.
const searchedFor = "Searched for: "

// passedLater and passedAfter end the fact about a failure that did not stay; a summary knows it by them.
const (
	passedLater = "; passed later"
	passedAfter = "; passed after changes"
)

type fact struct {
	rank int
	text string
}

// facts are the n most telling statements about the work, best first.
func (w *work) facts(n int) []string {
	var all []fact
	add := func(rank int, format string, args ...any) {
		all = append(all, fact{rank, cut(line(fmt.Sprintf(format, args...)), maxFact)})
	}
	w.commitFacts(add)
	w.runFacts(add)
	w.fileFacts(add)
	w.otherFacts(add)
	slices.SortStableFunc(all, func(a, b fact) int { return cmp.Compare(b.rank, a.rank) })
	list := make([]string, 0, n)
	for _, f := range all {
		if len(list) < n && !slices.Contains(list, f.text) {
			list = append(list, f.text)
		}
	}
	return list
}

type adder = func(rank int, format string, args ...any)

func (w *work) commitFacts(add adder) {
	for _, m := range w.commits {
		switch {
		case m.outside:
			add(rankRan, "Commit %s in another folder: %s", m.hash, m.subject)
		case m.amends:
			add(rankCommit, "Commit %s (amended): %s", m.hash, m.subject)
		default:
			add(rankCommit, "Commit %s: %s", m.hash, m.subject)
		}
	}
}

// runFacts tells of each family of commands how it went: its last failure and what became of it, or its last run.
func (w *work) runFacts(add adder) {
	done, plain := map[string]bool{}, 0
	for i := len(w.runs) - 1; i >= 0; i-- {
		r := w.runs[i]
		if done[r.family] || w.isCommitted(r) {
			continue
		}
		done[r.family] = true
		bad, ok := w.lastFailure(r.family)
		switch {
		case ok && !bad.step.onlyReads():
			w.failureFact(bad, add)
		case !r.step.onlyReads() && (r.test || r.step.IsPush()):
			w.endFact(r, add)
		case !r.step.onlyReads() && !r.step.onlyRemoves() && plain < maxPlain:
			plain++
			w.endFact(r, add)
		}
	}
}

// isCommitted is for commands that facts of their own, or none, stand for.
func (w *work) isCommitted(r run) bool {
	if r.step.words[0] != "git" || r.end == failed {
		return false
	}
	switch r.step.sub(1) {
	case "add", "checkout", "switch", "stash", "init", "restore":
		return true
	case "commit", "cherry-pick", "revert":
		return len(w.commits) > 0
	}
	return false
}

func (w *work) lastFailure(family string) (run, bool) {
	for i := len(w.runs) - 1; i >= 0; i-- {
		if r := w.runs[i]; r.family == family && r.end == failed {
			return r, true
		}
	}
	return run{}, false
}

func (w *work) failureFact(r run, add adder) {
	why := ""
	if r.exit != 0 {
		why = fmt.Sprintf(" (exit %d)", r.exit)
	}
	if p := problem(r.output); p != "" {
		why += ": " + p
	}
	rank, after := rankOpen, ""
	switch w.laterEnd(r) {
	case passed:
		if rank, after = rankSolved, passedLater; w.passedAfterChange(r) {
			after = passedAfter
		}
		if r.test {
			rank = rankTest
		}
	}
	add(rank, "%s failed%s%s", shown(r), why, after)
}

func (w *work) endFact(r run, add adder) {
	rank, verb := rankRan, "Ran %s"
	if r.end == passed {
		verb = "%s succeeded"
	}
	switch {
	case r.test && r.end == passed:
		rank, verb = rankTest, "%s passed"
	case r.test:
		rank, verb = rankTodo, "Ran %s (its end was not reported)"
	case r.step.IsPush():
		rank = rankPush
	}
	add(rank, verb, shown(r))
}

// shown is a command as a fact quotes it.
func shown(r run) string {
	s := line(clean(r.step.Text))
	for _, noise := range []string{" 2>&1", " 2>/dev/null", " >/dev/null", " > /dev/null"} {
		s = strings.ReplaceAll(s, noise, "")
	}
	return "`" + cut(strings.ReplaceAll(s, "`", "'"), maxShown) + "`"
}

// problem is the line of a failed command's output that says most: one that names a place in a file, or else one that
// calls itself an error, or else the last. It is shown, and decides nothing.
func problem(output string) string {
	last, named := "", ""
	for l := range strings.Lines(unwrap(clean(output), false)) {
		l = line(l)
		if sentence.Letters(l) < 4 || strings.HasPrefix(l, "Exit code ") || l[0] == '>' {
			continue
		}
		if namesPlace(l) {
			return cut(l, maxProblem)
		}
		if last = l; named == "" && callsError(l) {
			named = l
		}
	}
	if named == "" {
		named = last
	}
	return cut(named, maxProblem)
}

// callsError is for lines with the words by which programs of any language mark errors.
func callsError(l string) bool {
	l = strings.ToLower(l)
	for _, word := range []string{"error:", "error ", "fatal:", "panic:", "exception:", "failed:"} {
		if strings.Contains(l, word) {
			return true
		}
	}
	return false
}

// namesPlace is for lines such as "main.go:12:3: undefined: x".
func namesPlace(l string) bool {
	name, rest, ok := strings.Cut(l, ":")
	if !ok || path.Ext(name) == "" || strings.Contains(name, " ") {
		return false
	}
	said := strings.TrimLeft(rest, "0123456789:")
	return said != rest && len(said) > 4 && said[0] == ' ' && sentence.Letters(said[:min(len(said), 4)]) > 0
}

func (w *work) fileFacts(add adder) {
	w.removalFacts(add)
	if len(w.files) > maxNamed-2 {
		w.filesFact(add, "Created", func(f *file) bool { return f.created })
		w.filesFact(add, "Edited", func(f *file) bool { return !f.created })
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
		add(rankFiles, "%s %s%s%s", verb, w.show(f.path), f.size(), by)
	}
}

// removalFacts name what was removed of that which was read or changed before; the rest was scratch.
func (w *work) removalFacts(add adder) {
	for _, r := range w.runs {
		if r.step.words[0] != "rm" || r.end != passed {
			continue
		}
		for _, p := range r.step.words[1:] {
			if p = absolute(w.cwd, p); w.handled(p) {
				add(rankFiles, "Removed %s", w.show(p))
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
		return fmt.Sprintf(" (%s, +%d -%d lines)", count(f.edits, "edit"), f.plus, f.minus)
	}
	return " (" + count(f.edits, "edit") + ")"
}

func (w *work) filesFact(add adder, verb string, want func(*file) bool) {
	var names []string
	for _, f := range w.files {
		if want(f) {
			names = append(names, w.show(f.path))
		}
	}
	if len(names) > 0 {
		add(rankFiles, "%s %s: %s", verb, count(len(names), "file"), enumerate(names, maxNamed))
	}
}

func (w *work) otherFacts(add adder) {
	for _, c := range w.asked {
		if q := titleText(c.target); q != "" && c.report != "" {
			add(rankAnswer, "Asked “%s”, answered “%s”", q, cut(line(clean(c.report)), maxTitle))
		} else if q != "" {
			add(rankAnswer, "Asked “%s”", q)
		}
	}
	w.reportFacts(add)
	open := 0
	for _, t := range w.todos {
		if s := line(clean(t.text)); !t.done && s != "" && open < 4 {
			open++
			add(rankTodo, "[ ] %s", cut(s, maxProblem))
		}
	}
	if len(w.fetches) > 0 {
		add(rankFetched, "Looked up on the web: %s", enumerate(cleanAll(w.fetches), maxNamed))
	}
	for _, s := range w.servers {
		add(rankServer, "Called the MCP server %s: %s", line(clean(s.name)), enumerate(cleanAll(s.tools), maxNamed))
	}
	if len(w.searches) > 0 {
		add(rankSearched, searchedFor+"%s", enumerate(cleanAll(w.searches), maxNamed))
	}
	w.refusals(add)
}

// refusals tells of the last failures of calls that are no commands, if nothing of their kind came to be after all.
func (w *work) refusals(add adder) {
	for i := len(w.failures) - 1; i >= max(0, len(w.failures)-2); i-- {
		c := w.failures[i]
		if c.deed == read || c.deed == searched || c.deed == edited && len(w.files) > 0 || c.deed == tasked && len(w.reports) > 0 {
			continue
		}
		rank := rankRefused
		if c.deed == edited {
			rank = rankOpen
		}
		if p := firstLine(c.output); p != "" {
			add(rank, "%s failed: %s", line(clean(c.tool)), p)
		}
	}
}

// refusal is the error of the last edit that failed, with the tool's name.
func (w *work) refusal() string {
	for _, c := range slices.Backward(w.failures) {
		if p := firstLine(c.output); p != "" && c.deed == edited {
			return line(clean(c.tool)) + " failed: " + p
		}
	}
	return ""
}

// reportFacts say what subagents were for, and what each reported; of those that reported nothing, how many calls
// those of one name made together.
func (w *work) reportFacts(add adder) {
	var mute []string
	calls := map[string]int{}
	for _, r := range w.reports {
		who := r.name()
		if said := r.said(); said != "" {
			add(rankReport, "%s reported: %s", who, said)
		} else if r.calls > 0 {
			mute = addOnce(mute, who)
			calls[who] += r.calls
		}
	}
	for _, who := range mute {
		add(rankReport, "%s made %s", who, count(calls[who], "tool call"))
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

// said is the gist of a report: its first heading with what stands under it, because what stands before it is the way
// to it; of a report without headings, its opening.
func (r *report) said() string {
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

// titleText is the first thing that a raw text says.
func titleText(s string) string { return titleOf(blocks(unwrap(clean(s), false))) }

// firstLine is the first line of a raw text that says anything.
func firstLine(s string) string {
	for l := range strings.Lines(unwrap(clean(s), false)) {
		if l = line(l); sentence.Letters(l) >= 4 {
			return cut(l, maxProblem)
		}
	}
	return ""
}

func cleanAll(list []string) []string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = cut(line(clean(s)), maxTitle)
	}
	return all
}

// enumerate names the first n of list and counts the rest.
func enumerate(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
