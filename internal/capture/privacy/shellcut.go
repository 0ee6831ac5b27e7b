package privacy

import (
	"path"
	"strings"
)

// cutCommand is a command that names a private file as it may be kept: as it is where it only reads, and without the
// commands that may hold what such a file does.
func cutCommand(line string, f Finding) string {
	if f.LeftOut != LeftFile {
		return line
	}
	if strings.Contains(line, patchBegin) {
		return cutPatch(line, f)
	}
	l := inspection{rules: &Rules{}, cwd: f.cwd}
	spans := l.command(line)
	if len(l.holds) == 0 {
		if l.named {
			return line
		}
		return f.Mark()
	}
	if len(line) > maxCommand { // what stands behind was not looked at, and may be the rest of what is cut
		return cutSpans(line[:maxCommand], spans, l.holds, f.Mark()) + f.Mark()
	}
	return cutSpans(line, spans, l.holds, f.Mark())
}

// cutWord is one word of a list that is a command, as it may be kept.
func cutWord(word string, f Finding) string {
	if f.LeftOut != LeftFile || word == "" || word[0] == '-' && len(word) < 4 || privateFile(word) != "" {
		return word
	}
	if base := path.Base(word); isShell(base) || programNamed(base).onlyReads(useOf(base, nil)) {
		return word
	}
	return cutCommand(word, f)
}

// cutSpans puts a mark in the place of some groups of a line.
func cutSpans(line string, spans []shellSpan, groups map[int]bool, mark string) string {
	var out strings.Builder
	from, last := 0, -1
	for _, s := range spans {
		if !groups[s.group] || s.from < from {
			continue
		}
		between := line[from:s.from]
		if s.group != last {
			out.WriteString(between + mark)
		} else if strings.TrimSpace(between) != "" {
			out.WriteString(between)
		}
		from, last = s.to, s.group
	}
	out.WriteString(line[from:])
	return out.String()
}
