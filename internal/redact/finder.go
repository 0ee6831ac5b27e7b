package redact

// A finder gathers the secrets of one text.
type finder struct {
	s        string
	json     bool // an unescaped double quote belongs to the JSON
	spans    []Span
	named    int        // up to where names of values have been looked at
	optioned int        // up to where options of programs have been looked at
	keys     int        // up to where keys in PEM have been looked at
	sought   int        // up to where the quotes of strings have been looked at
	member   bool       // the last of these strings is the value of a member
	tails    []stretch  // the last one behind a prefix, by shape.tail
	parts    [3]stretch // of a web token
	crumb    stretch    // the last value in a cookie
	bare     [2]stretch // the last value without quotes: of a line, and others
}

func (f *finder) add(start, end int, rule string) {
	f.spans = append(f.spans, Span{Start: start, End: end, Rule: rule})
}

// begins reports whether a word may begin at i: no letter, digit or underscore stands before it, but for that of an escape
// sequence.
func (f *finder) begins(i int) bool {
	return i == 0 || !isWord(f.s[i-1]) && !f.splits(i) || f.escaped(i)
}

// escaped reports whether an escape sequence like \n ends right before i.
func (f *finder) escaped(i int) bool {
	if i > len(f.s) {
		return false
	}
	if i < 2 || f.s[i-2] != '\\' {
		return i >= 6 && f.s[i-6] == '\\' && f.s[i-5] == 'u' && isHex(f.s[i-1]) && isHex(f.s[i-2]) && isHex(f.s[i-3]) && isHex(f.s[i-4])
	}
	switch f.s[i-1] {
	case 'n', 'r', 't', 'b', 'f':
		return true
	}
	return false
}

// escapedBlank returns the index behind the escape sequence of a blank or of a line end at i, however often the text was quoted; i if there
// is none.
func (f *finder) escapedBlank(i int) int {
	k := run(f.s, i, isSlash)
	if c := f.at(k); k > i && (c == 'n' || c == 't' || c == 'r') {
		return k + 1
	}
	return i
}

// at is the byte at i, or 0.
func (f *finder) at(i int) byte {
	if i < 0 || i >= len(f.s) {
		return 0
	}
	return f.s[i]
}

// has reports whether word, in lower case, stands at i in any case of letters.
func (f *finder) has(i int, word string) bool {
	if i < 0 || i+len(word) > len(f.s) {
		return false
	}
	for k := range len(word) {
		if lower(f.s[i+k]) != word[k] {
			return false
		}
	}
	return true
}

// blanks returns the index of the first byte from i on that is neither space nor tab.
func (f *finder) blanks(i int) int { return run(f.s, i, isBlank) }

// splits reports whether i is inside of an escape sequence: an odd number of backslashes stands before it.
func (f *finder) splits(i int) bool {
	n := 0
	for n < i && f.s[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
