package redact

import "strings"

// A password that is an ordinary word is known by its place alone: where settings stand that are no code, and where nothing
// else could be meant. What is written there in the place of one is told by its form.

// plain reports whether a word without quotes is the password that a setting has.
func (f *finder) plain(n name, a place, v literal) bool {
	if n.kind != password || v.quoted || v.call || a.member || !isChosen(f.s[v.start:v.end]) {
		return false
	}
	from, direct := n.end-len(n.text), a.direct && v.start == n.end+1
	switch {
	case strings.HasPrefix(n.text, "--"):
		return direct && v.last
	case n.upper:
		return f.s[n.end] == ':' && isBlank(f.at(n.end+1)) && f.opensLine(from) && f.endsLine(v.end)
	case strings.EqualFold(n.text, "password"), strings.EqualFold(n.text, "pwd"):
		return direct && f.connects(from, v.end)
	}
	return direct && isProperty(n.text) && f.opensLine(from) && f.endsLine(v.end)
}

// isChosen reports whether s can be a word that somebody chose. Names of variables and types have other letters; some words
// are written where a password is to be put.
func isChosen(s string) bool {
	if len(s) < 6 || len(s) > 64 || !holds(s, isLower) || isSwitch(s) || hides(s) || strings.Contains(s, "passw") {
		return false
	}
	if holds(s, func(c byte) bool { return !isLowerDigit(c) && c != '-' }) {
		return false
	}
	switch s {
	case "secret", "secrets", "username", "variable", "default", "example", "unknown", "missing", "hidden", "masked", "hashed", "return",
		"database", "not-set", "unicode", "passphrase":
		return false
	}
	return true
}

// isProperty reports whether a name is one of a file of properties, and not of a field of something in code.
func isProperty(name string) bool {
	name = strings.TrimPrefix(name, "-") // the sign of a patch
	return strings.Count(name, ".") >= 2 && !holds(name, isUpper) && !strings.HasPrefix(name, "self.") && !strings.HasPrefix(name, "this.")
}

// maxIndent bounds the blanks that a line begins with.
const maxIndent = 128

// opensLine reports whether nothing but blanks, the signs of lists and patches, and what tools put before lines stands before
// i in its line or string.
func (f *finder) opensLine(i int) bool {
	for range 3 {
		for n := 0; n < maxIndent && isBlank(f.at(i-1)); n++ {
			i--
		}
		switch c := f.at(i - 1); {
		case i == 0, c == '\n', isQuote(c), f.escaped(i), strings.HasSuffix(f.s[:i], "→"):
			return true
		case (c == ':' || c == '-') && isDigit(f.at(i-2)):
			return true
		case c != '+' && c != '-':
			return false
		}
		i--
	}
	return false
}

// endsLine reports whether nothing but blanks and a comment stands from i on in its line or string.
func (f *finder) endsLine(i int) bool {
	end := f.blanks(i)
	switch c := f.at(end); {
	case end == len(f.s), c == '\n', c == '\r', isQuote(c):
		return true
	case c == '\\': // of a line end, or a quote, in JSON, as often as it is quoted
		next := f.at(run(f.s, end, isSlash))
		return next == 'n' || next == 'r' || isQuote(next)
	default:
		return c == '#' && end > i
	}
}

// maxConnection is how far from its password the other settings of a connection are looked for.
const maxConnection = 256

// connects reports whether the password that is assigned in s[start:end] is one of a connection's settings.
func (f *finder) connects(start, end int) bool {
	before := f.s[max(0, start-maxConnection):start]
	before = before[strings.LastIndexAny(before, "\n\"'`")+1:]
	if rest := strings.TrimRight(before, " "); strings.HasSuffix(rest, ";") {
		return isConnection(before)
	}
	after := f.s[end:min(len(f.s), end+maxConnection)]
	if i := strings.IndexAny(after, "\n\"'`"); i >= 0 {
		after = after[:i]
	}
	return strings.HasPrefix(after, ";") && isConnection(after)
}

// isConnection reports whether s says whose a connection is, or where to.
func isConnection(s string) bool {
	return containsOne(strings.ToLower(s), "server=", "user id=", "uid=", "data source=", "host=", "username=", "user=")
}

// behindLine returns where the name begins that stands behind a file's name and the number of a line, as grep puts them before
// lines around what it found; from where nothing does.
func (f *finder) behindLine(from, stop int) int {
	for i := stop - 1; i > from+1; i-- {
		if c := f.s[i-1]; c != '-' || !isDigit(f.s[i-2]) {
			continue
		}
		digits := i - 2
		for digits > from && isDigit(f.s[digits-1]) {
			digits--
		}
		if digits > from && f.s[digits-1] == '-' && !holds(f.s[i:stop], isLower) {
			return i
		}
	}
	return from
}

// curls reports whether curl is the program whose option is at i.
func (f *finder) curls(i int) bool {
	before := f.s[max(0, i-maxCommand):i]
	at := strings.LastIndex(before, "curl")
	return at >= 0 && !strings.ContainsAny(before[at:], "|;&\n`") && !strings.Contains(before[at:], `\n`)
}
