package recall

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// maxCodeNames is how many names of code of a row count, in the order of its text: a row speaks of a few.
const maxCodeNames = 48

// subject is what an observation speaks of.
type subject struct {
	row   *rows.Row
	names map[string]bool // of code, in code marks
	files map[string]bool // that its work touched, by their names, so that working trees of a project meet
}

// newerWork returns, by the id of an observation, the newest of those that a later request led to and that are of the same: both have a name
// of code, and the work of both touched a file, unless that of the earlier one touched none.
func newerWork(list []*rows.Row) map[events.ID]*rows.Row {
	var subjects []subject
	for _, row := range list {
		if row.Kind == rows.Observation {
			subjects = append(subjects, subject{row, codeNames(row), baseNames(row.FilesRead, row.FilesModified)})
		}
	}
	slices.SortStableFunc(subjects, func(a, b subject) int { return stampOf(b.row).compare(stampOf(a.row)) })
	newer := map[events.ID]*rows.Row{}
	for i, s := range subjects {
		if at := slices.IndexFunc(subjects[:i], s.isSubjectOf); at >= 0 {
			newer[s.row.ID] = subjects[at].row
		}
	}
	return newer
}

// isSubjectOf reports whether a later observation is of the same.
func (s subject) isSubjectOf(later subject) bool {
	return s.row.Entry() != later.row.Entry() && share(s.names, later.names) && (len(s.files) == 0 || share(s.files, later.files))
}

// share reports whether two sets have a name in common.
func share(a, b map[string]bool) bool {
	for name := range a {
		if b[name] {
			return true
		}
	}
	return false
}

// baseNames are the names of files.
func baseNames(lists ...[]string) map[string]bool {
	names := map[string]bool{}
	for _, file := range slices.Concat(lists...) {
		names[path.Base(file)] = true
	}
	return names
}

// codeNames are the names of code that stand in code marks in a row's text.
func codeNames(row *rows.Row) map[string]bool {
	names := map[string]bool{}
	for _, text := range row.Words() {
		for line := range strings.Lines(text) {
			for i, span := range strings.Split(line, "`") {
				if i%2 == 0 {
					continue // not within marks
				}
				for _, word := range strings.FieldsFunc(span, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
					if isName(word) && len(names) < maxCodeNames {
						names[word] = true
					}
				}
			}
		}
	}
	return names
}
