package extractive

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/internal/sentence"
)

// markOutdated marks findings about a state that a later call of the same answer changed. A call changes it if it takes a word that
// the finding names out of a file, puts a word in the place of one, or removes a file that the finding names. Words that a call had put
// there since do not count, nor do files that are again what they were. A decision, or what was done, is no state. Each of
// w.edits is looked at once a finding, of which there are maxFindings of each purpose.
func (w *work) markOutdated(all []finding) {
	words := make([]map[string]map[string]int, len(w.edits))
	for i := range all {
		f := &all[i]
		if f.purpose == sentence.Decision || f.purpose == sentence.Fix || sentence.Holds(f.best, sentence.Done) {
			continue
		}
		state := findingNames(slices.DeleteFunc(slices.Clone(f.names), func(name string) bool { return unicode.IsDigit(rune(name[0])) }))
		from, _ := slices.BinarySearchFunc(w.edits, f.lastCall+1, func(e edit, at int) int { return e.callIndex - at })
		for j := from; j < len(w.edits) && f.laterChange == ""; j++ {
			e := w.edits[j]
			if words[j] == nil && e.made != nil {
				words[j] = e.made.Rewritten()
			}
			f.laterChange = state.outdatedBy(e, words[j], w.restored)
		}
	}
}

// findingNames is what a finding names, but for what was put there since.
type findingNames []string

// outdatedBy says what e did to the first of its files that holds what s names; words tell of each how many more of each word stand there. It
// passes over files that e made, which were not there to speak of, and those that are undone. Empty: it did nothing to s.
func (s *findingNames) outdatedBy(e edit, words map[string]map[string]int, undone []string) string {
	for _, file := range e.files {
		named := slices.ContainsFunc(*s, func(name string) bool { return strings.HasSuffix("/"+file, "/"+name) })
		switch {
		case e.created || slices.Contains(undone, file):
		case e.made == nil && named:
			return path.Base(file) + sentence.Removed
		case e.made != nil && s.rewritten(words[file]):
			return path.Base(file) + sentence.Changed
		}
	}
	return ""
}

// rewritten reports whether one of s's names was taken out of a file, or put where another stood. It forgets those that were put there.
func (s *findingNames) rewritten(words map[string]int) bool {
	removed, kept, added := false, false, false
	*s = slices.DeleteFunc(*s, func(name string) bool {
		n, there := words[name]
		removed, kept, added = removed || n < 0, kept || there && n == 0, added || n > 0
		return n > 0
	})
	return removed || kept && added
}

// maxThen is how many files of a kind, and how many commands, are named that changed something behind a finding.
const maxThen = 3

// fileChange is a file, by its last name, that a call changed or removed.
type fileChange struct {
	callIndex int
	name      string
	removed   bool
}

// fileChanges are those of all calls, without files that are again what they were. What was removed and neither read nor changed before was
// scratch.
func (w *work) fileChanges() (list []fileChange) {
	restored := map[string]bool{}
	for _, file := range w.restored {
		restored[file] = true
	}
	for _, e := range w.edits {
		for _, file := range e.files {
			if removed := e.made == nil; !restored[file] && (!removed || w.handled(file)) {
				list = append(list, fileChange{e.callIndex, path.Base(w.show(file)), removed})
			}
		}
	}
	return list
}

// then says what calls behind the one at a place changed and removed: files, and by which of its commands git's records. Empty: nothing.
func (w *work) then(at int, files []fileChange) string {
	var changed, removed, commands []string
	became := map[string]fileChange{} // the last of each name that is not named yet
	for _, f := range files {
		if f.callIndex > at {
			became[f.name] = f
		}
	}
	for _, f := range files {
		end, unnamed := became[f.name]
		delete(became, f.name)
		switch {
		case !unnamed:
		case end.removed:
			removed = append(removed, f.name)
		default:
			changed = append(changed, f.name)
		}
	}
	for _, r := range w.runs {
		if r.callIndex > at && r.runOutcome != failed && r.step.settles() {
			commands = addOnce(commands, "`git "+r.step.sub(1)+"`")
		}
	}
	var parts []string
	if len(changed) > 0 {
		parts = append(parts, enumerate(changed, maxThen)+" changed")
	}
	if len(removed) > 0 {
		parts = append(parts, enumerate(removed, maxThen)+" removed")
	}
	if len(commands) > 0 {
		parts = append(parts, enumerate(commands, maxThen))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Then: " + strings.Join(parts, "; ")
}
