package extractive

import (
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/sentence"
)

// kind is the type of the observation, by the table in the package comment.
func (w *work) kind(request string) string {
	named := w.committedAs()
	switch n := len(w.files); {
	case w.fixed() || w.mended(request):
		return observer.TypeBugfix
	case named != "":
		return named
	case n > 0 && 2*w.createdCount() >= n && !w.documents():
		return observer.TypeFeature
	case w.moves():
		return observer.TypeRefactor
	case n > 0 || w.settled():
		return observer.TypeChange
	case len(w.askCalls) > 0:
		return observer.TypeDecision
	}
	return observer.TypeDiscovery
}

// fixed tells whether something failed before any file but tests was changed, and passed after a change. What fails
// later was broken by this very work.
func (w *work) fixed() bool {
	if len(w.changingCalls) == 0 || 2*w.createdCount() > len(w.files) {
		return false
	}
	for _, r := range w.runs {
		if r.runOutcome == failed && !r.step.onlyReads() && r.callIndex < w.firstChange && w.passedAfterChange(r) {
			return true
		}
	}
	return false
}

// mended tells whether the person told of a failure, half of the changed files or more were there before, not all of them documents or
// tests, and no failure stood at the end.
func (w *work) mended(request string) bool {
	if w.firstChange == noCall || 2*w.createdCount() > len(w.files) || w.documents() || !sentence.ReportsFailure(clean(request)) {
		return false
	}
	return !slices.ContainsFunc(w.runs, func(r run) bool {
		return r.runOutcome == failed && !r.step.onlyReads() && w.laterEnd(r) != passed
	})
}

// committedAs is the type that the subject of the first commit of this work names, as conventional commits do; or "".
func (w *work) committedAs() string {
	subjects := w.subjects()
	if len(subjects) == 0 {
		return ""
	}
	kind, _, ok := strings.Cut(subjects[0], ":")
	kind, _, _ = strings.Cut(strings.TrimSuffix(kind, "!"), "(")
	switch kind = strings.ToLower(kind); {
	case !ok:
		return ""
	case kind == "fix" || kind == "hotfix" || kind == "bugfix":
		return observer.TypeBugfix
	case kind == "feat" || kind == "feature":
		return observer.TypeFeature
	case kind == "refactor":
		return observer.TypeRefactor
	}
	return ""
}

// isTestFile is for the file names and folders in which tests are kept.
func isTestFile(p string) bool {
	base := strings.ToLower(path.Base(p))
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, mark := range []string{"test", "tests", "spec"} {
		if stem == mark || strings.HasPrefix(stem, mark+"_") || strings.HasSuffix(stem, "_"+mark) ||
			strings.HasSuffix(stem, "."+mark) || strings.HasSuffix(stem, "-"+mark) {
			return true
		}
	}
	dir := "/" + strings.ToLower(path.Dir(p)) + "/"
	return strings.Contains(dir, "/test/") || strings.Contains(dir, "/tests/") || strings.Contains(dir, "/__tests__/") ||
		strings.Contains(dir, "/spec/") || strings.Contains(dir, "/testdata/")
}

// passedAfterChange tells whether r's family passed behind the first change that followed r.
func (w *work) passedAfterChange(r run) bool {
	next, _ := slices.BinarySearch(w.changingCalls, r.callIndex+1)
	if next == len(w.changingCalls) {
		return false
	}
	return slices.ContainsFunc(w.runs, func(later run) bool {
		return later.runOutcome == passed && later.callIndex > w.changingCalls[next] && akin(later.family, r.family)
	})
}

// moves tells whether files were moved.
func (w *work) moves() bool {
	for _, f := range w.files {
		if w.replaces(f) {
			return true
		}
	}
	return w.moved
}

// documents tells whether all the changed files are prose.
func (w *work) documents() bool {
	for _, f := range w.files {
		if !isProse(f.path) {
			return false
		}
	}
	return true
}

// settled tells whether the repository was changed without a file being edited.
func (w *work) settled() bool {
	if len(w.commits) > 0 {
		return true
	}
	return slices.ContainsFunc(w.runs, func(r run) bool { return r.runOutcome != failed && r.step.settles() })
}

// concepts are the mode's concepts that follow from what was done.
func (w *work) concepts(kind string) []string {
	var all []string
	if len(w.files) > 0 || w.settled() {
		all = append(all, observer.ConceptWhatChanged)
	}
	for _, r := range w.runs {
		if r.runOutcome == failed && !r.step.onlyReads() && w.laterEnd(r) == passed {
			all = append(all, observer.ConceptProblemSolution)
			break
		}
	}
	switch kind {
	case observer.TypeDiscovery:
		all = append(all, observer.ConceptHowItWorks)
	case observer.TypeDecision:
		all = append(all, observer.ConceptTradeOff)
	}
	return all
}
