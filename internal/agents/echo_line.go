package agents

import (
	"strings"
	"time"
)

// piecesOf yields what of a text may be said by itself, and what ends each: lines, cells of tables, and what stands in quotes.
// JSON that is quoted in JSON writes a line end as \n.
func piecesOf(text string) func(yield func(piece, end string) bool) {
	return func(yield func(piece, end string) bool) {
		for text != "" {
			at, size := pieceEnd(text)
			if !yield(text[:at], text[at:at+size]) {
				return
			}
			text = text[at+size:]
		}
	}
}

// pieceEnd returns where the first piece of text ends, and how long its end is.
func pieceEnd(text string) (at, size int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n', '"', '|':
			return i, 1
		case "│"[0]:
			if strings.HasPrefix(text[i:], "│") {
				return i, len("│")
			}
		case '\\':
			n := slashes(text[i:]) // text that is quoted more than once has more of them
			if i+n < len(text) && (text[i+n] == 'n' || text[i+n] == '"') {
				return i, n + 1
			}
			i += n - 1
		}
	}
	return len(text), 0
}

// saidBy is what a line of memory says: without marks around it, its row's id and time. A line that marks memory by itself says
// nothing.
func saidBy(line string) string {
	line = undecorated(line)
	if id := leadingID(line); id > 0 {
		return untimed(line[id:])
	}
	if noticeAt(line) > 0 {
		return ""
	}
	return line
}

// noticeAt returns the length of the notice or heading that begins s and that only memory has; 0 if there is none.
func noticeAt(s string) int {
	if s == "" || s[0] != 'M' && s[0] != 'L' {
		return 0
	}
	s = s[:min(len(s), maxNotice)]
	if strings.HasPrefix(s, ContextTitle) {
		line, _, _ := strings.Cut(s, "\n")
		i := strings.Index(line, ContextNotice)
		if i < 0 {
			return 0
		}
		i += len(ContextNotice)
		if end := strings.Index(line[i:], noticeTail); end >= 0 {
			return i + end + len(noticeTail)
		}
		end, _ := pieceEnd(line[i:])
		return i + end
	}
	inner, ok := strings.CutPrefix(s, lastSession)
	if !ok {
		return 0
	}
	inner, _, ok = strings.Cut(inner, ")")
	if last := inner[strings.LastIndexByte(inner, ' ')+1:]; !ok || leadingID(last) != len(last) || last == "" {
		return 0
	}
	return len(lastSession) + len(inner) + 1
}

const (
	// lastSession begins the heading of the newest summary; a time and an id follow.
	lastSession = "Last session ("

	// noticeTail ends the notice where it is whole, and maxNotice is the longest: names of projects and files are cut before.
	noticeTail = "check it against the files."
	maxNotice  = 640
)

// undecorated is a line without what stands before and behind it where it is quoted: marks of quotes, lists, patches and
// comments, borders, and the numbers of lines.
func undecorated(s string) string {
	return strings.TrimRightFunc(s[leading(s):], isDecoration)
}

// leading is how much of a line is decoration before what it says.
func leading(s string) int {
	rest := s
	for {
		rest = strings.TrimLeftFunc(rest, isDecoration)
		digits := countDigits(rest)
		if digits == 0 || digits > 6 || digits == len(rest) {
			return len(s) - len(rest)
		}
		after, ok := unnumbered(rest[digits:])
		if !ok {
			return len(s) - len(rest)
		}
		rest = after
	}
}

// countDigits is how many digits begin s.
func countDigits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// located is how much of a line says where it was found, as searches print it: path:NN: or path-NN-, path: or NN: alone; 0:
// nothing.
func located(s string) int {
	place := s[:min(len(s), maxPlace)]
	if blank := strings.IndexAny(place, " \t\""); blank >= 0 {
		place = place[:blank]
	}
	for at := range len(place) {
		if c := place[at]; c == ':' || c == '-' {
			n := at + 1 + countDigits(place[at+1:])
			if n > at+1 && n < len(place) && place[n] == c {
				return n + 1
			}
		}
	}
	return strings.IndexByte(place, ':') + 1
}

// maxPlace is the longest path that located knows, in bytes.
const maxPlace = 256

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

// leadingHandle returns the length of the handle of a row that starts s; 0 if there is none.
func leadingHandle(s string) int {
	if s == "" || s[0] != 'm' {
		return 0
	}
	n := 1 + countDigits(s[1:])
	if n == 1 || n > maxHandle || n < len(s) && s[n] != ' ' && s[n] != '`' {
		return 0
	}
	return n
}

// maxHandle is the longest handle.
const maxHandle = len("m18446744073709551615")

// leadingID returns the length of the row id, of its beginning, or of the handle that starts s; 0 if there is none.
func leadingID(s string) int {
	if n := leadingHandle(s); n > 0 {
		return n
	}
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

// untimed is what follows an id, without the time or the day of the row, and without the mark of newer work.
func untimed(s string) string {
	s = strings.TrimLeft(s, " `")
	for _, layout := range []string{"15:04", "Jan 2, 2006"} {
		for n := len(layout); n <= len(layout)+1 && n <= len(s); n++ {
			if _, err := time.Parse(layout, s[:n]); err == nil && (n == len(s) || s[n] == ' ') {
				return unmarked(s[n:])
			}
		}
	}
	return s
}

// unmarked is what follows a row's time, without the handle of newer work: " (newer: m41)".
func unmarked(s string) string {
	if rest, ok := strings.CutPrefix(s, newerMark); ok {
		if handle, after, ok := strings.Cut(rest, ")"); ok && !strings.Contains(handle, " ") {
			return after
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
