package agents

import (
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// Codex is OpenAI's Codex CLI. Its hooks have Claude Code's shape, with a turn_id in the prompt_id's place.
//
// What becomes of its hooks:
//
//	hook                          captured as               remarks
//	SessionStart                  SessionOpened{source}     memory is wanted as for Claude Code's sources
//	UserPromptSubmit              PromptSubmitted           inside a subagent: none, an agent wrote it
//	PostToolUse                   ToolUsed                  output is a text; a command that failed looks like one that
//	                                                        printed little: there is no exit code, see Transcript
//	Stop, StopFailure             AgentStopped
//	SubagentStop                  ToolUsed "SubagentStop"
//	SessionEnd                    SessionClosed{reason}
//	notify agent-turn-complete    PromptSubmitted,          the same keys as the hooks of that turn have
//	                              AgentStopped
//	PreCompact, PostCompact       -                         they carry no summary: the rollout does
//	PreToolUse that reads a file  -                         memory of that file is wanted
//	all others, known or not      -                         ignored, with a reason
//
// Replies are strict: Codex refuses one with a field that it does not know, so that only hookSpecificOutput with its event and
// context, and a systemMessage, go out.
type Codex struct{}

// Name is "codex".
func (Codex) Name() string { return "codex" }

// Decode implements Agent.
func (c Codex) Decode(payload []byte, m Meta) (Report, error) {
	p, err := readPayload(payload, m)
	if err != nil {
		return Report{}, err
	}
	if p.name("hook_event_name") == "" && p.name("type") != "" {
		return p.report(c.Name(), shape{event: "type", session: "thread-id", fact: (*hookPayload).notifiedByCodex})
	}
	s := claudeShape()
	s.fact = (*hookPayload).ofCodex
	return p.report(c.Name(), s)
}

// ofCodex says what the payload of a hook becomes.
func (p *hookPayload) ofCodex() fact {
	switch {
	case p.event == "PostCompact":
		return ignore("it carries no summary")
	case p.event == "UserPromptSubmit" && p.name("agent_id") != "":
		return ignore(machineMade)
	}
	return p.ofClaude(p.name("prompt_id", "turn_id"))
}

// notifiedByCodex says what the payload of the program becomes that the setting notify names: it is called when a turn ends.
func (p *hookPayload) notifiedByCodex() fact {
	if p.event != "agent-turn-complete" {
		return notRecorded(p.event)
	}
	var texts []string
	jsonscan.Elements(p.raw("input-messages"), func(message []byte) bool {
		texts = append(texts, stringOf(message))
		return true
	})
	turn := p.name("turn-id")
	prompt := p.prompted(turn, strings.Join(texts, "\n"))
	if len(texts) == 0 {
		prompt = ignore(machineMade)
	}
	if prompt.ignored == "" {
		p.meta.Redactions = nil // they are counted once: with the prompt
	}
	p.before, p.scrubber = append(p.before, prompt), p.meta.scrubber()
	return p.stopped(turn, p.text("last-assistant-message"))
}

// Reply implements Agent.
func (Codex) Reply(r Report, a Answer) []byte { return ClaudeCode{}.Reply(r, a) }
