package agents

import (
	"strings"
	"time"
)

// claudeLine holds the fields of a line that mean something here. Raw fields alias the line.
type claudeLine struct {
	kind, subtype, uuid, parent     string
	session, cwd, branch, promptID  string
	agentID, failure, trigger       string
	forkedFrom                      string // the session of which the line is a copy
	meta, side, compacted, apiError bool
	at                              time.Time
	message, result, attachment     []byte
	snapshot                        []byte
}

func (l *claudeLine) set(key string, value []byte) {
	switch key {
	case "type":
		l.kind = cleanName(stringOf(value), maxName)
	case "subtype":
		l.subtype = stringOf(value)
	case "uuid":
		l.uuid = cleanName(stringOf(value), maxName)
	case "parentUuid":
		l.parent = cleanName(stringOf(value), maxName)
	case "sessionId", "session_id":
		l.session = strings.TrimSpace(stringOf(value))
	case "forkedFrom":
		l.forkedFrom = strings.TrimSpace(member(value, "sessionId"))
	case "cwd":
		l.cwd = stringOf(value)
	case "gitBranch":
		l.branch = cleanName(stringOf(value), maxName)
	case "promptId":
		l.promptID = cleanName(stringOf(value), maxName)
	case "agentId", "agent_id":
		l.agentID = cleanName(stringOf(value), maxName)
	case "error":
		l.failure = stringOf(value)
	case "timestamp":
		l.at = parseTime(stringOf(value))
	case "isMeta", "isSynthetic":
		l.meta = l.meta || isTrue(value)
	case "parent_tool_use_id":
		l.side = l.side || stringOf(value) != ""
	case "isSidechain":
		l.side = isTrue(value)
	case "isCompactSummary":
		l.compacted = isTrue(value)
	case "isApiErrorMessage":
		l.apiError = isTrue(value)
	case "compactMetadata":
		l.trigger = cleanName(member(value, "trigger"), maxName)
	case "snapshot":
		l.snapshot = value
	case "message":
		l.message = value
	case "toolUseResult", "tool_use_result":
		l.result = value
	case "attachment":
		l.attachment = value
	}
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
