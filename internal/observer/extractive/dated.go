package extractive

import (
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
)

// minStem is the shortest name of a file, in bytes, by which the line that a failed command printed speaks of it.
const minStem = 4

// date marks the findings that tell how things were before a later call of the same answer changed them. That is where the call
//
//   - changed or removed a file that the finding names;
//   - took a word out of one that the finding names, and that no call since had put there;
//   - put one of its words where another of them stood;
//   - changed a file that the failure names behind which the finding was said, and what had failed passed then.
//
// What was chosen is no state, and stays as it was said. Of w.edits each is looked at once a finding, of which there are maxFindings.
func (w *work) date(all []finding) {
	words := make([]map[string]map[string]int, len(w.edits))
	for i := range all {
		f := &all[i]
		if f.purpose == sentence.Decision {
			continue
		}
		overcome := func(r run) bool { return r.at == f.upTo && r.end == failed && w.passedAfterChange(r) }
		state := state{names: slices.Clone(f.names)}
		if slices.ContainsFunc(w.runs, overcome) {
			state.failure = f.failed
			f.failed += passedAfter
		}
		from, _ := slices.BinarySearchFunc(w.edits, f.upTo+1, func(e edit, at int) int { return e.at - at })
		for j := from; j < len(w.edits) && f.since == ""; j++ {
			e := w.edits[j]
			if words[j] == nil && e.made != nil {
				words[j] = e.made.Rewritten()
			}
			f.since = state.ends(e, words[j])
		}
	}
}

// state is what a finding speaks of: names, but for those that were put there since, and the failure behind which it was said.
type state struct {
	names   []string
	failure string
}

// ends says what e did to the first of its files that s speaks of; words tell how many more of each stand there. A file that e made was
// not there to speak of. Empty: it did nothing to s.
func (s *state) ends(e edit, words map[string]map[string]int) string {
	how := " was changed"
	if e.made == nil {
		how = " was removed"
	}
	for _, file := range e.files {
		stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
		fails := e.made != nil && len(stem) >= minStem && strings.Contains(s.failure, stem)
		named := slices.ContainsFunc(s.names, func(name string) bool { return strings.HasSuffix("/"+file, "/"+name) })
		if !e.created && (fails || named || s.rewritten(words[file])) {
			return path.Base(file) + how
		}
	}
	return ""
}

// rewritten reports whether one of s's names was taken out of a file, or put where another stood. It forgets those that were put there.
func (s *state) rewritten(words map[string]int) bool {
	gone, stood, put := false, false, false
	s.names = slices.DeleteFunc(s.names, func(name string) bool {
		n, there := words[name]
		gone, stood, put = gone || n < 0, stood || there && n == 0, put || n > 0
		return n > 0
	})
	return gone || stood && put
}
