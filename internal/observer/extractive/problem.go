package extractive

import (
	"path"
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
)

// problem is the line of a failed command's output that says most: one that names a place in a file, or else one that
// calls itself an error, or else the last. It is shown, and decides nothing.
func problem(output string) string {
	last, named := "", ""
	for l := range strings.Lines(unwrap(clean(output), false)) {
		l = line(l)
		if sentence.Letters(l) < 4 || strings.HasPrefix(l, "Exit code ") || strings.HasPrefix(l, "Command exited with code ") || l[0] == '>' {
			continue
		}
		if namesPlace(unlabelledLine(l)) {
			return cut(unlabelledLine(l), maxProblem)
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

// unlabelledLine is a line without the name of a task in brackets before it.
func unlabelledLine(l string) string {
	if label, rest, ok := strings.Cut(l, "] "); ok && l[0] == '[' && !strings.Contains(label, " ") {
		return rest
	}
	return l
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
