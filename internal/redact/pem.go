package redact

import "strings"

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	pemDash  = "-----"

	// pemLabel is the longest text between the dashes and the words "private key".
	pemLabel = 40

	// pemRun is the shortest line of a key that is not its last one; encoders write 64, some 48 or 70.
	pemRun = 32

	// pemShort is how many short runs may stand before or between long ones: what headers say, the numbers of lines.
	pemShort = 12
)

// pem looks for a private key in PEM around the words of its first or last line. Where the other line is missing, the key
// is what looks like one.
func (f *finder) pem(_ *shape, start, end int) {
	if f.has(end, " block") {
		end += len(" block")
	}
	if start < f.keys || !strings.HasPrefix(f.s[end:], pemDash) {
		return
	}
	label := f.s[max(f.keys, start-pemLabel):start]
	label = label[strings.LastIndexFunc(label, func(r rune) bool { return r > 0x7f || !isUpperDigit(byte(r)) && r != ' ' && r != '-' })+1:]
	if i := strings.LastIndex(label, pemBegin); i >= 0 {
		f.pemFrom(start-len(label)+i, end+len(pemDash))
		return
	}
	if i := strings.LastIndex(label, pemEnd); i >= 0 {
		f.pemTo(start-len(label)+i, end+len(pemDash))
	}
}

// pemFrom adds the key whose first line is s[start:end].
func (f *finder) pemFrom(start, end int) {
	i, last, short := end, 0, 0 // last: where what is surely of the key ends; short: runs since then
	list := f.inList(start)
	for i < len(f.s) && !strings.HasPrefix(f.s[i:], pemDash) && short <= pemShort {
		stop := run(f.s, i, isPEM)
		short++
		if stop-i >= pemRun || last > 0 && short == 1 && churn(f.s[i:stop]) > 0 {
			last = stop
		}
		if stop-i >= pemRun {
			short = 0
		}
		next := f.pemGap(stop, list)
		if next == i {
			break
		}
		i = next
	}
	if n := f.pemClose(i); n > 0 {
		i, last = n, n
	}
	f.keys = max(end, i)
	if last > 0 {
		f.addKey(start, last)
	}
}

// pemClose returns where the last line of a key that starts at i, perhaps behind the sign of a patch, ends, or 0.
func (f *finder) pemClose(i int) int {
	if strings.HasPrefix(f.s[i:], "-"+pemEnd) {
		i++
	}
	if !strings.HasPrefix(f.s[i:], pemEnd) {
		return 0
	}
	i += len(pemEnd)
	n := strings.Index(f.s[i:min(len(f.s), i+2*pemLabel)], pemDash)
	if n < 0 || f.json && strings.IndexByte(f.s[i:i+n], '"') >= 0 {
		return 0
	}
	return i + n + len(pemDash)
}

// pemGap returns where the next run of a key can begin, behind what stands between its lines: line ends, numbers and
// signs at the start of lines, what separates headers, quotes of source code, and the strings of a list.
func (f *finder) pemGap(i int, list bool) int {
	for i < len(f.s) {
		c, next := f.s[i], 0
		if list {
			next = f.nextString(i)
		}
		switch {
		case next > 0:
			i = next
		case isSpace(c), strings.IndexByte(":,.;|>#*()'", c) >= 0, c == '"' && !f.json:
			i++
		case c == '-' && !strings.HasPrefix(f.s[i:], pemDash):
			i++
		case c == '\\' && f.at(i+1) == 'u' && f.escaped(i+len(`\u0000`)):
			i += len(`\u0000`)
		case c == '\\' && i+1 < len(f.s):
			i += 2
		case strings.HasPrefix(f.s[i:], "→"):
			i += len("→")
		default:
			return i
		}
	}
	return i
}

// pemTo adds the key whose last line is s[start:end], and whose beginning was cut away. Its last run may be short.
func (f *finder) pemTo(start, end int) {
	first := start
	for i := start; i > f.keys; {
		i = f.gapBefore(i)
		from := f.runBefore(i)
		if from == i || i-from < pemRun && i < f.gapBefore(start) {
			break
		}
		if i-from >= pemRun {
			first = from
		}
		i = from
	}
	f.keys = end
	if first < start {
		f.addKey(first, end)
	}
}

// gapBefore returns where what may stand between two lines of a key, and ends at i, begins.
func (f *finder) gapBefore(i int) int {
	for i > f.keys {
		switch {
		case isSpace(f.s[i-1]):
			i--
		case i >= 2 && f.s[i-2] == '\\' && f.escaped(i):
			for i -= 2; i > f.keys && f.s[i-1] == '\\'; {
				i-- // of JSON within JSON
			}
		case f.s[i-1] == '-' && f.beginsLine(i-1):
			i-- // a sign of a patch
		default:
			before := f.stringBefore(i)
			if before == 0 {
				return i
			}
			i = before
		}
	}
	return i
}

// beginsLine reports whether a line, escaped or not, or a string of a list begins at i.
func (f *finder) beginsLine(i int) bool {
	return f.at(i-1) == '\n' || f.escaped(i) || f.stringBefore(i) > 0
}

// runBefore returns where the run of a key that ends at i begins. The first letters may be those of an escape sequence.
func (f *finder) runBefore(i int) int {
	from := i
	for from > f.keys && isPEM(f.s[from-1]) {
		from--
	}
	switch {
	case from == i || f.at(from-1) != '\\':
		return from
	case f.s[from] == 'u':
		return min(i, from+len("u0000"))
	}
	return from + 1
}

func isPEM(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }
