package prompt

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	binaryForm = "[binary: %d bytes]"

	// minDump is how many lines of a hexadecimal dump there must be: fewer show a person a few bytes.
	minDump = 4

	// minHex is the shortest run of hexadecimal digits on one line that is taken for bytes: several hashes in a row are less.
	minHex = 512
)

// A dumpLine is what a line of a hexadecimal dump holds.
type dumpLine struct {
	digits int
	marked bool   // it begins with its offset
	offset uint64 // as hexadecimal digits
	octal  uint64 // as octal ones, which od likes; 0 where it holds others
}

// follows reports whether the bytes of d begin where those of last end.
func (d dumpLine) follows(last dumpLine) bool {
	n := uint64(last.digits / 2)
	return d.offset-last.offset == n || d.octal-last.octal == n
}

// foldDumps replaces hexadecimal dumps, as xxd, hexdump -C and xxd -p print them, by how many bytes they show. Lists of hashes
// are none: their lines have the lengths of hashes. Linear time.
func foldDumps(s string) string {
	var out strings.Builder
	from := 0
	for i := 0; i < len(s); {
		end, size := dumpAt(s, i)
		if size > 0 {
			out.WriteString(s[from:i])
			fmt.Fprintf(&out, binaryForm, size)
			from = end
		}
		i = end + 1
	}
	if from == 0 {
		return s
	}
	out.WriteString(s[from:])
	return out.String()
}

// dumpAt is the end of the dump that begins with the line at s[i], without its line end, and how many bytes it shows. Where
// there is none it is the end of what was looked at, and 0.
func dumpAt(s string, i int) (end, size int) {
	end = lineEnd(s, i)
	first, ok := readDump(s[i:end])
	if !ok {
		return end, 0
	}
	digits, lines, last, skips := first.digits, 1, first, false
	for at := end; at < len(s) && last.digits > 0; {
		stop := lineEnd(s, at+1)
		text := s[at+1 : stop]
		at = stop
		if first.marked && strings.TrimLeft(text, " >") == "*" { // the same again
			skips = true
			continue
		}
		next, ok := readNext(text, first)
		switch full := last.digits == first.digits; {
		case !ok, next.digits > first.digits, !full && next.digits > 0:
			ok = false
		case first.marked:
			ok = next.follows(last) || skips && next.offset > last.offset
		}
		if !ok {
			break
		}
		digits, lines, last, end, skips = digits+next.digits, lines+1, next, stop, false
	}
	if first.digits == 0 || lines < minDump && (first.marked || digits < minHex) {
		return end, 0
	}
	return end, digits / 2
}

func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// readDump reads the first line of a dump: an offset and groups of two, four or eight digits, with perhaps what they are as
// text behind them; or digits alone, as many as no hash has. Before them may stand what leads a line.
func readDump(line string) (dumpLine, bool) {
	start := skipMarks(line, 0)
	if start < len(line) && (line[start] == '+' || line[start] == '-') { // of a difference
		start++
	}
	if d, ok := readMarked(line[start:]); ok {
		return d, true
	}
	line = line[skipLead(line, start):]
	if d, ok := readMarked(line); ok {
		return d, true
	}
	n := hexEnd(line, 0)
	return dumpLine{digits: n}, n == len(line) && n%2 == 0 && n > 0 && !isHashLength(n)
}

// readNext reads a line behind first.
func readNext(line string, first dumpLine) (dumpLine, bool) {
	if first.marked {
		d, ok := readDump(line)
		return d, ok && d.marked
	}
	line = strings.TrimPrefix(line[skipLead(line, 0):], "+")
	n := hexEnd(line, 0)
	return dumpLine{digits: n}, n == len(line) && n%2 == 0 && n > 0
}

func readMarked(line string) (d dumpLine, ok bool) {
	word := hexEnd(line, 0)
	if word < 4 || word > 16 {
		return d, false
	}
	offset, err := strconv.ParseUint(line[:word], 16, 64)
	if err != nil {
		return d, false
	}
	d = dumpLine{offset: offset, marked: true}
	if octal, err := strconv.ParseUint(line[:word], 8, 64); err == nil {
		d.octal = octal
	}
	d.digits = groups(strings.TrimPrefix(line[word:], ":"))
	return d, d.digits > 0 || word == len(line)
}

// groups is how many digits stand in groups with a space before each, until something else comes or two spaces, but for the
// one wider gap that hexdump makes in the middle.
func groups(s string) (digits int) {
	for gap := false; ; {
		n := 0
		for n < len(s) && s[n] == ' ' {
			n++
		}
		wide := n > 1 && digits > 0
		end := hexEnd(s, n)
		size := end - n
		if n == 0 || n > 2 || wide && (gap || digits != 16) || size != 2 && size != 4 && size != 8 || end < len(s) && s[end] != ' ' {
			return digits
		}
		gap = gap || wide
		digits += size
		s = s[end:]
	}
}

func hexEnd(s string, i int) int {
	for i < len(s) && ('0' <= s[i] && s[i] <= '9' || 'a' <= s[i] && s[i] <= 'f' || 'A' <= s[i] && s[i] <= 'F') {
		i++
	}
	return i
}

// isHashLength is for the digits of MD5, SHA-1, SHA-224, SHA-256, SHA-384 and SHA-512, and for what is shorter.
func isHashLength(n int) bool {
	switch n {
	case 40, 56, 64, 96, 128:
		return true
	}
	return n <= 32
}
