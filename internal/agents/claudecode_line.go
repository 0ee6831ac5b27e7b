package agents

import (
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/jsonscan"
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

// read reads the members of a line.
func (l *claudeLine) read(line []byte) {
	var stamp, parentTool string
	var synthetic bool
	var forked, compaction []byte
	fields := []field{
		{"type", (*asName)(&l.kind)},
		{"subtype", (*asText)(&l.subtype)},
		{"uuid", (*asName)(&l.uuid)},
		{"parentUuid", (*asName)(&l.parent)},
		{"sessionId", (*asID)(&l.session)},
		{"session_id", (*asID)(&l.session)},
		{"forkedFrom", &forked},
		{"cwd", (*asText)(&l.cwd)},
		{"gitBranch", (*asName)(&l.branch)},
		{"promptId", (*asName)(&l.promptID)},
		{"agentId", (*asName)(&l.agentID)},
		{"agent_id", (*asName)(&l.agentID)},
		{"error", (*asText)(&l.failure)},
		{"timestamp", (*asText)(&stamp)},
		{"isMeta", &l.meta},
		{"isSynthetic", &synthetic},
		{"parent_tool_use_id", (*asText)(&parentTool)},
		{"isSidechain", &l.side},
		{"isCompactSummary", &l.compacted},
		{"isApiErrorMessage", &l.apiError},
		{"compactMetadata", &compaction},
		{"snapshot", &l.snapshot},
		{"message", &l.message},
		{"toolUseResult", &l.result},
		{"tool_use_result", &l.result},
		{"attachment", &l.attachment},
	}
	jsonscan.Members(line, func(key string, value []byte) bool {
		setField(fields, key, value)
		return true
	})
	l.at, l.meta, l.side = parseTime(stamp), l.meta || synthetic, l.side || parentTool != ""
	l.forkedFrom, l.trigger = strings.TrimSpace(member(forked, "sessionId")), cleanName(member(compaction, "trigger"), maxName)
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
