package extractive

import (
	"fmt"
	"slices"
	"strings"
)

// runFacts tells of each family of commands how it went: how it failed and what became of it, or its last run. Of commands that only
// read it tells failures alone.
func (w *work) runFacts(to *factList) {
	done, plain := map[string]bool{}, 0
	for i := len(w.runs) - 1; i >= 0; i-- {
		r := w.runs[i]
		if done[r.family] || w.isCommitted(r) {
			continue
		}
		done[r.family] = true
		failures := w.failuresOf(r.family)
		for _, bad := range failures {
			w.failureFact(bad, to)
		}
		gists := w.gistsOf(r.family)
		if r.step.onlyReads() || len(failures) > 0 && (len(gists) == 0 || r.runOutcome == failed) {
			continue
		}
		mustBeNamed := r.isTest || r.step.IsPush()
		isStated := false // how the family ended last
		for _, g := range gists {
			isStated = isStated || g.by.runOutcome == r.runOutcome && (!mustBeNamed || shown(g.by) == shown(r))
			w.endFact(g.by, g.String(), to)
		}
		switch {
		case isStated:
		case mustBeNamed:
			w.endFact(r, "", to)
		case !r.step.onlyRemoves() && plain < maxPassedRuns:
			plain++
			w.endFact(r, "", to)
		}
	}
}

// isCommitted is for commands that facts of their own, or none, stand for.
func (w *work) isCommitted(r run) bool {
	if r.step.words[0] != "git" || r.runOutcome == failed {
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

// failuresOf are the last failures of a family, each with an error of its own, the newest first.
func (w *work) failuresOf(family string) (all []run) {
	var seen []string
	for _, r := range slices.Backward(w.runs) {
		if r.family != family || r.runOutcome != failed || len(all) == maxFailures {
			continue
		}
		if p := withoutNumbers(problem(r.output)); !slices.Contains(seen, p) {
			seen, all = append(seen, p), append(all, r)
		}
	}
	return all
}

func (w *work) failureFact(r run, to *factList) {
	why := ""
	if r.exit != 0 {
		why = fmt.Sprintf(" (exit %d)", r.exit)
	}
	p := problem(r.output)
	rank, after := rankOpen, ""
	switch {
	case r.step.onlyReads() && p == "":
		return
	case r.step.onlyReads():
		rank = rankRefused
	case w.laterEnd(r) == passed:
		if rank, after = rankSolved, passedLater; w.passedAfterChange(r) {
			after = passedAfter
		}
		if r.isTest {
			rank = rankTest
		}
	case w.ranBehind(r):
		after = ranLater
	}
	if p != "" {
		p = ": " + p
	}
	to.quote(rank, shown(r)+" failed"+why, p, after)
}

func (w *work) endFact(r run, gist string, to *factList) {
	rank, verb := rankRan, "Ran %s"
	if r.runOutcome == passed {
		verb = "%s succeeded"
	}
	switch {
	case r.isTest && r.runOutcome == passed:
		rank, verb = rankTest, "%s passed"
	case r.isTest && w.laterEnd(r) == unknown:
		rank, verb = rankTodo, "Ran %s (its end was not reported)"
	case r.step.IsPush():
		rank = rankPush
	case gist != "":
		rank = rankPrinted
	}
	if gist != "" {
		gist = printedAfter + gist
	}
	to.quote(rank, fmt.Sprintf(verb, shown(r)), gist, "")
}

// shown is a command as a fact quotes it.
func shown(r run) string { return quoted(r, maxShown+2) }

// quoted is a command in backquotes, which with these has at most n graphemes.
func quoted(r run, n int) string {
	s := line(clean(r.step.Text))
	for _, noise := range []string{" 2>&1", " 2>/dev/null", " >/dev/null", " > /dev/null"} {
		s = strings.ReplaceAll(s, noise, "")
	}
	return "`" + cut(strings.ReplaceAll(s, "`", "'"), n-2) + "`"
}
