package redact

// A file that is reported as a list of its lines has a string for each, and so for each line of a key. No span crosses the
// quotes of JSON: such a key is a span a string, which all count as one.

// addKey adds the private key s[start:end].
func (f *finder) addKey(start, end int) {
	more := false
	for i := start; i < end; {
		stop := f.stringEnd(i, end)
		if stop > i {
			f.spans = append(f.spans, Span{Start: i, End: stop, Rule: "private-key", more: more})
			more = true
		}
		if i = f.nextString(stop); i == 0 {
			return
		}
	}
}

// stringEnd returns the index of the quote that closes the JSON string in which i stands, at most end; end in other texts.
func (f *finder) stringEnd(i, end int) int {
	for ; f.json && i < end; i++ {
		switch f.s[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return end
}

// nextString returns where the text of the next string of a JSON list begins, if a quote at i closes one; else 0.
func (f *finder) nextString(i int) int {
	if !f.json || f.at(i) != '"' {
		return 0
	}
	if i = run(f.s, i+1, isSpace); f.at(i) != ',' {
		return 0
	}
	if i = run(f.s, i+1, isSpace); f.at(i) != '"' {
		return 0
	}
	return i + 1
}

// stringBefore returns where the text of the last string of a JSON list ends, if a quote right before i opens one; else 0.
func (f *finder) stringBefore(i int) int {
	if !f.json || f.at(i-1) != '"' || f.splits(i-1) {
		return 0
	}
	if i = f.spaceBefore(i - 1); f.at(i-1) != ',' {
		return 0
	}
	if i = f.spaceBefore(i - 1); i <= f.keys || f.at(i-1) != '"' {
		return 0
	}
	return i - 1
}

func (f *finder) spaceBefore(i int) int {
	for i > f.keys && isSpace(f.s[i-1]) {
		i--
	}
	return i
}

// inList reports whether the JSON string in which i stands may be one of a list: it is no member's value. It has to be asked
// from the first to the last.
func (f *finder) inList(i int) bool {
	if !f.json {
		return false
	}
	for k := i - 1; k >= f.sought; k-- {
		if f.s[k] == '"' && !f.splits(k) {
			before := k
			for before > 0 && isSpace(f.s[before-1]) {
				before--
			}
			f.member = f.at(before-1) == ':'
			break
		}
	}
	f.sought = i
	return !f.member
}
