package tomledit

import (
	"bytes"
	"strings"
)

const byteOrderMark = "\ufeff"

// Append is the text with the lines of a table behind a blank line at its end, which end as its own do. Text stays as it is.
func Append(text []byte, lines []string) []byte {
	newline := newlineOf(text)
	out := string(text)
	if body := strings.TrimPrefix(out, byteOrderMark); body != "" {
		if !strings.HasSuffix(body, "\n") {
			out += newline
		}
		out += newline
	}
	return []byte(out + strings.Join(lines, newline) + newline)
}

// Table is where the table outer.inner and those in it stand in a TOML text, with the blank line before them; below 0 where
// they are no tables, or not beside one another.
func Table(text []byte, outer, inner string) (from, to int) {
	body := bytes.TrimPrefix(text, []byte(byteOrderMark))
	skipped := len(text) - len(body)
	lines, _ := Lines(body) // of what is no TOML there are none
	from, own := -1, false
	for _, l := range lines {
		end := l.end
		if l.Table {
			end = l.key
			own = len(l.Key) >= 2 && l.Key[0] == outer && l.Key[1] == inner && !l.array
		}
		if !own {
			continue
		}
		if from < 0 {
			from = lineStart(body, end)
		}
		to = lineEnd(body, end)
	}
	if from < 0 {
		return -1, -1
	}
	if line := lineStart(body, max(from-1, 0)); from > 0 && len(bytes.TrimSpace(body[line:from])) == 0 {
		from = line
	}
	return from + skipped, to + skipped
}
