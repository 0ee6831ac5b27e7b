package agents

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Transcript implements Historian: it reads what `opencode run --format json` prints. What becomes of its lines:
//
//	line                          captured as
//	first of a session            SessionOpened{transcript}, before the first capture
//	tool_use that ended           ToolUsed, under the key of the plugin's report
//	text, step_finish             AgentStopped, under the key of the plugin's report, where the reason is not tool-calls
//	text, step_finish tool-calls  AgentSaid
//	error                         AgentStopped, failure
//	all others                    counted in Progress.Skipped
//
// The lines tell neither the prompt nor the folder: such a session has no project, unless the plugin reported it before.
func (c OpenCode) Transcript(r io.Reader, path string) *Transcript {
	d := &openCodeReader{reader: reader{agent: c.Name(), lines: lines{path: path}}}
	return d.read(newTranscript(r, d), openCodeTime)
}

// openCodeTime reads the milliseconds since 1970 of a line.
func openCodeTime(line []byte) time.Time {
	ms, err := json.Number(rawMember(line, "timestamp")).Int64()
	at := time.UnixMilli(ms).UTC()
	if err != nil || !IsClockTime(at) {
		return time.Time{}
	}
	return at
}

type openCodeReader struct {
	reader
	texts   strings.Builder // of the agent's last message
	message string          // its id
}

// line implements lineDecoder.
func (t *openCodeReader) line(line []byte) (skipped string, err error) {
	if t.clock(openCodeTime(line)).IsZero() {
		return "", noTime(line)
	}
	if err := t.name(member(line, "sessionID"), "sessionID"); err != nil {
		return "", err
	}
	part := rawMember(line, "part")
	switch kind := cleanName(member(line, "type"), maxName); kind {
	case "tool_use":
		t.tool(part)
	case "text":
		t.text(part)
	case "step_finish":
		t.endAnswer(part)
	case "error":
		e := t.scrubber().agentFailed("", cmp.Or(member(rawMember(line, "error"), "name"), "error"))
		t.captureLine(t.at, events.Key{}, e.Error, e)
	default:
		return cmp.Or(kind, "without type"), nil
	}
	return "", nil
}

func (t *openCodeReader) tool(part []byte) {
	v := t.scrubber()
	u, ended := openCodeTool(v, part)
	if !ended || u.ToolUseID == "" {
		return
	}
	u.Cwd = v.text(t.origin.Cwd)
	u.Redactions = v.found
	t.capture(t.at, ToolKey(t.origin, u.ToolUseID), u)
}

func (t *openCodeReader) text(part []byte) {
	t.speaks(part)
	if isTrue(rawMember(part, "synthetic")) {
		return
	}
	if t.texts.Len() > 0 {
		t.texts.WriteByte('\n')
	}
	appendWords(&t.texts, member(part, "text"))
}

// speaks forgets the words of an earlier message than the part's.
func (t *openCodeReader) speaks(part []byte) {
	if id := cleanName(member(part, "messageID"), maxName); id != t.message {
		t.message = id
		t.texts.Reset()
	}
}

// endAnswer ends the answer, unless tools go on with it.
func (t *openCodeReader) endAnswer(part []byte) {
	t.speaks(part)
	said := t.texts.String()
	t.texts.Reset()
	if member(part, "reason") == "tool-calls" {
		if e, ok := (&finalText{text: said}).remark(t.scrubber()); ok {
			t.captureLine(t.at, factKey(t.origin, "said", t.message, e.Text), t.message, e)
		}
		return
	}
	e := t.scrubber().agentStopped(events.StopDone, said)
	t.captureLine(t.at, factKey(t.origin, "stop", t.message, e.LastMessage), t.message, e)
}

// end implements lineDecoder.
func (t *openCodeReader) end() {}
