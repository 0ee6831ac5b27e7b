package redact

import (
	"encoding/base64"
	"strings"
)

// shapes lists the words at which something other than a token with a prefix is looked for.
func shapes() []shape {
	all := []shape{
		{word: "private key", find: (*finder).pem},
		{word: "private-lines:", find: (*finder).putty},
		{word: "://", find: (*finder).address},
		{word: `:\`, exact: true, find: (*finder).escapedAddress},
		{word: "eyJ", exact: true, find: (*finder).webToken},
		{word: "bearer ", find: (*finder).bearer},
		{word: "basic ", find: (*finder).basic},
		{word: "cookie:", find: (*finder).cookies},
		{word: "SSWS ", exact: true, find: (*finder).okta},
		{word: "otpauth:", find: (*finder).oneTime},
		{word: ":AA", exact: true, find: (*finder).telegram},
		{word: "Q~", exact: true, find: (*finder).azure},
		{word: "-us", exact: true, find: (*finder).mailchimp},
		{word: ".atlasv1.", exact: true, find: (*finder).terraform},
		{word: " -u ", exact: true, find: (*finder).user},
		{word: "--user ", exact: true, find: (*finder).user},
	}
	for _, w := range nameWords() {
		all = append(all, shape{word: w, find: (*finder).assigned})
	}
	return append(append(all, spacedShapes()...), accountShapes()...)
}

// webToken looks for a JSON web token: three parts of base64, of which the first is a JSON object.
func (f *finder) webToken(_ *shape, start, end int) {
	if !f.begins(start) && f.at(start-1) != '_' {
		return
	}
	const part = 10
	header := f.parts[0].end(f.s, end, isToken)
	if header-start < part || f.at(header) != '.' {
		return
	}
	claims := f.parts[1].end(f.s, header+1, isToken)
	if claims-header-1 < part || f.at(claims) != '.' {
		return
	}
	if stop := f.parts[2].end(f.s, claims+1, isToken); stop-start >= 40 {
		f.add(start, stop, "json-web-token")
	}
}

// bearer looks for what stands behind that word.
func (f *finder) bearer(_ *shape, start, end int) {
	if !f.begins(start) {
		return
	}
	i := f.blanks(end)
	stop := run(f.s, i, isBearer)
	if stop-i >= 16 && secretive(f.s[i:stop]) {
		f.weak(i, stop, "bearer-token")
	}
}

func isBearer(c byte) bool { return isBase64(c) || c == '.' || c == '~' }

func (f *finder) weak(start, end int, rule string) {
	f.spans = append(f.spans, Span{Start: start, End: end, Rule: rule, Weak: true})
}

// basic looks for a user and a password in base64.
func (f *finder) basic(_ *shape, start, end int) {
	if !f.begins(start) {
		return
	}
	i := f.blanks(end)
	stop := run(f.s, i, isBase64)
	if stop-i < 8 || stop-i > 1024 {
		return
	}
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(f.s[i:stop], "="))
	if err == nil && strings.IndexByte(string(plain), ':') >= 0 && isPrintable(string(plain)) {
		f.add(i, stop, "basic-auth")
	}
}

func isPrintable(s string) bool {
	return !holds(s, func(c byte) bool { return c < ' ' || c == 0x7f })
}

// maxCookies is how much of a header is looked at.
const maxCookies = 4 << 10

// cookies looks for the values in a Cookie or Set-Cookie header.
func (f *finder) cookies(_ *shape, start, end int) {
	limit := min(len(f.s), end+maxCookies)
	for i := end; i < limit; {
		i = f.blanks(i)
		eq := run(f.s[:limit], i, isTokenDot)
		if eq == i || f.at(eq) != '=' {
			return
		}
		f.crumb.end(f.s, eq+1, isCookie)
		stop := f.crumb.to
		if value := f.s[eq+1 : stop]; len(value) >= 16 && looksRandom(value[:min(len(value), decisiveBytes)]) {
			f.weak(eq+1, stop, "cookie")
		}
		if f.at(stop) != ';' {
			return
		}
		i = stop + 1
	}
}

func isCookie(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("\"';,\\<>[]", c) < 0 }

// telegram looks for a bot's token: a number, a colon, 35 characters of which the first two are always the same.
func (f *finder) telegram(_ *shape, start, end int) {
	from := start
	for from > 0 && isDigit(f.s[from-1]) && start-from < 17 {
		from--
	}
	if f.at(from-1) == 'u' && f.at(from-2) == '\\' {
		from += min(4, start-from) // of an escape sequence
	}
	stop := run(f.s, end, isToken)
	if n := start - from; n >= 8 && n <= 16 && stop-end == 33 {
		f.add(from, stop, "telegram-token")
	}
}

// okta looks for a token behind the name of its scheme.
func (f *finder) okta(_ *shape, start, end int) {
	i := f.blanks(end)
	stop := run(f.s[:min(len(f.s), i+maxKey)], i, isToken)
	if f.begins(start) && strings.HasPrefix(f.s[i:], "00") && stop-i >= 40 && stop-i <= 44 && looksRandom(f.s[i:stop]) {
		f.add(i, stop, "okta-token")
	}
}

// maxQuery is how much of the address of a one-time password is looked at.
const maxQuery = 512

// oneTime looks for the secret of one-time passwords, in the address that is shown as a code to scan.
func (f *finder) oneTime(_ *shape, _, end int) {
	stop := run(f.s[:min(len(f.s), end+maxQuery)], end, func(c byte) bool { return c > ' ' && !isQuote(c) })
	for _, sign := range [...]string{"?secret=", "&secret=", `\u0026secret=`, "&amp;secret="} {
		if _, rest, ok := strings.Cut(f.s[end:stop], sign); ok {
			i := stop - len(rest)
			if last := run(f.s, i, isAlnum); last-i >= 16 {
				f.add(i, last, "one-time-secret")
			}
			return
		}
	}
}

// azure looks for a client secret, which has the word behind its first four characters.
func (f *finder) azure(_ *shape, start, end int) {
	from, stop := start-4, run(f.s[:min(len(f.s), end+40)], end, isAzure)
	if from < 0 || !f.begins(from) || !isDigit(f.s[start-1]) || run(f.s[:start], from, isAzure) < start {
		return
	}
	if n := stop - end; n >= 31 && n <= 34 {
		f.add(from, stop, "azure-client-secret")
	}
}

func isAzure(c byte) bool { return isTokenDot(c) || c == '~' }

// mailchimp looks for 32 hex digits before the name of a data centre.
func (f *finder) mailchimp(_ *shape, start, end int) {
	from, stop := start-32, run(f.s, end, isDigit)
	if from < 0 || stop == end || stop-end > 2 || isWord(f.at(stop)) || !f.begins(from) || run(f.s[:start], from, isHex) != start {
		return
	}
	f.add(from, stop, "mailchimp-key")
}

// terraform looks for 14 characters before the word and 60 or more behind it.
func (f *finder) terraform(_ *shape, start, end int) {
	from, stop := start-14, run(f.s, end, isTokenEq)
	if from < 0 || !f.begins(from) || run(f.s[:start], from, isAlnum) != start || stop-end < 60 {
		return
	}
	f.add(from, stop, "terraform-token")
}

// maxCommand is how far before its option the name of a program is looked for.
const maxCommand = 256

// user looks for a password behind a user's name, as curl takes them. Other programs take ids, folders and branches there.
func (f *finder) user(_ *shape, start, end int) {
	if !strings.Contains(f.s[max(0, start-maxCommand):start], "curl") {
		return
	}
	i := end
	if f.at(i) != '"' || !f.json {
		i = f.skipQuote(i)
	}
	colon := run(f.s, i, func(c byte) bool { return isTokenDot(c) || c == '@' || c == '+' })
	if colon == i || colon-i > 128 || f.at(colon) != ':' {
		return
	}
	stop := run(f.s, colon+1, isCookie)
	pass := f.s[colon+1 : stop]
	if len(pass) < 6 || pass[0] == '/' || hides(pass) {
		return
	}
	if holds(pass, isDigit) && holds(pass, isLetter) || isChosen(pass) && f.curls(start) {
		f.weak(colon+1, stop, "user-password")
	}
}
