package sentence

import "strings"

// What was done to a file since something was said of it, behind the file's name.
const (
	Changed = " was changed"
	Removed = " was removed"
)

// datedPrefix is what Dated begins with.
const datedPrefix = "Before "

// Dated is a text with what was done, later, to what it speaks of: "Before cart.go was changed: ...".
func Dated(text, done string) string { return datedPrefix + done + ": " + text }

// DateOf is what Dated put before a text, with the colon; empty: nothing.
func DateOf(text string) string {
	done, _, ok := strings.Cut(text, ": ")
	if !ok || !strings.HasPrefix(done, datedPrefix) || !strings.HasSuffix(done, Changed) && !strings.HasSuffix(done, Removed) {
		return ""
	}
	return done + ":"
}
