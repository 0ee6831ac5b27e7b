package sentence

import (
	"strings"
	"unicode"
)

// maxCodeNames and maxFiles are how many names of code and files of a subject count, in their order: an observation speaks of a few.
const (
	maxCodeNames = 48
	maxFiles     = 64
)

// Subject is what an observation is of: the names of code that stand in code marks in its texts, and the files that its work touched. It is
// never changed.
type Subject struct {
	names map[string]bool
	files map[string]bool
}

// SubjectOf reads a subject off an observation's texts, and the files that its work read or changed, by whichever names others have them too.
func SubjectOf(texts []string, files ...[]string) Subject {
	var s Subject
	for _, text := range texts {
		s.readNames(text)
	}
	if len(s.names) == 0 {
		return s // nothing goes on with it, whatever it touched
	}
	s.files = map[string]bool{}
	for _, list := range files {
		for _, file := range list {
			if len(s.files) < maxFiles {
				s.files[file] = true
			}
		}
	}
	return s
}

// readNames adds the names of code within the code marks of a text, which end on the line they begin on.
func (s *Subject) readNames(text string) {
	for {
		_, behind, marked := strings.Cut(text, "`")
		if !marked {
			return
		}
		end := strings.IndexAny(behind, "`\n")
		if end < 0 {
			return
		}
		text = behind[end:]
		if text[0] == '`' {
			text = text[1:]
			s.add(behind[:end])
		}
	}
}

// add adds the names of code among the words of what stands within code marks.
func (s *Subject) add(code string) {
	for word := range strings.FieldsFuncSeq(code, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(s.names) == maxCodeNames || !IsName(word) {
			continue
		}
		if s.names == nil {
			s.names = map[string]bool{}
		}
		s.names[word] = true
	}
}

// GoesOn reports whether later work goes on with the same: both name the same code, and both touched the same file, unless the earlier
// touched none.
func (s Subject) GoesOn(later Subject) bool {
	return share(s.names, later.names) && (len(s.files) == 0 || share(s.files, later.files))
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
