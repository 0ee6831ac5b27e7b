package redact

import "strconv"

// maxPutty is how many lines the private part of a key may have: one of 16,384 bits has half as many.
const maxPutty = 256

// putty looks for the private part of a key in PuTTY's format: as many lines of base64 as its header says.
func (f *finder) putty(_ *shape, start, end int) {
	if start < f.keys || !f.begins(start) {
		return
	}
	list := f.inList(start)
	digits := f.blanks(end)
	i := run(f.s, digits, isDigit)
	lines, err := strconv.Atoi(f.s[digits:min(i, digits+4)])
	if err != nil || lines < 1 || lines > maxPutty {
		return
	}
	first, last := 0, 0
	for short := 0; lines > 0 && short <= pemShort; {
		from := f.pemGap(i, list)
		if i = run(f.s, from, isPEM); i == from {
			break
		}
		if short++; i-from < pemRun && (lines > 1 || first == 0 || !holds(f.s[from:i], isLetter)) {
			continue // the number of a line
		}
		if first == 0 {
			first = from
		}
		last, short, lines = i, 0, lines-1
	}
	f.keys = max(f.keys, last)
	if last > 0 {
		f.addKey(first, last)
	}
}
