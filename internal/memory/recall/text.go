package recall

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/rivo/uniseg"
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
	var b strings.Builder
	space, room := false, 2*limit+1 // what cannot be seen is not worth looking at for ever
	b.Grow(min(len(s), 2*limit+1))
	for _, r := range s {
		if ' ' < r && r < 0x7f && !space {
			b.WriteByte(byte(r))
			if room--; room <= 0 {
				break
			}
			continue
		}
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if invisible(r) {
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

// invisible reports control characters, marks that turn the direction of writing, and tags: what could hide or
// rearrange what a person reads.
func invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || r == '\uFEFF' || r == unicode.ReplacementChar ||
		r >= 0xE0000 && r <= 0xE007F
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

// neutral keeps text from opening or closing the fence, or the element that agents put around what hooks say: the
// bracket of such a tag becomes one that no parser takes for it. It never makes s longer.
func (r *Recall) neutral(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		name := strings.TrimLeft(s, "/ \t")
		if hasPrefixFold(name, tagName(r.open)) || hasPrefixFold(name, "system-reminder") {
			b.WriteString("‹")
			continue
		}
		b.WriteByte('<')
	}
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
