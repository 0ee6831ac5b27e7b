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
	return isASCII(s) && !strings.Contains(s, "  ") && !strings.HasPrefix(s, " ") && !strings.HasSuffix(s, " ")
}

// shorten cuts s to at most limit characters at a grapheme's border, and says so by an ellipsis.
func shorten(s string, limit int) string {
	if len(s) <= limit || size(s) <= limit {
		return s
	}
	if limit < 1 {
		return ""
	}
	if isASCII(s[:limit]) { // each letter is a character
		return cutLine(s, limit-1, strings.LastIndexByte(s[:limit-1], ' '))
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
	return cutLine(s, end, word)
}

// cutLine is s up to end, or up to the word's end before it if that is near, with an ellipsis.
func cutLine(s string, end, word int) string {
	if word > end*3/4 {
		end = word
	}
	return strings.TrimRight(s[:end], " ") + ellipsis
}

// isASCII reports whether s is ASCII that can be seen, and blanks.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// neutral is s, fit to stand inside the fence. It never has more characters.
func (r *Recall) neutral(s string) string { return fence.Neutral(s, r.cfg.Fence) }
