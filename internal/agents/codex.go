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
	if err := p.read(payload); err != nil {
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
	asked                    []byte // a list of what the user said
}

// read reads the members that mean something here.
func (p *codexPayload) read(payload []byte) error {
	return p.claudePayload.read(payload,
		field{"turn_id", (*asName)(&p.promptID)},
		field{"type", (*asName)(&p.kind)},
		field{"thread-id", (*asID)(&p.thread)},
		field{"turn-id", (*asName)(&p.turn)},
		field{"last-assistant-message", (*asText)(&p.said)},
		field{"input-messages", &p.asked},
	)
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
	var texts []string
	jsonscan.Elements(p.asked, func(message []byte) bool {
		texts = append(texts, stringOf(message))
		return true
	})
	asked := m.sieve()
	prompt := asked.prompted(r.Origin, p.turn, strings.Join(texts, "\n"))
	if len(texts) == 0 {
		prompt = ignore(machineMade)
	}
	if prompt.ignored == "" {
		m.Redactions = nil // they are counted once: with the prompt
	}
	said := m.sieve()
	return r.report(m, prompt, said.stopped(r.Origin, p.turn, p.said)), nil
}

// Reply implements Agent.
func (Codex) Reply(r Report, a Answer) []byte { return ClaudeCode{}.Reply(r, a) }
