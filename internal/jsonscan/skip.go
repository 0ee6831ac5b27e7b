package jsonscan

// StringEnd returns the length, quotes included, of the string that text begins with; 0: its closing quote is missing. It
// looks at quotes and backslashes alone.
func StringEnd[T string | []byte](text T) int {
	for from := 1; from < len(text); {
		n := indexByte(text[from:], '"')
		if n < 0 {
			return 0
		}
		end, slashes := from+n, 0
		for end-1-slashes > 0 && text[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		from = end + 1
	}
	return 0
}

// ValueEnd returns the length of the value that text begins with: of a number or a word up to the comma, the bracket or the
// white space behind it, or to the end of text. It is 0 where a quote or a bracket is missing. It looks at these alone.
func ValueEnd[T string | []byte](text T) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			n := StringEnd(text[i:])
			if n == 0 {
				return 0
			}
			if i += n - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	if depth > 0 {
		return 0
	}
	return len(text)
}

// Space returns the first index from i on at which text has no white space.
func Space[T string | []byte](text T, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// Members yields the names and raw values of the object in text, in order; none if it is no object. The text must be valid
// JSON. A name is what Text returns of it; both alias text where they can.
func Members(text []byte, yield func(name, value []byte) bool) {
	i := Space(text, 0)
	if i == len(text) || text[i] != '{' {
		return
	}
	i = Space(text, i+1)
	for text[i] != '}' {
		end := i + StringEnd(text[i:])
		name := aliasedText(text[i:end])
		i = Space(text, Space(text, end)+1)
		end = i + ValueEnd(text[i:])
		if !yield(name, text[i:end]) {
			return
		}
		i = nextOf(text, end)
	}
}

// Elements yields the raw values of the list in text, in order; none if it is no list. The text must be valid JSON.
func Elements(text []byte, yield func(value []byte) bool) {
	i := Space(text, 0)
	if i == len(text) || text[i] != '[' {
		return
	}
	i = Space(text, i+1)
	for text[i] != ']' {
		end := i + ValueEnd(text[i:])
		if !yield(text[i:end]) {
			return
		}
		i = nextOf(text, end)
	}
}

// nextOf returns where the next member or element begins, or the bracket that closes them, behind a value that ends at i.
func nextOf(text []byte, i int) int {
	if i = Space(text, i); text[i] == ',' {
		i = Space(text, i+1)
	}
	return i
}
