package agents

import (
	"strings"

	"github.com/cmemd/cmemd/events"
)

// How Claude Code (2.0 to 2.1) says in the place of a tool's output that the person refused the call, and what they said. It is the
// agent's own text, and may change with its versions: what is not known is no refusal.
const (
	refusedPrefix = "The user doesn't want to proceed with this tool use."
	refusedReason = "To tell you how to proceed, the user said:\n"
	refusedNote   = "\n\nNote: The user's next message may contain a correction or preference."
)

// refusedBy are the values of a line's toolDenialKind and toolUseResult by which Claude Code says that a person refused a call.
const (
	refusedByPerson = "user-rejected"
	refusedResult   = "User rejected tool use"
)

// writesOwnOutput are the tools of Claude Code whose output nobody else writes: where it says that the call was refused, it was. What a
// command, a page or another server answers may say anything.
func writesOwnOutput(tool string) bool {
	switch tool {
	case "Edit", "MultiEdit", "Write", "NotebookEdit", "ExitPlanMode":
		return true
	}
	return false
}

// isRefused reports whether the result of a failed call is that a person refused it.
func (l *claudeLine) isRefused(u events.ToolUsed) bool {
	if !u.Failed || l.sideChain || !strings.HasPrefix(u.Output, refusedPrefix) {
		return false
	}
	return l.denial == refusedByPerson || stringOf(l.result) == refusedResult || l.denial == "" && writesOwnOutput(u.Tool)
}

// Refusal is what a person said who refused a call; empty: nothing, or nobody did.
func Refusal(u events.ToolUsed) string {
	_, reason, _ := strings.Cut(u.Output, refusedReason)
	if !u.Refused || u.Tool == "AskUserQuestion" { // there the agent itself goes on in the person's place
		return ""
	}
	reason, _, _ = strings.Cut(reason, refusedNote)
	return strings.TrimSpace(reason)
}
