package redact

import (
	"slices"
	"strings"
)

// nameWords are parts of the names to which secrets are assigned.
func nameWords() []string {
	return []string{"pass", "pwd", "secret", "token", "key", "auth", "credential", "signature", "sig", "connectionstring", "salt"}
}

// A kind says how much a value has to look like a secret to be one, by its name.
type kind byte

const (
	noName   kind = iota
	password      // people choose them
	secret        // drawn by lot, or chosen
	token         // drawn by lot
	scheme        // behind the word for a scheme
)

func (k kind) rule() string {
	switch k {
	case password:
		return "password"
	case scheme:
		return "authorization"
	}
	return "secret"
}

// maxKey bounds the names that are looked at.
const maxKey = 80

// assigned looks for a value behind the name in which s[start:end] stands.
func (f *finder) assigned(_ *shape, start, end int) {
	if start < f.named {
		return
	}
	stop := run(f.s, end, isToken)
	from := start
	for from > 0 && start-from < maxKey && isTokenDot(f.s[from-1]) {
		from--
	}
	if f.escaped(from + 1) {
		from++ // the letter of an escape sequence is none of the name
	}
	f.named = stop
	if stop-from > 2*maxKey {
		return
	}
	if f.at(from-1) == '/' && f.skipQuote(stop) > stop { // of a path
		return
	}
	line := from
	if holds(f.s[from:stop], isLower) {
		from = f.behindLine(from, stop)
	}
	n := name{text: f.s[from:stop], end: stop}
	n.upper = !holds(n.text, isLower)
	a, ok := f.assignment(n)
	if !ok {
		return
	}
	n.line = n.upper && (line < from || f.startsLine(from))
	n.kind = f.kindOf(n, from)
	if n.kind != noName {
		f.value(n, a)
	}
}

// kindOf tells what is assigned to the name that begins at i.
func (f *finder) kindOf(n name, i int) kind {
	if k := kindOf(n.text, n.upper); k != noName {
		return k
	}
	switch before := f.at(i - 1); {
	case n.text == "sig" && (before == '?' || before == '&'):
		return token
	case strings.EqualFold(n.text, "key") && before == ' ':
		return f.spacedKey(i)
	}
	return noName
}

// A name is what a value is assigned to.
type name struct {
	text  string
	end   int // of it in the text
	kind  kind
	upper bool // NAMES_LIKE_THIS are of the environment: what stands behind them is no code
	line  bool // it begins a line: the value is the rest of it
}

// startsLine reports whether what is at i begins a line, or is exported.
func (f *finder) startsLine(i int) bool {
	if i == 0 || f.s[i-1] == '\n' || f.escaped(i) {
		return true
	}
	return strings.HasSuffix(f.s[:i], "export ") || f.numbered(i) || f.directive(i)
}

// numbered reports whether what is at i stands behind the number of its line, as tools print it: 7→, 7:, 7 and a tab.
func (f *finder) numbered(i int) bool {
	for _, sign := range [...]string{"→", ":", "\t"} {
		if rest, ok := strings.CutSuffix(f.s[:i], sign); ok {
			return rest != "" && isDigit(rest[len(rest)-1])
		}
	}
	return false
}

// spacedKey is the kind of a name in two words of which the second is "key", at i.
func (f *finder) spacedKey(i int) kind {
	from := i - 1
	for from > 0 && i-from < 16 && isLetter(f.s[from-1]) {
		from--
	}
	return kindOf(f.s[from:i-1]+"key", false)
}

// kindOf tells what is assigned to a name by how it ends, without the signs between its words and a number behind it.
func kindOf(name string, upper bool) kind {
	var buf [2 * maxKey]byte
	flat := buf[:0]
	for i := range len(name) {
		if c := lower(name[i]); isLetter(c) || isDigit(c) {
			flat = append(flat, c)
		}
	}
	for len(flat) > 0 && isDigit(flat[len(flat)-1]) {
		flat = flat[:len(flat)-1]
	}
	s := string(flat)
	switch {
	case endsIn(s, "publickeydata"), s == "pwd" && upper, strings.HasSuffix(s, "oldpwd"), // folders of a shell
		s == "pass" && upper: // what tests do
		return noName
	case s == "requirepass", s == "masterauth":
		return password
	case endsIn(s, "password", "passwd", "passphrase", "passcode", "pwd"), endsInPass(name):
		return password
	case endsIn(s, "secret", "secretkey", "secretkeybase", "secretvalue", "credential", "credentials", "connectionstring"):
		return secret
	case s == "authorization" || endsIn(s, "proxyauthorization"):
		return scheme
	case endsIn(s, "token", "apikey", "accesskey", "privatekey", "encryptionkey", "signingkey", "authkey", "masterkey",
		"accountkey", "storagekey", "sessionkey", "servicekey", "deploykey", "consumerkey", "hmackey", "jwtkey", "adminkey",
		"applicationkey", "appkey", "subscriptionkey", "functionskey", "functionkey", "licensekey", "sharedkey", "clientkey", "webhookkey",
		"rootkey", "userkey", "serverkey", "integrationkey", "ingestkey", "writekey", "xfunctionskey", "securitykey", "tokenvalue", "tokenkey",
		"keydata", "amzsignature", "googsignature"), s == "auth", strings.HasSuffix(name, "_auth"), s == "salt", endsIn(name, "_salt", "-salt", "_SALT", "Salt"):
		return token
	case upper && strings.HasSuffix(s, "key") && !endsIn(s, "publickey", "cachekey", "primarykey", "foreignkey", "sortkey", "partitionkey"):
		return token
	}
	return noName
}

func endsIn(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(s, w) })
}

// endsInPass is for a last word "pass": no bypass, no compass.
func endsInPass(name string) bool {
	rest, ok := strings.CutSuffix(strings.ToLower(name), "pass")
	if !ok || rest == "" {
		return ok
	}
	return !isLetter(rest[len(rest)-1]) || name[len(rest)] == 'P' && isLower(name[len(rest)-1])
}
