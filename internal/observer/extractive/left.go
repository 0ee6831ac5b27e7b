package extractive

import (
	"strings"

	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// leftOpen are the files of which git's status says that they are changed or new and not committed; nil: status was not asked for, or
// not alone.
func leftOpen(all []step, shape evidence.Shape) *[]string {
	asked := false
	for _, s := range all {
		sub, _ := s.Git()
		asked = asked || sub == "status"
		if sub != "status" && !s.quiet() {
			return nil
		}
	}
	if !asked || shape.Failed {
		return nil
	}
	files := []string{}
	for l := range strings.Lines(clean(shape.Output)) {
		if name := changedName(strings.TrimRight(l, "\n")); name != "" && len(files) < maxFiles {
			files = addOnce(files, name)
		}
	}
	return &files
}

// changedName is the file that a line of git's status names, in its long or in its short form.
func changedName(l string) string {
	if rest, ok := strings.CutPrefix(l, "\t"); ok {
		if _, name, ok := strings.Cut(rest, ":   "); ok {
			return line(name)
		}
		return line(rest)
	}
	if len(l) > 3 && l[2] == ' ' && strings.Trim(l[:2], " MADRCU?!T") == "" && strings.TrimSpace(l[:2]) != "" {
		return line(l[3:])
	}
	return ""
}
