package redact

import "strings"

// What stands behind a blank, and not behind a sign, is a secret only where something says so: a line of a Dockerfile, of
// netrc or of redis, a statement of SQL, a shell that is no Bourne shell.

// spacedShapes lists the words at which that is looked for, beside the names of values.
func spacedShapes() []shape {
	all := append(commandShapes(), shape{word: "identified ", find: (*finder).identified})
	for _, first := range discordStarts() {
		all = append(all, shape{word: first, exact: true, find: (*finder).discord})
	}
	return all
}

// spaced returns where the value begins that stands behind a name and a blank at i, or -1.
func (f *finder) spaced(n name, i int) int {
	from := n.end - len(n.text)
	at, same := f.gap(i), f.blanks(i)
	switch {
	case at == i || at >= len(f.s):
	case f.directive(from), f.sets(from), n.text == "requirepass", n.text == "masterauth", n.text == "add-authtoken",
		n.text == "authtoken" && strings.HasSuffix(f.s[:from], "ngrok "):
		if at == same { // what stands on the next line is another thing
			return at
		}
	case strings.EqualFold(n.text, "password") && (f.at(at) == '\'' || f.netrc(from)):
		return at
	}
	return -1
}

// gap returns the index behind blanks, line ends and escaped line ends from i on.
func (f *finder) gap(i int) int {
	for {
		switch {
		case isSpace(f.at(i)):
			i++
		default:
			next := f.escapedBlank(i)
			if next == i {
				return i
			}
			i = next
		}
	}
}

// directive reports whether a line of a Dockerfile sets the variable whose name begins at i.
func (f *finder) directive(i int) bool {
	for _, word := range [...]string{"env ", "arg "} {
		if at := i - len(word); f.has(at, word) && (at == 0 || isSpace(f.s[at-1]) || isQuote(f.s[at-1]) || f.escaped(at)) {
			return f.s[at] == 'E' || f.s[at] == 'A'
		}
	}
	return false
}

// maxSet is how much of a line is looked at before the variable that it sets.
const maxSet = 64

// sets reports whether a command of fish, csh or Windows puts the variable whose name begins at i into the environment:
// set -x, setenv, setx.
func (f *finder) sets(i int) bool {
	before := f.s[max(0, i-maxSet):i]
	if !isBlank(f.at(i-1)) || !strings.Contains(before, "set") {
		return false
	}
	words := strings.Fields(strings.ReplaceAll(before[strings.LastIndexAny(before, "\n;|&\"'`")+1:], `\n`, " "))
	exports := false
	for k := len(words) - 1; k >= 0; k-- {
		switch w := words[k]; {
		case w == "setx", w == "setenv":
			return k == len(words)-1
		case w == "set":
			return exports
		case w == "--export", strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "x"):
			exports = true
		case !strings.HasPrefix(w, "-"):
			return false
		}
	}
	return false
}

// maxNetrc is how far before its password an entry of netrc begins.
const maxNetrc = 256

// netrc reports whether the word password that begins at i is one of an entry of netrc.
func (f *finder) netrc(i int) bool {
	words := strings.Fields(strings.NewReplacer(`\n`, " ", `\t`, " ").Replace(f.s[max(0, i-maxNetrc):i]))
	n := len(words)
	if n < 2 {
		return false
	}
	is := func(back int, word string) bool { return n >= back && strings.HasSuffix(words[n-back], word) }
	switch words[n-2] {
	case "login", "account":
		return is(4, "machine") || is(4, "login") || is(3, "default")
	}
	return is(2, "machine")
}

// identified looks for the password of IDENTIFIED BY 'x', perhaps WITH a plugin.
func (f *finder) identified(_ *shape, start, end int) {
	if !f.begins(start) {
		return
	}
	i := f.gap(end)
	if f.has(i, "with ") {
		i = f.gap(run(f.s, f.gap(i+len("with ")), func(c byte) bool { return isWord(c) || isQuote(c) && c != '"' }))
	}
	if f.has(i, "using ") {
		i += len("using ")
	} else if f.has(i, "by ") {
		i += len("by ")
	} else {
		return
	}
	if i = f.gap(i); f.has(i, "password ") {
		i = f.gap(i + len("password "))
	}
	v := f.readLiteral(place{at: i}, name{})
	if text := f.s[v.start:v.end]; text != "" && !hides(text) && (v.quoted && f.at(v.start-1) != '`' || isMixed(text)) {
		f.weak(v.start, v.end, "password")
	}
}

// discordStarts lists how the token of a bot begins: with the first two digits of a number, in base64.
func discordStarts() (starts []string) {
	for _, first := range [...]string{"MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"} {
		for _, second := range "AEIMQUYcgk" {
			starts = append(starts, first+string(second))
		}
	}
	return starts
}

// discord looks for a bot's token: its number, a time and a signature in base64, with dots between.
func (f *finder) discord(_ *shape, start, end int) {
	if !f.begins(start) || f.at(start-1) == '.' {
		return
	}
	number := run(f.s[:min(len(f.s), start+32)], end, isToken)
	if n := number - start; n < 23 || n > 28 || f.at(number) != '.' {
		return
	}
	when := run(f.s[:min(len(f.s), number+10)], number+1, isToken)
	if n := when - number - 1; n < 6 || n > 7 || f.at(when) != '.' {
		return
	}
	stop := run(f.s[:min(len(f.s), when+64)], when+1, isToken)
	if n := stop - when - 1; n >= 27 && n <= 48 {
		f.add(start, stop, "discord-token")
	}
}
