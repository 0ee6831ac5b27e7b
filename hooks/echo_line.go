package hooks

import (
	"hash/maphash"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// linesOf yields the lines of text and what ends each. JSON that is quoted in JSON writes a line end as \n, and a quote
// stands around what it says.
func linesOf(text string) func(yield func(line, end string) bool) {
	return func(yield func(line, end string) bool) {
		for text != "" {
			at, size := lineEnd(text)
			if !yield(text[:at], text[at:at+size]) {
				return
			}
			text = text[at+size:]
		}
	}
}

// lineEnd returns where the first line of text ends, and how long its end is.
func lineEnd(text string) (at, size int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			return i, 1
		case '\\':
			n := 1 // text that is quoted more than once has more of them
			for i+n < len(text) && text[i+n] == '\\' {
				n++
			}
			if i+n < len(text) && (text[i+n] == 'n' || text[i+n] == '"') {
				return i, n + 1
			}
			i += n - 1
		}
	}
	return len(text), 0
}

// toldLine is what is known of a line.
type toldLine struct {
	hash   uint64
	size   int  // bytes of its letters and digits
	marked bool // it has what only lines of memory have: a row's id, or the notice
	notice bool
	dated  bool // a heading of a day, or a file with the time of its change: nothing but memory beside memory
}

// has reports whether a line was given.
func (k *Told) has(l toldLine) bool {
	if l.notice {
		return true
	}
	_, ok := k.lines[l.hash]
	return ok && l.size > 0
}

// read takes a line apart.
func (k *Told) read(text string) (l toldLine) {
	text = undecorated(text)
	if strings.HasPrefix(text, ContextTitle) && strings.Contains(text, ContextNotice) {
		return toldLine{marked: true, notice: true}
	}
	l.dated = isDated(text)
	if id := leadingID(text); id > 0 {
		l.marked = true
		text = untimed(text[id:])
	} else if strings.HasPrefix(text, "Last session (") && leadingID(text[strings.LastIndexByte(text, ' ')+1:]) > 0 {
		return toldLine{marked: true, notice: true}
	}
	var letters [maxToldLetters]byte
	kept := letters[:0]
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			kept = append(kept, byte(r))
		case 'A' <= r && r <= 'Z':
			kept = append(kept, byte(r)+'a'-'A')
		case r >= 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			kept = utf8.AppendRune(kept, unicode.ToLower(r))
		}
		if len(kept) > maxToldLetters-utf8.UTFMax {
			break
		}
	}
	l.hash, l.size = maphash.Bytes(k.seed, kept), len(kept)
	return l
}

// undecorated is a line without what stands before and behind it where it is quoted: marks of quotes, lists, patches and
// comments, borders, and the numbers of lines.
func undecorated(s string) string {
	for {
		s = strings.TrimFunc(s, isDecoration)
		digits := 0
		for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
			digits++
		}
		if digits == 0 || digits > 6 || digits == len(s) {
			return s
		}
		rest, ok := unnumbered(s[digits:])
		if !ok {
			return s
		}
		s = rest
	}
}

func isDecoration(r rune) bool {
	switch r {
	case ' ', '\t', '\r', '>', '|', '*', '-', '+', '#', '`', '"', '\'', '_', '/', ';', '=', '~', '[', ']', '(', ')',
		'│', '┃', '•', '“', '”', '«', '»', '‹', '›', '—', '…':
		return true
	}
	return false
}

// unnumbered is what follows the number of a line; ok is false if it was no such number.
func unnumbered(s string) (rest string, ok bool) {
	for _, after := range []string{"\t", "→", ". ", ") ", "| ", "│", ": "} {
		if rest, ok = strings.CutPrefix(s, after); ok {
			return rest, true
		}
	}
	return s, false
}

// leadingID returns the length of the row id, or of its beginning, that starts s; 0 if there is none.
func leadingID(s string) int {
	groups := []int{8, 4, 4, 4, 12}
	at := 0
	for n, size := range groups {
		if n > 0 {
			if at >= len(s) || s[at] != '-' {
				return 0
			}
			at++
		}
		for i := at; i < at+size; i++ {
			if i >= len(s) || !isHex(s[i]) {
				return 0
			}
		}
		if n == 2 && s[at] != '7' {
			return 0
		}
		at += size
		if n >= 2 && (at == len(s) || s[at] == ' ' || s[at] == '`') {
			return at
		}
	}
	return 0
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// untimed is what follows an id, without the time or the day of the row.
func untimed(s string) string {
	s = strings.TrimLeft(s, " `")
	for _, layout := range []string{"15:04", "Jan 2, 2006"} {
		for n := len(layout); n <= len(layout)+1 && n <= len(s); n++ {
			if _, err := time.Parse(layout, s[:n]); err == nil && (n == len(s) || s[n] == ' ') {
				return s[n:]
			}
		}
	}
	return s
}

// isDated reports whether a line is the heading of a day, or says when a file was changed.
func isDated(s string) bool {
	if len(s) < len("Jan 2, 2006") || len(s) > 160 || s[len(s)-1] < '0' || s[len(s)-1] > '9' {
		return false
	}
	if len(s) <= len("Jan 22, 2006") {
		_, err := time.Parse("Jan 2, 2006", s)
		return err == nil
	}
	i := strings.LastIndex(s, ": changed ")
	if i < 0 {
		return false
	}
	_, err := time.Parse("Jan 2, 2006 15:04", s[i+len(": changed "):])
	return err == nil
}
