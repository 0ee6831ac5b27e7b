package ignore

import "strings"

// Patterns are the lines of one file, in their order. The zero value matches nothing.
type Patterns struct {
	lines []pattern
}

// A pattern is one line.
type pattern struct {
	segments []string // between slashes; "**" stands for any number of folders
	negated  bool     // what it matches is taken in again
	folder   bool     // it matches folders only
}

// Parse reads the text of an ignore file. Each line is a pattern, or a comment, or blank: no text is an error.
func Parse(text string) Patterns {
	var p Patterns
	text = strings.TrimPrefix(text, "\uFEFF")
	for line := range strings.Lines(text) {
		if one, ok := parseLine(strings.TrimRight(line, "\r\n")); ok {
			p.lines = append(p.lines, one)
		}
	}
	return p
}

func parseLine(line string) (p pattern, ok bool) {
	line = trimBlanks(line)
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	if rest, negated := strings.CutPrefix(line, "!"); negated {
		line, p.negated = rest, true
	}
	if rest, folder := strings.CutSuffix(line, "/"); folder {
		line, p.folder = rest, true
	}
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	if !anchored {
		p.segments = append(p.segments, "**")
	}
	for _, name := range splitNames(line) {
		if len(name) > 2 && strings.Trim(name, "*") == "" {
			name = "**" // as git has it
		}
		p.segments = append(p.segments, name)
	}
	return p, true
}

// splitNames splits a pattern at its slashes, but for those in a class, which match nothing there. What stands behind a class
// that is not closed is not split: such a pattern matches nothing at all.
func splitNames(line string) (segments []string) {
	from := 0
	for i := 0; i < len(line); {
		switch line[i] {
		case '/':
			segments = append(segments, line[from:i])
			i++
			from = i
		case '\\':
			i += min(2, len(line)-i)
		case '[':
			size, _ := matchClass(line[i:], 0)
			if size == 0 {
				return append(segments, line[from:])
			}
			i += size
		default:
			i++
		}
	}
	return append(segments, line[from:])
}

// trimBlanks removes the spaces at the end of a line, but for one behind a backslash.
func trimBlanks(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		slashes := 0
		for slashes < end-1 && line[end-2-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 1 {
			break
		}
		end--
	}
	return line[:end]
}

// match says what the patterns say of a path, given by its names below the folder of the file: the last line that matches
// decides. Folder says that the path is one.
func (p Patterns) match(names []string, folder bool) (ignored, decided bool) {
	for i := len(p.lines) - 1; i >= 0; i-- {
		line := &p.lines[i]
		if (folder || !line.folder) && matchNames(line.segments, names) {
			return !line.negated, true
		}
	}
	return false, false
}

// matchNames reports whether segments match all of names. Behind the last ** only that one is tried again: what an
// earlier one would take, it takes too. A ** at the end stands for at least one name.
func matchNames(segments, names []string) bool {
	s, n, again, from := 0, 0, -1, 0
	for n < len(names) {
		switch {
		case s < len(segments) && segments[s] == "**":
			if s == len(segments)-1 {
				return true
			}
			again, from = s, n
			s++
		case s < len(segments) && matchName(segments[s], names[n]):
			s++
			n++
		case again >= 0:
			from++
			s, n = again+1, from
		default:
			return false
		}
	}
	return s == len(segments)
}

// matchName reports whether a pattern without slashes matches a name: * any characters, ? one, [...] one of some, and a
// backslash takes the next character as it is.
func matchName(pattern, name string) bool {
	p, n, again, from := 0, 0, -1, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			again, from = p, n
			continue
		}
		if size, ok := matchOne(pattern[p:], name[n]); ok {
			p += size
			n++
			continue
		}
		if again < 0 {
			return false
		}
		from++
		p, n = again, from
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchOne matches a byte with what begins a pattern, and returns how much of the pattern that is. As in git, characters
// are bytes.
func matchOne(pattern string, c byte) (size int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return matchClass(pattern, c)
	case '\\':
		if len(pattern) == 1 {
			return 0, false // git takes no pattern that ends with a backslash
		}
		return 2, pattern[1] == c
	}
	return 1, pattern[0] == c
}
