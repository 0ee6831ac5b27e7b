package extractive

import (
	"path"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// titleOf is the first thing that a cleaned text says, fit for a title, or "". Code, tables, logs and quotes say
// nothing, and a line that only announces the next one gives way to it.
func titleOf(all []block) string {
	announced := ""
	for _, b := range all {
		if b.shape == code || b.shape == table || b.shape == quote {
			continue
		}
		s, announces := title(b.text)
		switch {
		case s == "" || !prosy(s):
		case announces && b.shape != heading:
			if announced == "" {
				announced = s
			}
		default:
			return s
		}
	}
	return announced
}

// reportTitle is titleOf for what an agent says: paragraphs first, because the headings and lists of a report are its
// frame.
func reportTitle(all []block) string {
	for _, b := range all {
		if b.shape == paragraph {
			if s, _ := title(b.text); s != "" && prosy(s) {
				return s
			}
		}
	}
	return titleOf(all)
}

// title is the first telling sentence of one line; a short one takes the next along where both fit. It also tells
// whether that sentence only announces what follows the line.
func title(s string) (text string, announces bool) {
	for s = tidy(s); s != ""; {
		var t string
		t, s = sentence(s)
		if !telling(t) {
			continue
		}
		whole := t
		if next, _ := sentence(s); uniseg.GraphemeClusterCount(t) < maxTitle/2 && next != "" {
			if both := t + " " + next; uniseg.GraphemeClusterCount(both) <= maxTitle {
				t = both
			}
		}
		return trimTitle(cut(t, maxTitle)), strings.TrimSpace(s) == "" && (block{text: whole}).leads()
	}
	return "", false
}

// tidy takes addresses and placeholders of attachments out of s, and shortens long paths to their last name.
func tidy(s string) string {
	words := strings.Fields(unbracket(s))
	kept := words[:0]
	for _, w := range words {
		if strings.Contains(w, "://") {
			continue
		}
		kept = append(kept, shortPath(w))
	}
	return strings.Join(kept, " ")
}

// unbracket takes out what a harness puts for things it cannot show: "[Image #1]", "[Pasted text #2 +30 lines]".
func unbracket(s string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(s, '[')
		end := strings.IndexByte(s, ']')
		if open < 0 || end < 0 {
			b.WriteString(s)
			return b.String()
		}
		if open > end || !isPlaceholder(s[open+1:end]) {
			b.WriteString(s[:end+1])
		} else {
			b.WriteString(s[:open])
		}
		s = s[end+1:]
	}
}

// isPlaceholder is for a word or two, and a number behind a '#'.
func isPlaceholder(s string) bool {
	name, number, ok := strings.Cut(s, " #")
	return ok && len(name) <= 16 && number != "" && isDigit(number[0]) && strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && r != ' '
	}) < 0
}

// shortPath turns a path of a file system's root or home into its last name, and leaves other words alone.
func shortPath(w string) string {
	core := strings.TrimRight(w, ".,;:!?)]}\"'”")
	start := strings.TrimLeft(core, "([{\"'“@")
	if len(start) < 2 || start[0] != '/' && !strings.HasPrefix(start, "~/") && !strings.Contains(start, `:\`) {
		return w
	}
	base := path.Base(strings.ReplaceAll(strings.TrimRight(start, `/\`), `\`, "/"))
	if strings.Count(start, "/")+strings.Count(start, `\`) < 2 || base == "." || base == "/" {
		return w
	}
	return core[:len(core)-len(start)] + base + w[len(core):]
}

// trimTitle takes dangling marks off both ends.
func trimTitle(s string) string {
	s = strings.TrimLeft(s, " -–—>*#:;,.")
	return strings.TrimRight(s, " -–—>*#:;,")
}
