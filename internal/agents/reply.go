package agents

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"
)

// What goes back to agents.

// answerAt is what of a goes back at an event: all of it where a session opens, the context alone at some others.
func answerAt(event string, a Answer, opens string, others ...string) Answer {
	switch {
	case event == opens:
		return a
	case slices.Contains(others, event):
		return Answer{Context: a.Context}
	}
	return Answer{}
}

// contextReply is the JSON that Claude Code, and those that follow it, read from a hook.
type contextReply struct {
	Output *contextOutput `json:"hookSpecificOutput,omitempty"`
	Notice string         `json:"systemMessage,omitempty"`
}

type contextOutput struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext"`
}

// replyContext is the reply of that shape, or nothing where there is nothing to say.
func replyContext(event string, a Answer) []byte {
	if a == (Answer{}) {
		return nil
	}
	reply := contextReply{Notice: a.Notice}
	if a.Context != "" {
		reply.Output = &contextOutput{Event: event, Context: capContext(a.Context)}
	}
	return encode(reply)
}

// encode is v as JSON without a line end; v holds strings, which always encode.
func encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

// rawReply is what goes back where no agent says in which form.
type rawReply struct {
	Context string `json:"context,omitempty"`
	Notice  string `json:"notice,omitempty"`
}

// replyRaw is the reply of that shape, or nothing where there is nothing to say.
func replyRaw(a Answer) []byte {
	if a == (Answer{}) {
		return nil
	}
	return encode(rawReply{Context: capContext(a.Context), Notice: a.Notice})
}

// capContext shortens a context to MaxContext, and closes its fence again.
func capContext(s string) string {
	if characters(s) <= MaxContext {
		return s
	}
	end := ""
	if strings.HasSuffix(strings.TrimSpace(s), ContextClose) {
		end = "\n" + ContextClose
	}
	room := MaxContext - len(end)
	for i, r := range s {
		if room -= utf16.RuneLen(r); room < 0 {
			return s[:i] + end
		}
	}
	return s
}

// characters counts as JavaScript does.
func characters(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
