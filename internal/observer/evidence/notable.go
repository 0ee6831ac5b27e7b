package evidence

import (
	"slices"

	"github.com/cmemd/cmemd/events"
)

// Notable reports whether the tool call is one that an observer should have something to say about: it changed a file,
// made a commit, or ran tests that failed. It goes by the call's fields, patches, programs and exit alone. A line that
// runs tests and failed is a failed test run, whichever of its programs ended it; one that was interrupted is none.
func Notable(t events.ToolUsed) bool {
	c := Parse(t)
	if _, modified := c.Files(); len(modified) > 0 {
		return true
	}
	if c.kind != Command {
		return false
	}
	s := c.Shape()
	if s.Failed {
		return !c.out.isTrue("interrupted") && slices.ContainsFunc(c.runs, isTest)
	}
	return len(s.Commits) > 0 || slices.ContainsFunc(c.runs, commitsQuietly)
}

// commitsQuietly reports whether c makes a commit of which git says nothing.
func commitsQuietly(c Simple) bool {
	sub, args := c.Git()
	if sub != "commit" || asksOnly(args) || slices.Contains(args, "--dry-run") {
		return false
	}
	return slices.ContainsFunc(args, func(a string) bool { return a == "-q" || a == "--quiet" || a == "-qm" || a == "-qam" || a == "-aqm" })
}
