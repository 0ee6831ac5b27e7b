// Package harness lists the elements that agents' harnesses write into texts: around a person's words, beside them, or in
// their place. Decoders of agents, the built-in extractor and the fence around memory read the same lists.
package harness

// Memory is the element around what this memory gives an agent.
const Memory = "cmemd-context"

// Instructions are elements in which a harness says things to the model, anywhere in a conversation.
func Instructions() []string {
	return []string{"system-reminder", "system-instruction", "system_instruction"}
}

// Memories are elements that this memory and another one put into a conversation.
func Memories() []string { return []string{Memory, "claude-mem-context"} }

// Beside are elements that stand where a person's words stand and hold none of them: news of a background task, and what was
// printed by commands that ran beside the conversation.
func Beside() []string {
	return []string{
		"task-notification", "local-command-caveat", "local-command-stdout", "local-command-stderr",
		"command-message", "command-contents", "bash-stdout", "bash-stderr",
		"user-prompt-submit-hook",
	}
}

// Typed are elements beside these that hold a command as a person typed it.
func Typed() []string { return []string{"command-name", "command-args", "bash-input"} }

// Codex are elements that Codex writes where a person's words stand.
func Codex() []string {
	return []string{
		"environment_context", "user_instructions", "INSTRUCTIONS", "turn_aborted",
		"user_shell_command", "skill", "subagent_notification", "permissions", "collaboration_mode",
		"skills_instructions", "apps_instructions",
	}
}

// Context are elements of any harness that hold what surrounds a conversation, or what a model thought, and are so named that
// nobody else writes them.
func Context() []string {
	return []string{
		"system_reminder", "persisted-output", "private", "think", "thinking", "analysis",
		"environment_context", "user_instructions", "turn_aborted", "attached_files",
		"open_and_recently_viewed_files", "additional_data", "skill_content", "user_info",
		"git_status",
	}
}

// Around are elements around what somebody said or a tool answered.
func Around() []string { return []string{"user_query", "tool_use_error", "summary", "user-prompt"} }
