package claudecli

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// defuse makes a prompt nothing but text to the client. The client reads a file that is mentioned by an @ after white space
// and sends it along, and takes what begins with a slash for a command; neither happens behind a backslash. It is told to
// leave files alone by its environment too, but a batch is full of other people's words, and a client that has
// forgotten that variable would send their choice of this machine's files.
//
// Only mentions that can leave the empty folder in which the client runs are touched: `@Override` and `@scope/package` stay.
func defuse(prompt string) string {
	var b strings.Builder
	if strings.HasPrefix(strings.TrimLeftFunc(prompt, isSpace), "/") {
		b.WriteByte('\\')
	}
	rest, before := prompt, ' '
	for {
		i := strings.IndexByte(rest, '@')
		if i < 0 {
			b.WriteString(rest)
			return b.String()
		}
		if i > 0 {
			before, _ = utf8.DecodeLastRuneInString(rest[:i])
		}
		b.WriteString(rest[:i])
		if isSpace(before) && leaves(rest[i+1:]) {
			b.WriteByte('\\')
		}
		b.WriteByte('@')
		rest, before = rest[i+1:], '@'
	}
}

// leaves reports whether a mention that goes on with s could name something outside the folder that it is said in.
func leaves(s string) bool {
	if s == "" {
		return false
	}
	if strings.IndexByte(`/\~"'.$%`, s[0]) >= 0 {
		return true
	}
	token := s
	if i := strings.IndexFunc(s, isSpace); i >= 0 {
		token = s[:i]
	}
	return strings.Contains(token, "..") || strings.Contains(token, ":")
}

// isSpace is what the client's expressions take for white space: Unicode's, and the byte order mark.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' || r == '\u180e' }
