package agents

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// Transcript implements Historian: it reads chats (session-*.jsonl; of older versions session-*.json, one object with all records
// in its messages), and what `gemini --output-format stream-json` prints.
// What becomes of their lines:
//
//	line                                       captured as
//	first of a session, init                   SessionOpened{transcript}, before the first capture
//	user, text                                 PromptSubmitted; without <hook_context>
//	user, functionResponse                     -: the call has it too
//	gemini, toolCalls that ended               ToolUsed; a record that is written again counts once
//	gemini, last text of a turn                AgentStopped, when a prompt or the end follows
//	gemini, any other text                     AgentSaid, when a call or another text follows; so in a stream
//	tool_use with its tool_result (stream)     ToolUsed, under the key of the chat's
//	message of the assistant (stream), result  AgentStopped
//	$set with messages                         the folder, out of <session_context>; a later one repeats or rewrites
//	all others                                 counted in Progress.Skipped
//
// The folder of a chat stands in the first message that Gemini writes in the user's place, or in directories. A stream names
// none: its session has no project, unless hooks or a chat reported it before.
func (g Gemini) Transcript(r io.Reader, path string) *Transcript {
	d := &geminiReader{reader: reader{agent: g.Name(), lines: lines{path: path}}, seen: newRecent[bool](maxOpen*10, maxOpen*10*maxName)}
	t := newTranscript(r, d)
	t.printed = true
	return d.read(t, geminiTime)
}

func geminiTime(line []byte) time.Time {
	return parseTime(cmp.Or(member(line, "timestamp"), member(line, "startTime")))
}

type geminiReader struct {
	reader
	subagent bool            // the chat is a subagent's: its prompts are an agent's
	said     *finalText      // the agent's last words, while no tool call followed
	saidID   string          // of the record that they stand in
	pieces   strings.Builder // of a stream: the words come one by one
	seen     *recent[bool]   // records and calls that were taken, by id
}

// line implements lineDecoder.
func (t *geminiReader) line(line []byte) (skipped string, err error) {
	kind := cleanName(member(line, "type"), maxName)
	at := t.clock(geminiTime(line))
	if set := rawMember(line, "$set"); set != nil {
		t.place(set)
		return "$set", nil
	}
	if at.IsZero() {
		return "", noTime(line)
	}
	if id := cmp.Or(member(line, "sessionId"), member(line, "session_id")); id != "" {
		err := t.begin(line, id)
		if err == nil {
			t.chat(line)
		}
		return "", err
	}
	if err := t.name(t.base(), "sessionId"); err != nil {
		return "", err
	}
	if !t.take(kind, line) {
		return cmp.Or(kind, "without type"), nil
	}
	return "", nil
}

// begin takes what the first line says of the session.
func (t *geminiReader) begin(line []byte, id string) error {
	if err := t.name(id, "sessionId"); err != nil {
		return err
	}
	t.subagent = member(line, "kind") == "subagent"
	jsonscan.Elements(rawMember(line, "directories"), func(dir []byte) bool {
		t.folder(stringOf(dir))
		return t.origin.Cwd == ""
	})
	return nil
}

// chat takes the records of a chat that is one object.
func (t *geminiReader) chat(whole []byte) {
	t.place(whole)
	jsonscan.Elements(rawMember(whole, "messages"), func(record []byte) bool {
		t.clock(geminiTime(record))
		if kind := cleanName(member(record, "type"), maxName); !t.take(kind, record) {
			t.skip(cmp.Or(kind, "without type"))
		}
		return true
	})
	t.note(parseTime(member(whole, "lastUpdated")))
}

// place looks for the session's folder in what Gemini gave the model of it.
func (t *geminiReader) place(set []byte) {
	if t.origin.Cwd != "" {
		return
	}
	jsonscan.Elements(rawMember(set, "messages"), func(message []byte) bool {
		_, rest, ok := strings.Cut(geminiText(rawMember(message, "content")), "- **Workspace Directories:**\n")
		if line, _, _ := strings.Cut(rest, "\n"); ok {
			t.folder(strings.TrimPrefix(strings.TrimSpace(line), "- "))
		}
		return t.origin.Cwd == ""
	})
}

// take takes a record of a chat or a line of a stream, and reports whether it means anything here.
func (t *geminiReader) take(kind string, line []byte) bool {
	id := cleanName(member(line, "id"), maxName)
	switch kind {
	case "user":
		t.typed(id, geminiText(rawMember(line, "content")))
	case "gemini":
		t.record(id, line)
	case "message":
		t.streamed(line)
	case "tool_use":
		t.remark()
		t.call(cleanName(member(line, "tool_id"), maxName), cleanName(member(line, "tool_name"), maxName), rawMember(line, "parameters"))
	case "tool_result":
		t.result(line)
	case "result":
		t.endTurn()
	default:
		return false
	}
	return true
}

// geminiText is the text of a content: a string, a part, or parts of which only texts are quoted.
func geminiText(raw []byte) string {
	if kindOf(raw) == '{' {
		return member(raw, "text")
	}
	return joined(raw, func(part []byte) (string, bool) {
		if kindOf(part) == '{' {
			part = rawMember(part, "text")
		}
		return stringOf(part), kindOf(part) == '"'
	})
}

// typed takes a text in the user's place.
func (t *geminiReader) typed(id, raw string) {
	if strings.TrimSpace(raw) == "" || id != "" && t.takenBefore("record "+id) {
		return
	}
	text := cutLeading(withoutHookContext(raw), []string{"session_context"})
	if text == "" || t.subagent {
		return
	}
	t.endTurn()
	if p, machine := t.scrubber().promptSubmitted(text); !machine {
		t.captureLine(t.at, events.Key{}, cmp.Or(id, fingerprint(p.Text)), p)
	}
}

// takenBefore reports whether what is called id was taken before, and takes it.
func (t *geminiReader) takenBefore(id string) bool {
	_, known := t.seen.get(id)
	t.seen.put(id, true, 0)
	return known
}

// record takes what the agent said and called. It is written again as its calls end; the last form counts.
func (t *geminiReader) record(id string, line []byte) {
	text := strings.TrimSpace(withoutHookContext(geminiText(rawMember(line, "content"))))
	calls := rawMember(line, "toolCalls")
	if text != "" {
		if t.saidID != id {
			t.remark()
		}
		t.said, t.saidID = &finalText{text: text, at: t.at}, id
	}
	jsonscan.Elements(calls, func(call []byte) bool {
		t.remark()
		t.called(call)
		return true
	})
}

// called takes a call that a chat tells of, if it ended.
func (t *geminiReader) called(call []byte) {
	id, status := cleanName(member(call, "id"), maxName), member(call, "status")
	if status != "success" && status != "error" && status != "cancelled" || id == "" || t.takenBefore("call "+id) {
		return
	}
	g := geminiTool{
		tool: cleanName(member(call, "name"), maxName), id: id, input: rawMember(call, "args"),
		result: geminiResponse(rawMember(call, "result")), display: rawMember(call, "resultDisplay"), failed: status != "success",
	}
	t.used(g, parseTime(member(call, "timestamp")))
}

// geminiResponse is what the model was given of a call.
func geminiResponse(result []byte) (out []byte) {
	jsonscan.Elements(result, func(part []byte) bool {
		response := rawMember(rawMember(part, "functionResponse"), "response")
		for _, key := range []string{"error", "output"} {
			if text := rawMember(response, key); text != nil {
				out = text
			}
		}
		return out == nil
	})
	return out
}

func (t *geminiReader) used(g geminiTool, at time.Time) {
	if at.IsZero() {
		at = t.at
	}
	v := t.scrubber()
	u := g.used(v, events.ToolUsed{Cwd: v.text(t.origin.Cwd)})
	u.Tool = cmp.Or(u.Tool, "unknown")
	if t.subagent {
		u.SubagentID = t.origin.AgentSession
	}
	t.capture(at, ToolKey(t.origin, g.id), u)
}

// streamed takes a message of a stream: the user's is whole, the agent's comes in pieces.
func (t *geminiReader) streamed(line []byte) {
	text := geminiText(rawMember(line, "content"))
	if member(line, "role") == "user" {
		t.typed("", text)
		return
	}
	if t.said == nil || !isTrue(rawMember(line, "delta")) {
		t.pieces.Reset()
	}
	appendWords(&t.pieces, text)
	t.said, t.saidID = &finalText{at: t.at}, ""
}

// result pairs a result of a stream with its call.
func (t *geminiReader) result(line []byte) {
	id := cleanName(member(line, "tool_id"), maxName)
	call, ok := t.answer(id)
	if !ok {
		return
	}
	shown := rawMember(line, "output") // what the person was shown
	code, exited := strings.CutPrefix(stringOf(shown), "Command exited with code: ")
	t.used(geminiTool{
		tool: call.tool, id: id, input: call.input, result: shown, failure: rawMember(line, "error"),
		failed: member(line, "status") == "error" || exited && code != "0",
	}, t.at)
}

// lastSaid takes what the agent said last; nil: nothing.
func (t *geminiReader) lastSaid() *finalText {
	said := t.said
	t.said = nil
	if said != nil && said.text == "" {
		said.text = withoutHookContext(t.pieces.String())
	}
	if said == nil || strings.TrimSpace(said.text) == "" {
		return nil
	}
	return said
}

// remark captures what the agent said last, as work goes on behind it.
func (t *geminiReader) remark() {
	said := t.lastSaid()
	if e, ok := said.remark(t.scrubber()); ok && !t.subagent {
		t.captureLine(said.at, events.Key{}, cmp.Or(t.saidID, fingerprint(e.Text)), e)
	}
}

// endTurn ends a turn with the agent's last words, if it has any.
func (t *geminiReader) endTurn() {
	said := t.lastSaid()
	if said == nil {
		return
	}
	e := said.event(t.scrubber())
	t.captureLine(said.at, events.Key{}, cmp.Or(t.saidID, fingerprint(e.LastMessage)), e)
}

// end implements lineDecoder.
func (t *geminiReader) end() {
	t.endTurn()
}
