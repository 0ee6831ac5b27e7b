package index

import (
	"path"
	"slices"
	"strings"
)

// FileIn is how documents of one project name what Query.File names by a path that they need not know: relative to the
// project, or in another of its working trees. The zero value names nothing.
type FileIn struct {
	Projects []string // their roots or shown names: any one will do
	Rootless []string // or, beside those: shown names of what has no root
	Files    []string // ends of their paths, as Query.File
	Paths    []string // whole paths of theirs, of the file or of the folder; "." for all that are relative
}

// fileCondition is that a document is about the file, or about one in the folder, that the query names.
func (q Query) fileCondition() condition {
	var c condition
	about := func(field string, in []condition, paths ...string) {
		file := newCondition(field, paths...)
		if file.below = true; len(file.terms) > 0 {
			c.any = append(c.any, append(in, file))
		}
	}
	about(fieldFile, nil, fileTerm(q.File))
	if path.IsAbs(q.File) { // of a deep folder the end of the path alone is no term
		about(fieldPath, nil, strings.TrimSuffix(path.Clean(q.File), "/"))
	}
	in := newCondition(fieldProject, slices.Concat(rootless(q.FileIn.Rootless), q.FileIn.Projects)...)
	if len(in.terms) > 0 {
		ends := make([]string, len(q.FileIn.Files))
		for i, file := range q.FileIn.Files {
			ends[i] = fileTerm(file)
		}
		about(fieldFile, []condition{in}, ends...)
		about(fieldPath, []condition{in}, q.FileIn.Paths...)
	}
	return c
}

// isRelative reports whether a path, of whatever system, does not begin at a root or a home.
func isRelative(p string) bool {
	return p != "" && !strings.ContainsRune(`/\~`, rune(p[0])) && !(len(p) > 2 && p[1] == ':')
}
