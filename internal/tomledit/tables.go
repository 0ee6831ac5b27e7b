package tomledit

import (
	"bytes"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
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
	p := unstable.Parser{}
	p.Reset(body)
	from, own := -1, false
	for p.NextExpression() {
		x := p.Expression()
		keys, end := keyOf(x)
		switch {
		case x.Kind == unstable.Table:
			own = len(keys) >= 2 && keys[0] == outer && keys[1] == inner
		case x.Kind == unstable.ArrayTable:
			own = false
		case x.Kind == unstable.KeyValue:
			end = int(x.Raw.Offset + x.Raw.Length)
		default:
			continue // a comment
		}
		if !own {
			continue
		}
		if from < 0 {
			from = lineStart(body, end)
		}
		to = len(body)
		if n := bytes.IndexByte(body[end:], '\n'); n >= 0 {
			to = end + n + 1
		}
	}
	if from < 0 {
		return -1, -1
	}
	if line := lineStart(body, max(from-1, 0)); from > 0 && len(bytes.TrimSpace(body[line:from])) == 0 {
		from = line
	}
	return from + skipped, to + skipped
}
