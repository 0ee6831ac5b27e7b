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
	messages, ok := c.commitOptions(args)
	subject, _, _ = strings.Cut(strings.TrimSpace(strings.Join(messages, "\n")), "\n")
	if strings.ContainsAny(subject, "$`") { // what a shell puts there is not known
		return "", ok
	}
	return strings.TrimSpace(subject), ok
}

// CommitMessage is the message that the command gives to a commit, as it is written there, also where a here-document holds it; empty: it
// gives none, or takes it from elsewhere.
func (c Simple) CommitMessage() string {
	sub, args := c.Git()
	if sub != "commit" {
		return ""
	}
	messages, _ := c.commitOptions(args)
	return strings.Join(messages, "\n\n")
}

// commitOptions are the messages among the arguments of git commit, as far as they are known, and whether git is to print nothing. One
// that git reads from its standard input is what a here-document holds.
func (c Simple) commitOptions(args []string) (messages []string, quiet bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		short := len(a) > 1 && a[0] == '-' && a[1] != '-'
		file, named := strings.CutPrefix(a, "--file=")
		if short && strings.HasSuffix(a, "F-") {
			a, file, named = strings.TrimSuffix(a, "-"), "-", true
		}
		quiet = quiet || a == "--quiet" || short && strings.Trim(a[1:], "aqmsSvneF") == "" && strings.Contains(a, "q")
		text, long := strings.CutPrefix(a, "--message=")
		if behind := a == "--message" || short && strings.HasSuffix(a, "m"); behind && i+1 < len(args) {
			i++
			text, long = args[i], true
		}
		if text = written(text); long && text != "" {
			messages = append(messages, text)
		}
		if behind := !named && (a == "--file" || short && strings.HasSuffix(a, "F")); behind && i+1 < len(args) {
			i++
			file, named = args[i], true
		}
		if text = strings.TrimSpace(c.Input); named && file == "-" && text != "" {
			messages = append(messages, text)
		}
	}
	return messages, quiet
}

// written is what a message says, also one that a here-document holds. Of another substitution it is not known.
func written(message string) string {
	message = strings.TrimSpace(message)
	script, substituted := strings.CutPrefix(message, "$(")
	if !substituted {
		return message
	}
	first, rest, _ := strings.Cut(script, "\n")
	_, redirection, _ := strings.Cut(first, "<<")
	end := strings.Fields(strings.TrimPrefix(redirection, "-"))
	if len(end) == 0 {
		return ""
	}
	var text strings.Builder
	for l := range strings.Lines(rest) {
		if strings.TrimSpace(l) == strings.Trim(end[0], `\'"`) {
			break
		}
		text.WriteString(l)
	}
	return strings.TrimSpace(text.String())
}
