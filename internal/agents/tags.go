package agents

import (
	"strings"

	"github.com/cmemd/cmemd/internal/harness"
)

// cutTags removes each element of the given names from s, tags included: <name ...> to its </name>. Pairs nest. An
// opening tag that is never closed stays, as does what follows: it is more likely quoted than meant. The fence around
// this memory alone takes the rest: whoever shortened the text cut its end away. Linear time.
func cutTags(s string, names []string) string {
	var kept strings.Builder
	var hopeless map[string]bool // names that no closing tag follows any more
	from, pos := 0, 0            // s[from:] is not yet kept or cut
	for {
		i := strings.IndexByte(s[pos:], '<')
		if i < 0 {
			break
		}
		at := pos + i
		pos = at + 1
		name, n := openTag(s[at:], names)
		if name == "" {
			continue
		}
		end := -1
		if !hopeless[name] {
			end = elementEnd(s, at, name)
		}
		if end < 0 && name == harness.Memory && startsFence(s[at+n:]) {
			end = len(s)
		}
		if end < 0 {
			if hopeless == nil {
				hopeless = make(map[string]bool)
			}
			hopeless[name] = true
			continue
		}
		kept.WriteString(s[from:at])
		from, pos = end, end
	}
	if from == 0 {
		return s
	}
	kept.WriteString(s[from:])
	return kept.String()
}

// startsFence reports whether what stands behind an opening tag is a line end, be it an escaped one: so the fence around
// memory is written. Who talks of the tag goes on in its line.
func startsFence(rest string) bool {
	return strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, `\n`)
}

// cutLeading removes elements of the given names, and white space, from the start of s.
func cutLeading(s string, names []string) string {
	for {
		s = strings.TrimSpace(s)
		name, _ := openTag(s, names)
		if name == "" {
			return s
		}
		end := elementEnd(s, 0, name)
		if end < 0 {
			return s
		}
		s = s[end:]
	}
}

// element returns the text of the first element called name in s, and whether there is one.
func element(s, name string) (string, bool) {
	_, rest, ok := strings.Cut(s, "<"+name+">")
	if !ok {
		return "", false
	}
	text, _, ok := strings.Cut(rest, "</"+name+">")
	return strings.TrimSpace(text), ok
}

// elementEnd returns where the element called name that opens at s[at:] ends, or -1 if it does not. Where more are
// opened than closed it ends at the last closing tag.
func elementEnd(s string, at int, name string) int {
	depth, last, pos := 0, -1, at
	names := []string{name}
	for {
		i := strings.IndexByte(s[pos:], '<')
		if i < 0 {
			return last
		}
		pos += i
		if _, n := openTag(s[pos:], names); n > 0 {
			if s[pos+n-2] != '/' {
				depth++
			} else if depth == 0 {
				return pos + n
			}
			pos += n
			continue
		}
		if n := closeTagLen(s[pos:], name); n > 0 {
			depth--
			pos += n
			last = pos
			if depth == 0 {
				return pos
			}
			continue
		}
		pos++
	}
}

// openTag returns the name and length of the opening tag that starts s, if it is one of names.
func openTag(s string, names []string) (string, int) {
	if s == "" || s[0] != '<' {
		return "", 0
	}
	for _, name := range names {
		if len(s) < len(name)+2 || s[1:1+len(name)] != name {
			continue
		}
		rest := s[1+len(name):]
		if strings.IndexByte(">/ \t\n", rest[0]) < 0 {
			continue
		}
		if i := strings.IndexAny(rest, "<>"); i >= 0 && rest[i] == '>' {
			return name, 1 + len(name) + i + 1
		}
	}
	return "", 0
}

// closeTagLen returns the length of the closing tag called name that starts s, or 0.
func closeTagLen(s, name string) int {
	rest, ok := strings.CutPrefix(s, "</"+name)
	if !ok {
		return 0
	}
	trimmed := strings.TrimLeft(rest, " \t\n")
	if !strings.HasPrefix(trimmed, ">") {
		return 0
	}
	return len(s) - len(trimmed) + 1
}
