package agents

import (
	"strings"
	"time"
)

// claudeLine holds the fields of a line that mean something here. Raw fields alias the line.
type claudeLine struct {
	kind, subtype, uuid, parent          string
	session, cwd, branch, promptID       string
	agentID, agentType, failure, trigger string
	forkedFrom                           string // the session of which the line is a copy
	denial                               string // who refused the tool use of which it has the result; empty: nobody, or an older version
	meta, sideChain, compacted, apiError bool
	at                                   time.Time
	message, result, attachment          []byte
	snapshot                             []byte
}

// read reads the members of a line. It may use the memory of spare, and returns it.
func (l *claudeLine) read(line []byte, spare members) members {
	m := appendMembers(spare[:0], line)
	*l = claudeLine{
		kind: m.name("type"), subtype: m.text("subtype"), uuid: m.name("uuid"), parent: m.name("parentUuid"),
		session: m.id("sessionId", "session_id"), cwd: m.text("cwd"), branch: m.name("gitBranch"), promptID: m.name("promptId"),
		agentID: m.name("agentId", "agent_id"), agentType: m.name("attributionAgent"), failure: m.text("error"), denial: m.name("toolDenialKind"),
		trigger:    cleanName(member(m.raw("compactMetadata"), "trigger"), maxName),
		forkedFrom: strings.TrimSpace(member(m.raw("forkedFrom"), "sessionId")),
		meta:       m.flag("isMeta") || m.flag("isSynthetic"), sideChain: m.flag("isSidechain") || m.text("parent_tool_use_id") != "",
		compacted: m.flag("isCompactSummary"), apiError: m.flag("isApiErrorMessage"), at: parseTime(m.text("timestamp")),
		message: m.raw("message"), result: m.raw("toolUseResult", "tool_use_result"), attachment: m.raw("attachment"),
		snapshot: m.raw("snapshot"),
	}
	return m
}

// matters reports whether lines of this kind say what happened; most are the agent's own bookkeeping.
func (l *claudeLine) matters() bool {
	switch l.kind {
	case "user", "assistant", "result":
		return true
	case "system":
		return l.subtype == "stop_hook_summary" || l.subtype == "compact_boundary"
	case "attachment":
		return member(l.attachment, "type") == "queued_command"
	}
	return false
}
