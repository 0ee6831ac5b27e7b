package agents

import (
	"strings"

	"github.com/cmemd/cmemd/actors/session"
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
	var p codexPayload
	if err := readPayload(payload, p.set); err != nil {
		return Report{}, err
	}
	if p.event == "" && p.kind != "" {
		return p.notified(c.Name(), m)
	}
	if err := p.check(); err != nil {
		return Report{}, err
	}
	switch {
	case p.event == "PostCompact":
		return p.without(c.Name(), "it carries no summary"), nil
	case p.event == "UserPromptSubmit" && p.agentID != "":
		return p.without(c.Name(), machineMade), nil
	}
	return p.report(c.Name(), m), nil
}

// codexPayload is a hook's payload, or that of the program named by the setting notify, which says less.
type codexPayload struct {
	claudePayload
	kind, thread, turn, said string
	asked                    []string
}

func (p *codexPayload) set(key string, value []byte) {
	p.claudePayload.set(key, value)
	switch key {
	case "turn_id":
		p.promptID = cleanName(stringOf(value), maxName)
	case "type":
		p.kind = cleanName(stringOf(value), maxName)
	case "thread-id":
		p.thread = strings.TrimSpace(stringOf(value))
	case "turn-id":
		p.turn = cleanName(stringOf(value), maxName)
	case "last-assistant-message":
		p.said = stringOf(value)
	case "input-messages":
		jsonscan.Elements(value, func(message []byte) bool {
			p.asked = append(p.asked, stringOf(message))
			return true
		})
	}
}

// notified is what the program named by notify is told when a turn ends.
func (p *codexPayload) notified(agent string, m Meta) (Report, error) {
	if err := checkIdentity(p.thread, "thread-id", p.cwd); err != nil {
		return Report{}, err
	}
	r := Report{Event: p.kind, Origin: session.Origin{Agent: agent, AgentSession: p.thread, Cwd: p.cwd}}
	if p.kind != "agent-turn-complete" {
		return r.report(m, notRecorded(p.kind)), nil
	}
	asked := m.sieve()
	prompt := asked.prompted(r.Origin, p.turn, strings.Join(p.asked, "\n"))
	if len(p.asked) == 0 {
		prompt = ignore(machineMade)
	}
	said := m.sieve()
	return r.report(m, prompt, said.stopped(r.Origin, p.turn, p.said)), nil
}

// Reply implements Agent.
func (Codex) Reply(r Report, a Answer) []byte { return ClaudeCode{}.Reply(r, a) }
