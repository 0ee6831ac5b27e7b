package agents

import (
	"cmp"
	"io"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// Transcript implements Historian: it reads rollouts. What becomes of their lines, in the forms since 2025:
//
//	line                                          captured as
//	session_meta                                  SessionOpened{transcript}, before the first capture; the first counts
//	copies of the session it was forked from      -: that one's rollout has them
//	message of the user                           PromptSubmitted, under the key of the hook; not what Codex writes there
//	function_call, custom_tool_call,              ToolUsed, with their outputs; a shell command in the hook's form, failed by
//	local_shell_call                              its exit code
//	web_search_call                               ToolUsed
//	item_completed CommandExecution, FileChange,  the output and exit code of that call; of one that a program made (exec): ToolUsed,
//	McpToolCall; exec_command_end                 under the key of the hook, and not the program
//	task_complete                                 AgentStopped, under the key of the hook; after an error: failure
//	message of the agent, last before a prompt    AgentStopped, where no task_complete says so: older versions
//	or the end
//	message of the agent, any other               AgentSaid, when a call, another message or the turn's abort follows
//	turn_aborted                                  -: the work belongs to the next stop
//	compacted                                     ContextCompacted
//	all others                                    counted in Progress.Skipped
//
// The rollout of a subagent is taken for the session that it works for: its tool calls, and its last words as "SubagentStop".
// Lines of `codex exec --json` are refused: they have no time, no folder, and other ids than the rollout beside them.
func (c Codex) Transcript(r io.Reader, path string) *Transcript {
	d := &codexReader{reader: reader{agent: c.Name(), lines: lines{path: path}}, ran: newRecent[codexResult](maxOpen, maxOpenBytes)}
	return d.read(newTranscript(r, d), lineTime)
}

type codexReader struct {
	reader
	fork           codexFork
	subagent, role string               // of a subagent's rollout
	turn           string               // at work, or ""
	ended          bool                 // the turn said so, older ones do not
	said           *finalText           // the agent's last words, while no tool call followed
	failure        string               // of the turn
	ran            *recent[codexResult] // calls that ended, by call id
	itemised       bool                 // what the latest program calls stands in items
}

// line implements lineDecoder.
func (t *codexReader) line(line []byte) (skipped string, err error) {
	kind, payload := codexLine(line)
	at := t.clock(lineTime(line))
	what := cmp.Or(strings.Trim(kind+"/"+cleanName(member(payload, "type"), maxName), "/"), "without type")
	if at.IsZero() {
		return "", noTime(line)
	}
	if t.fork.copied(kind, payload, at) {
		return skippedFork, nil
	}
	if kind == "session_meta" {
		return "", t.meta(payload)
	}
	if err := t.name(t.fromPath(), "session_meta"); err != nil {
		return "", err
	}
	if !t.take(kind, payload) {
		return what, nil
	}
	return "", nil
}

// codexLine is the kind of a line and what it carries. The oldest rollouts have bare items, below a line without a type.
func codexLine(line []byte) (kind string, payload []byte) {
	kind = cleanName(member(line, "type"), maxName)
	if payload = rawMember(line, "payload"); payload != nil {
		return kind, payload
	}
	switch {
	case kind == "" && member(line, "id") != "":
		return "session_meta", line
	case kind == "message" || strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_call_output"):
		return "response_item", line
	}
	return kind, line
}

// fromPath is the session's id at the end of a rollout's name.
func (t *codexReader) fromPath() string {
	const uuid = len("00000000-0000-0000-0000-000000000000")
	base := t.base()
	if strings.HasPrefix(base, "rollout-") && len(base) > uuid {
		return base[len(base)-uuid:]
	}
	return base
}

// meta takes what the first line says of the session.
func (t *codexReader) meta(payload []byte) error {
	if t.origin.AgentSession != "" {
		return nil
	}
	id, root := member(payload, "id"), member(payload, "session_id")
	if err := t.name(cmp.Or(root, id), "id"); err != nil {
		return err
	}
	t.fork = codexFork{id: id, from: member(payload, "forked_from_id")}
	if root != "" && id != root {
		t.subagent = cleanName(id, maxName)
		t.role = cleanName(member(payload, "agent_role"), maxName)
		t.origin.Transcript = "" // the session has another one
	}
	t.folder(member(payload, "cwd"))
	git := rawMember(payload, "git")
	t.origin.GitBranch = cleanName(member(git, "branch"), maxName)
	t.origin.GitHead = cleanName(member(git, "commit_hash"), maxName)
	return nil
}

// take takes a line, and reports whether it means anything here.
func (t *codexReader) take(kind string, payload []byte) bool {
	switch kind {
	case "turn_context":
		t.folder(member(payload, "cwd"))
		t.begin(member(payload, "turn_id"))
		return true
	case "response_item":
		return t.item(payload)
	case "event_msg":
		return t.event(payload)
	case "compacted":
		summary := withoutHandover(member(payload, "message"))
		if t.said != nil && t.said.text == strings.TrimSpace(summary) {
			t.said = nil // the summariser's words, and no answer
		}
		t.endAnswer()
		e := t.scrubber().contextCompacted(summary, "")
		t.captureLine(t.at, events.Key{}, fingerprint(e.Summary), e)
		return true
	}
	return false
}

// begin begins a turn, if it is another one.
func (t *codexReader) begin(turn string) {
	if turn = cleanName(turn, maxName); turn != "" && turn != t.turn {
		t.endAnswer()
		t.turn, t.ended, t.failure = turn, false, ""
	}
}

// item takes what was said, called or answered.
func (t *codexReader) item(payload []byte) bool {
	id := cleanName(cmp.Or(member(payload, "call_id"), member(payload, "id")), maxName)
	name := cleanName(member(payload, "name"), maxName)
	switch kind := member(payload, "type"); kind {
	case "message", "":
		return t.message(payload)
	case "function_call":
		t.called(id, codexNamed(cleanName(member(payload, "namespace"), maxName), name), unquoted(rawMember(payload, "arguments")))
	case "custom_tool_call":
		t.called(id, name, unquoted(rawMember(payload, "input")))
	case "local_shell_call":
		t.called(id, "local_shell", rawMember(payload, "action"))
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		t.answered(id, rawMember(payload, "output"))
	case "web_search_call":
		t.called(id, "web_search", rawMember(payload, "action"))
		t.answered(id, nil)
	default:
		return false
	}
	return true
}

func (t *codexReader) called(id, name string, input []byte) {
	t.remark()
	if isWaiting(name, input) {
		return
	}
	t.itemised = t.itemised && name != codexProgram
	t.call(id, name, input)
}

// remark captures what the agent said last, as work goes on behind it. A subagent's words come with its end.
func (t *codexReader) remark() {
	said := t.said
	t.said = nil
	if e, ok := said.remark(t.scrubber()); ok && t.subagent == "" {
		t.captureLine(said.at, factKey(t.origin, "said", said.promptID, e.Text), fingerprint(e.Text), e)
	}
}

// answered pairs an output with its call.
func (t *codexReader) answered(id string, output []byte) {
	call, ok := t.answer(id)
	if !ok {
		return
	}
	ran := codexOutput(output)
	if item, ok := t.ran.get(id); ok {
		item.output = cmp.Or(item.output, ran.output)
		ran = item
		t.ran.drop(id)
	}
	if t.isReported(call, ran) {
		return
	}
	v := t.scrubber()
	tool, input, workdir := codexCall(call.tool, call.input)
	u := events.ToolUsed{
		ToolUseID: id, Tool: cmp.Or(tool, "unknown"), Failed: ran.failed, DurationMS: ran.durationMS,
		Cwd: v.text(cmp.Or(workdir, t.origin.Cwd)), SubagentID: t.subagent, SubagentType: t.role,
	}
	u = v.toolUse(u, "", input, quoted(ran.output))
	t.capture(t.at, ToolKey(t.origin, id), u)
}

// message takes a text of the user's or the agent's.
func (t *codexReader) message(payload []byte) bool {
	text := strings.TrimSpace(codexContent(rawMember(payload, "content")))
	switch member(payload, "role") {
	case "assistant":
		if text != "" {
			t.ended = false
			t.remark()
			t.said = &finalText{text: text, at: t.at, promptID: t.turn}
		}
		return true
	case "user":
		typed, ok := codexTyped(text)
		if !ok || t.subagent != "" || isOfHarness(payload) {
			return true
		}
		t.endAnswer()
		if p, machine := t.scrubber().promptSubmitted(typed); !machine {
			t.captureLine(t.at, factKey(t.origin, "prompt", t.turn, p.Text), fingerprint(p.Text), p)
		}
		return true
	}
	return false
}

// isOfHarness reports whether a message says of itself that Codex wrote it.
func isOfHarness(payload []byte) bool {
	kinds := rawMember(rawMember(payload, "internal_chat_message_metadata_passthrough"), "content_item_kinds")
	user, known := false, false
	jsonscan.Elements(kinds, func(kind []byte) bool {
		known = true
		user = user || strings.HasPrefix(stringOf(kind), "user.") || stringOf(kind) == "unknown"
		return true
	})
	return known && !user
}

// event takes what happened beside the conversation.
func (t *codexReader) event(payload []byte) bool {
	switch member(payload, "type") {
	case "task_started", "turn_started":
		t.begin(member(payload, "turn_id"))
	case "task_complete", "turn_complete":
		t.complete(payload)
	case "turn_aborted":
		t.remark()
		t.ended = true
	case "error":
		t.failure = cmp.Or(member(payload, "codex_error_info"), cmp.Or(member(payload, "message"), "error"))
	case "item_completed":
		item := rawMember(payload, "item")
		return t.done(member(item, "type"), cleanName(member(item, "id"), maxName), item)
	case "exec_command_end":
		return t.done("CommandExecution", cleanName(member(payload, "call_id"), maxName), payload)
	default:
		return false
	}
	return true
}

// executed keeps how a command went until its output is given to the model.
func (t *codexReader) executed(id string, item []byte) {
	if ran := codexRan(item); id != "" {
		t.ran.put(id, ran, len(ran.output))
	}
}

// complete ends a turn that says so.
func (t *codexReader) complete(payload []byte) {
	t.begin(member(payload, "turn_id"))
	if failure := rawMember(payload, "error"); kindOf(failure) == '{' && t.failure == "" {
		t.failure = cmp.Or(member(failure, "codex_error_info"), member(failure, "message"), "error")
	}
	text := member(payload, "last_agent_message")
	if t.said != nil && strings.TrimSpace(text) == "" {
		text = t.said.text
	}
	t.said = &finalText{text: text, at: t.at, promptID: t.turn, failed: t.failure != "", failure: t.failure}
	t.endAnswer()
	t.ended = true
}

// endAnswer ends a turn with the agent's last words, if it has any and did not end before.
func (t *codexReader) endAnswer() {
	said := t.said
	t.said, t.failure = nil, ""
	if said == nil || t.ended {
		return
	}
	v := t.scrubber()
	if t.subagent != "" {
		u := v.subagentStopped(said.text, t.origin.Cwd, t.subagent, t.role)
		t.captureLine(said.at, factKey(t.origin, "subagent", t.subagent, u.Output), fingerprint(u.Output), u)
		return
	}
	e := said.event(v)
	t.captureLine(said.at, factKey(t.origin, "stop", said.promptID, e.LastMessage), fingerprint(e.LastMessage), e)
}

// end implements lineDecoder.
func (t *codexReader) end() {
	if t.origin.AgentSession != "" && !t.at.IsZero() {
		t.endAnswer()
	}
}
