package redact

import (
	_ "embed" // tokens.tsv
	"iter"
	"strconv"
	"strings"
)

// A tokenRule knows a secret by what its maker puts in front of it.
type tokenRule struct {
	name         string
	prefixes     string          // one or more, between spaces
	tail         func(byte) bool // what may follow
	min, max     int             // bytes of what follows; one that is longer than max is none of these. max 0: no limit
	weak         bool            // another rule that knows the same token knows better whose it is
	insideWord   bool            // letters may stand right before the prefix
	notInBase64  bool            // it may not stand in the middle of base64
	keepPrefix   bool            // the prefix stays: it says where, not what
	prefixInside bool            // the prefix stands inside of the token, and min and max are of all of it
}

//go:embed tokens.tsv
var tokenTable string

// alphabets are the classes of what follows a prefix, by their names in the table.
func alphabets() map[string]func(byte) bool {
	return map[string]func(byte) bool{
		"alnum": isAlnum, "base64": isBase64, "dotted": isDotted, "hex": isHex, "hex-dash": isHexDash, "hex-path": isHexPath, "lower-digit": isLowerDigit,
		"token": isToken, "token-dot": isTokenDot, "token-eq": isTokenEq, "token-slash": isTokenSlash, "upper-digit": isUpperDigit, "webhook": isWebhook,
		"word": isWord,
	}
}

// tokenRules lists the rules of the table, in its order. It panics on a row that is none.
func tokenRules() (rules []tokenRule) {
	known := alphabets()
	for fields := range rowsOf(tokenTable, 8) {
		rule := tokenRule{name: fields[0], prefixes: fields[1], tail: known[fields[2]], min: numberOf(fields[3]), max: numberOf(fields[4])}
		for mark := range strings.SplitSeq(fields[5], ",") {
			rule.mark(mark)
		}
		if rule.tail == nil || rule.min == 0 {
			panic("redact: tokens.tsv: " + rule.name + " has no alphabet or no length")
		}
		rules = append(rules, rule)
	}
	return rules
}

// mark notes one word of the field of marks.
func (t *tokenRule) mark(word string) {
	switch word {
	case "weak":
		t.weak = true
	case "inside":
		t.insideWord = true
	case "apart":
		t.notInBase64 = true
	case "keep":
		t.keepPrefix = true
	case "middle":
		t.prefixInside = true
	case "-":
	default:
		panic("redact: tokens.tsv: " + t.name + " is marked " + word + ", which is no mark")
	}
}

// numberOf reads a length; - is 0, no limit.
func numberOf(field string) int {
	if field == "-" {
		return 0
	}
	n, err := strconv.Atoi(field)
	if err != nil {
		panic("redact: tokens.tsv: " + field + " is no length")
	}
	return n
}

// rowsOf yields the rows of a table but for comments, each of so many fields between tabs. It panics on a row of others.
func rowsOf(table string, n int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			if line = strings.TrimRight(line, "\r\n"); line == "" || line[0] == '#' {
				continue
			}
			fields := strings.Split(line, "\t")
			if len(fields) != n {
				panic("redact: a table has this row of another number of fields: " + line)
			}
			if !yield(fields) {
				return
			}
		}
	}
}

// prefixed looks for a token whose prefix is s[start:end].
func (f *finder) prefixed(l *shape, start, end int) {
	t := &l.token
	if t.prefixInside {
		f.around(l, start, end)
		return
	}
	if !t.insideWord && !f.begins(start) || f.splits(start) || t.notInBase64 && isBase64(f.at(start-1)) && !f.escaped(start) {
		return
	}
	stop := f.tailEnd(l, end)
	if whole := f.unwrapped(start, stop, t.tail); whole > stop && (t.max == 0 || stop-end < t.max) {
		f.addWrapped(t, start, end, stop, whole)
	}
	n := stop - end
	if n < t.min && !f.cutOff(t, start, end, stop) || t.max > 0 && n > t.max || !looksRandom(f.s[end:min(stop, end+decisiveBytes)]) {
		return
	}
	if t.keepPrefix {
		start = end
	}
	f.spans = append(f.spans, Span{Start: start, End: stop, Rule: t.name, Weak: t.weak})
}

// addWrapped adds the token whose prefix is s[start:end], whose first part ends at stop, and whose rest on the next lines at
// whole.
func (f *finder) addWrapped(t *tokenRule, start, end, partEnd, restEnd int) {
	most := restEnd - end // with the line ends
	if most < t.min || t.max > 0 && partEnd-end+restEnd-f.lineBreak(partEnd) > t.max || !looksRandom(f.s[end:min(partEnd, end+decisiveBytes)]) {
		return
	}
	if t.keepPrefix {
		start = end
	}
	f.spans = append(f.spans, Span{Start: start, End: restEnd, Rule: t.name, Weak: t.weak})
}

// around looks for a token in the middle of which s[start:end] stands.
func (f *finder) around(l *shape, start, end int) {
	t := &l.token
	from := start
	for from > 0 && start-from <= t.max && t.tail(f.s[from-1]) && !f.escaped(from) {
		from--
	}
	stop := f.tailEnd(l, end)
	if n := stop - from; n >= t.min && n <= t.max && looksRandom(f.s[from:stop]) {
		f.add(from, stop, t.name)
	}
}

// cutOff reports whether the text ends, or was shortened, in the middle of a token of which enough is there.
func (f *finder) cutOff(t *tokenRule, start, end, stop int) bool {
	const enough, clear = 10, 4 // bytes of the tail, of the prefix
	if stop-end < enough || end-start < clear || t.weak {
		return false
	}
	return stop == len(f.s) || strings.HasPrefix(f.s[stop:], " "+leftOut) || strings.HasPrefix(f.s[stop:], leftOut)
}

// leftOut is how the mark begins that stands where a hook has shortened a text.
const leftOut = "[cmemd: "

// tailEnd returns where what may follow a prefix ends, but for the dots of a sentence.
func (f *finder) tailEnd(l *shape, i int) int {
	if len(f.tails) <= l.tail {
		f.tails = append(f.tails, make([]stretch, l.tail+1-len(f.tails))...)
	}
	return max(i, f.tails[l.tail].end(f.s, i, l.token.tail))
}

// A stretch is the last part of a text, s[from:to], that was made of a class. What begins inside of it ends where it does:
// so that no part is gone through for each place in it where something may begin.
type stretch struct {
	from, to int
	undotted int // to, but for dots before it
}

// end returns where what is made of a class and begins at i ends, but for dots.
func (t *stretch) end(s string, i int, class func(byte) bool) int {
	if i < t.from || i > t.to || t.to == 0 {
		t.from, t.to = i, run(s, i, class)
		t.undotted = t.to
		for t.undotted > i && s[t.undotted-1] == '.' {
			t.undotted--
		}
	}
	return t.undotted
}

// run returns the index of the first byte from i on that is not in a class.
func run(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}
