package relay

import (
	"bytes"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// What is known of single agents before anybody decodes their payloads.

// eventOf is the agent's own name of what a payload reports, or "".
func eventOf(agent string, payload []byte) string {
	if agent == "raw" {
		return jsonscan.StringMember(payload, "event")
	}
	return jsonscan.StringMember(payload, "hook_event_name")
}

// opensSession reports whether the agent takes context from this hook's reply. It names the agents whose events it
// knows; those of others are ordinary.
func (h *hook) opensSession() bool {
	switch h.Agent {
	case "claude-code", "codex", "gemini-cli":
		return h.result.Event == "SessionStart"
	case "cursor":
		return h.result.Event == "sessionStart"
	case "opencode":
		return h.result.Event == "session.created" || h.result.Event == "session.resumed"
	case "raw":
		return h.result.Event == "start"
	}
	return false
}

// maySpeak reports whether a reply with a systemMessage reaches the person.
func (h *hook) maySpeak() bool {
	switch h.Agent {
	case "claude-code":
		return h.result.Event == "SessionStart" || h.result.Event == "UserPromptSubmit"
	case "codex", "gemini-cli":
		return h.result.Event == "SessionStart"
	}
	return false
}

// folderMember is what the folder of the hook is called in a payload that names none of its own.
const folderMember = "cmemd_cwd"

// withFolder is a payload with the folder that the hook was started in, where the agent names none: Windsurf runs its hooks
// in the workspace and says so in no other way. What is no object stays as it is.
func withFolder(agent string, payload []byte) []byte {
	if agent != "windsurf" {
		return payload
	}
	cwd, err := os.Getwd()
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(payload), []byte("{"))
	if err != nil || !ok || !utf8.ValidString(cwd) || len(bytes.TrimSpace(rest)) == 0 {
		return payload
	}
	out := append([]byte(`{"`+folderMember+`":`), jsonString(cwd)...)
	if bytes.TrimSpace(rest)[0] != '}' {
		out = append(out, ',')
	}
	return append(out, rest...)
}

// jsonString is a path as a JSON string.
func jsonString(s string) []byte {
	out := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r < ' ':
			hex := strconv.FormatInt(int64(r), 16)
			out = append(append(append(out, `\u00`...), "0"[:2-len(hex)]...), hex...)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}
