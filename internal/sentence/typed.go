package sentence

import (
	"slices"
	"strings"
	"time"
)

// TypedFirst is a prompt with what was pasted at its head behind what the person typed below it, if that says something by itself; else
// the prompt as it is. What is pasted is known by its form: fences and quotations, patches, what was typed into a shell, lines of logs, and
// traces, in which all lines but the first are indented. It is linear in the prompt's length.
func TypedFirst(prompt string) string {
	at, pasted := 0, false
	for at < len(prompt) {
		p := prompt[at : at+paragraphEnd(prompt[at:])]
		if blank := strings.TrimSpace(p) == ""; !blank && !isPasted(p) {
			break
		} else if !blank {
			pasted = true
		}
		at += len(p)
	}
	if !pasted || !Telling(prompt[at:]) {
		return prompt
	}
	return strings.TrimSpace(prompt[at:]) + "\n\n" + prompt[:at]
}

// paragraphEnd is where the first paragraph of a text ends, with the blank line behind it, or its first fence.
func paragraphEnd(s string) (n int) {
	fence := ""
	for line := range strings.Lines(s) {
		n += len(line)
		text := strings.TrimSpace(line)
		switch {
		case fence != "" && strings.HasPrefix(text, fence):
			return n
		case fence != "":
		case n == len(line) && (strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")):
			fence = text[:3]
		case text == "":
			return n
		}
	}
	return n
}

// isPasted reports whether a paragraph has the form of what programs, and not people, write.
func isPasted(paragraph string) bool {
	lines := strings.Split(strings.TrimRight(paragraph, " \t\r\n"), "\n")
	first := strings.TrimSpace(lines[0])
	for _, mark := range []string{"```", "~~~", ">", "$ ", "➜", "❯", "@@ ", "diff --git "} {
		if strings.HasPrefix(first, mark) {
			return true
		}
	}
	isAdded := strings.HasPrefix(first, "+") && !strings.HasPrefix(first, "+ ") // "+ x" is an item of a list
	return isAdded || isStamped(first) || isTrace(first, lines[1:])
}

// isStamped reports whether a line begins with a date and a time of day, as logs do.
func isStamped(line string) bool {
	const layout = "2006-01-02 15:04"
	line = strings.TrimLeft(line, "[(")
	_, err := time.Parse(layout, strings.Replace(line[:min(len(line), len(layout))], "T", " ", 1))
	return err == nil
}

// isTrace reports whether below a line that announces nothing, and is no item of a list, all lines are indented.
func isTrace(first string, below []string) bool {
	marker, _, _ := strings.Cut(first, " ")
	if len(below) == 0 || strings.HasSuffix(first, ":") || marker == "-" || marker == "*" || marker == "•" || isDigit(marker[0]) {
		return false
	}
	return !slices.ContainsFunc(below, func(l string) bool { return !strings.HasPrefix(l, "  ") && !strings.HasPrefix(l, "\t") })
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
