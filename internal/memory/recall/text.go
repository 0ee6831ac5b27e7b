package recall

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/rivo/uniseg"

	"github.com/cmemd/cmemd/internal/fence"
)

// size counts characters as UTF-16 code units: agents count them or code points, and there are never fewer of these.
func size(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// ellipsis stands where text was cut.
const ellipsis = "…"

// oneLine folds white space, drops what cannot be seen, and cuts the text to at most limit characters, at a word's end
// if there is one near.
func oneLine(s string, limit int) string {
	space, room := false, 2*limit+1 // what cannot be seen is not worth looking at for ever
	if head := s[:min(len(s), room)]; isOneLine(head) {
		return shorten(head, limit)
	}
	var b strings.Builder
	b.Grow(min(len(s), room))
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if (r < ' ' || r >= 0x7f) && fence.Invisible(r) {
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		if room--; room <= 0 {
			break
		}
	}
	return shorten(b.String(), limit)
}

// isOneLine reports whether s is ASCII that can be seen, with one blank between words: oneLine has nothing to change in it.
func isOneLine(s string) bool {
	before := byte(' ')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == ' ' && before == ' ' {
			return false
		}
		before = s[i]
	}
	return before != ' ' || s == ""
}

// shorten cuts s to at most limit characters at a grapheme's border, and says so by an ellipsis.
func shorten(s string, limit int) string {
	if len(s) <= limit || size(s) <= limit {
		return s
	}
	if limit < 1 {
		return ""
	}
	used, end, word := 1, 0, 0 // one for the ellipsis
	for rest, state := s, -1; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += size(cluster); used > limit {
			break
		}
		if cluster == " " {
			word = end
		}
		end += len(cluster)
	}
	if word > end*3/4 {
		end = word
	}
	return strings.TrimRight(s[:end], " ") + ellipsis
}

// neutral is s, fit to stand inside the fence. It never has more characters.
func (r *Recall) neutral(s string) string { return fence.Neutral(s, r.cfg.Fence) }
