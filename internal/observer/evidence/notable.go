package evidence

import (
	"slices"
	"strings"
)

// Notable reports whether the call is one that an observer should have something to say about: it changed a file,
// made a commit, or ran tests that failed. It goes by the call's fields, patches, programs and exit alone. A line that
// runs tests and failed is a failed test run, whichever of its programs ended it; one that was interrupted is none.
func (c *Call) Notable() bool {
	switch {
	case len(c.modified) > 0:
		return true
	case c.kind != Command:
		return false
	case c.shape.Failed:
		return !c.out.isTrue("interrupted") && slices.ContainsFunc(c.runs, isTest)
	}
	return len(c.shape.Commits) > 0 || slices.ContainsFunc(c.runs, commitsQuietly)
}

// commitsQuietly reports whether c makes a commit of which git says nothing.
func commitsQuietly(c Simple) bool {
	_, quiet := c.QuietCommit()
	return quiet
}

// QuietCommit reports whether the command makes a commit of which git prints nothing, and the subject that it gives to it; empty: it
// takes that from elsewhere.
func (c Simple) QuietCommit() (subject string, ok bool) {
	sub, args := c.Git()
	if sub != "commit" || asksOnly(args) || slices.Contains(args, "--dry-run") {
		return "", false
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		short := len(a) > 1 && a[0] == '-' && a[1] != '-'
		ok = ok || a == "--quiet" || short && strings.Trim(a[1:], "aqmsSvne") == "" && strings.Contains(a, "q")
		text, long := strings.CutPrefix(a, "--message=")
		if behind := a == "--message" || short && strings.HasSuffix(a, "m"); behind && i+1 < len(args) {
			i++
			text, long = args[i], true
		}
		if long && subject == "" {
			subject = subjectOf(text)
		}
	}
	return subject, ok
}

// subjectOf is the first line of a message, also of one that a here-document holds.
func subjectOf(message string) string {
	message = strings.TrimSpace(message)
	if script, ok := strings.CutPrefix(message, "$("); ok {
		first, rest, _ := strings.Cut(script, "\n")
		if !strings.Contains(first, "<<") {
			return ""
		}
		message = strings.TrimSpace(rest)
	}
	first, _, _ := strings.Cut(message, "\n")
	if strings.ContainsAny(first, "$`") { // what a shell puts there is not known
		return ""
	}
	return strings.TrimSpace(first)
}
