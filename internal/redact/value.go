package redact

import "strings"

// value looks for what is assigned to a name.
func (f *finder) value(n name, a place) {
	v := f.readLiteral(a, n)
	n.upper = n.upper && !a.argument // of which most are names and words for what is missing
	if n.kind == scheme && !v.quoted {
		v = f.behindScheme(v, n)
	}
	text := f.s[v.start:v.end]
	quote := f.numberQuote(n, v)
	v.quoted = v.quoted || quote != "" // a number is judged as the string of its digits is
	if text == "" || a.element && f.at(v.end) != '<' || hides(text) || a.argument && !(v.quoted && holds(text, isLower)) {
		return
	}
	if !(a.sure && n.kind == password) && !v.secret(n, text) && !f.plain(n, a, v) {
		return
	}
	if f.json && a.member && !v.quoted {
		quote = `"`
	}
	f.spans = append(f.spans, Span{Start: v.start, End: v.end, Rule: n.kind.rule(), Weak: true, quote: quote})
}

// numberQuote returns the quote behind a name, with the backslashes before it, whose value is a number without quotes; else "". A mark
// can only replace such a number as a string.
func (f *finder) numberQuote(n name, v literal) string {
	quote := f.s[n.end:f.skipQuote(n.end)]
	if v.quoted || v.call || run(f.s, v.start, isDigit) != v.end || len(quote)&(len(quote)-1) != 0 {
		return "" // a quote of quotes has 1, 3, 7 ... backslashes before it: others end a string, or belong to what it holds
	}
	return quote
}

// place is where a value begins.
type place struct {
	at      int
	direct  bool // nothing stands around the sign between name and value
	member  bool // the name ends a string of its own: a member of JSON
	element bool // of XML
	prose   bool // what follows it need not be the end of a line

	argument bool // of a function, behind the name
	sure     bool // where it stands says that it is one
}

// assignment returns where the value behind a name begins.
func (f *finder) assignment(n name) (a place, ok bool) {
	i := f.skipQuote(n.end)
	a.member = i == n.end+1 && f.s[n.end] == '"'
	a.at = f.separator(f.blanks(f.index(n, i)))
	switch {
	case a.at > 0:
		a.direct = a.at == n.end+1 && f.s[n.end] == '='
		a.at = f.typed(f.blanks(a.at))
	case i > n.end:
		a.at, a.argument = f.listed(n, i, a.member)
	case strings.HasPrefix(n.text, "--") && f.at(i) == ' ':
		a.at = f.blanks(i)
	case f.has(i, " is "):
		a.at, a.prose = i+len(" is "), true
	case f.at(i) == '>' && f.at(n.end-len(n.text)-1) == '<':
		a.at, a.element, a.prose = i+1, true, true
	case isSpace(f.at(i)) || f.at(i) == '\\':
		if a.at = f.spaced(n, i); a.at > 0 {
			a.direct, a.prose = true, true
			a.sure = n.upper || f.at(a.at) != '\''
		} else {
			a.at = f.valueBeside(i, false)
		}
	}
	return a, a.at > 0
}

// index returns the index behind the bracket at i that closes what a name in quotes is the index of, or i.
func (f *finder) index(n name, i int) int {
	if i > n.end && f.at(i) == ']' {
		return i + 1
	}
	return i
}

// skipQuote returns the index behind a closing quote at i, which backslashes may stand before; i if there is none.
func (f *finder) skipQuote(i int) int {
	k := run(f.s, i, isSlash)
	if isQuote(f.at(k)) {
		return k + 1
	}
	return i
}

// separator returns the index behind the sign of an assignment at i, or -1.
func (f *finder) separator(i int) int {
	for _, sign := range [...]string{":=", "=>", "===", "==", "!=", "?=", "=", ":"} {
		if strings.HasPrefix(f.s[i:], sign) {
			return i + len(sign)
		}
	}
	return -1
}

// typed returns the index behind the type and the sign that may stand before a value: `: string = `.
func (f *finder) typed(i int) int {
	end := run(f.s, i, isWord)
	eq := f.blanks(end)
	if end == i || end-i > 16 || eq == end || f.at(eq) != '=' || f.at(eq+1) == '=' {
		return i
	}
	return f.blanks(eq + 1)
}

// listed returns where the value begins that stands in a list behind its name in quotes, which end at i: the argument
// behind an option or a name of the environment, or the member called value behind the one called name. -1 if there is none.
func (f *finder) listed(n name, i int, member bool) (at int, argument bool) {
	comma := run(f.s, i, isSpace)
	if f.at(comma) != ',' {
		return f.valueBeside(i, member), false
	}
	next := run(f.s, comma+1, isSpace)
	if strings.HasPrefix(n.text, "-") {
		return next, false
	}
	if n.upper && f.calls(n) {
		return next, true
	}
	return f.valueBeside(next, member), false
}

// calls reports whether the name, in quotes, is the first argument of a function.
func (f *finder) calls(n name) bool {
	i := n.end - len(n.text) - 1
	if !isQuote(f.at(i)) {
		return false
	}
	for i > 0 && isSlash(f.s[i-1]) {
		i--
	}
	return f.at(i-1) == '('
}

// valueBeside returns where the value of a member called value begins that stands soon behind i, or -1: what manifests
// and settings in XML have beside the member called name.
func (f *finder) valueBeside(i int, member bool) int {
	for range 64 { // indents are no longer
		switch next := f.escapedBlank(i); {
		case isSpace(f.at(i)):
			i++
		case next > i:
			i = next
		default:
			if i = f.skipQuote(i); !f.has(i, "value") {
				return -1
			}
			if i += len("value"); member && f.json && f.at(i) != '"' {
				return -1 // it is no member
			}
			i = f.skipQuote(i)
			if i = f.separator(f.blanks(i)); i < 0 {
				return -1
			}
			return f.blanks(i)
		}
	}
	return -1
}

// A literal is a value as it is written: s[start:end], without its quotes.
type literal struct {
	start, end int
	quoted     bool
	call       bool // a bracket follows: it is the name of a function
	last       bool // the line, or a word, ends behind it: code would go on
	bare       bool // nothing stands around the sign before it
	words      bool // it is quoted right behind the sign, as in a shell: a secret there may be several words
}

// maxValue bounds the values that are looked at, and decisiveBytes is how much of one decides.
const (
	maxValue      = 4 << 10
	decisiveBytes = 256
)

// readLiteral reads a value. In JSON a quote that no backslash stands before opens one only behind the name of a member: else
// it closes the string that the name stands in.
func (f *finder) readLiteral(a place, n name) literal {
	slashes := run(f.s, a.at, isSlash) - a.at
	if q := f.at(a.at + slashes); isQuote(q) && (q != '"' || slashes%2 == 1 || a.member || !f.json) { // behind an even number it is JSON's own
		start := a.at + slashes + 1
		return literal{start: start, end: f.closing(start, q, slashes), quoted: true, words: a.direct && n.upper}
	}
	end := f.bareEnd(a.at, n.line && a.direct)
	next := f.at(end)
	return literal{
		start: a.at, end: end, call: next == '(' || next == '[', bare: a.direct,
		last: a.prose || end == len(f.s) || isSpace(next) || isSlash(next) || isQuote(next),
	}
}

// bareEnd returns where a value without quotes ends that begins at i. Values that begin inside of another one end where it
// does, which is looked for once.
func (f *finder) bareEnd(i int, line bool) int {
	last := &f.bare[0]
	if line {
		last = &f.bare[1]
	}
	last.end(f.s, i, func(c byte) bool { return isBare(c, line) })
	return last.to
}

func isSlash(c byte) bool { return c == '\\' }

// isBare is for what a value without quotes is made of. The rest of a line may hold what separates values elsewhere.
func isBare(c byte, line bool) bool {
	if c <= ' ' || c == 0x7f || isQuote(c) || c == '\\' {
		return false
	}
	return line || strings.IndexByte("&;,()[]{}<>|", c) < 0
}

// closing returns where the value ends that stands between quotes q behind slashes backslashes, and begins at i: at the
// closing quote, at the end of the line, at what ends the text around. One that goes on too long is none, and ends at i.
func (f *finder) closing(i int, q byte, slashes int) int {
	for k := i; k < min(len(f.s), i+maxValue); k++ {
		switch c := f.s[k]; {
		case c == q, c == '"' && f.json, c == '\n', c == '\r':
			return k
		case c == '\\':
			n := run(f.s, k, isSlash) - k
			switch own := (n - slashes) / (slashes + 1); {
			case slashes == 0 || f.at(k+n) != q:
			case n < slashes && f.endsMember(k+n+1):
				return k // it closes what the value stands in, and is no quote of a shell's
			case n >= slashes && own%2 == 0: // else it is a quote of the value's
				return k + own*(slashes+1)
			}
			k += n - 1 + n%2 // an odd one takes the next byte with it
		}
	}
	if len(f.s)-i < maxValue {
		return len(f.s)
	}
	return i
}

// endsMember reports whether what stands at i ends a member of JSON.
func (f *finder) endsMember(i int) bool {
	return i >= len(f.s) || strings.IndexByte(",:}]", f.s[i]) >= 0
}

// behindScheme is the value behind the word for a scheme, as in "Authorization: token abc".
func (f *finder) behindScheme(v literal, n name) literal {
	if f.at(v.end) != ' ' || v.end-v.start > 16 || run(f.s, v.start, isToken) != v.end || f.has(v.start, "bearer ") {
		return v // or bearer has looked
	}
	return f.readLiteral(place{at: f.blanks(v.end)}, n)
}
