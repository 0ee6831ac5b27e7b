package relay

import (
	"bytes"
	"cmp"
	"os"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// eventOf is the agent's own name of what a payload reports, or "".
func eventOf(agent known.Agent, payload []byte) string {
	return jsonscan.StringMember(payload, cmp.Or(agent.EventMember, "hook_event_name"))
}

// folderMember is what the folder of the hook is called in a payload that names none of its own.
const folderMember = "cmemd_cwd"

// withFolder is a payload with the folder that the hook was started in, where the agent names none. What is no object stays as
// it is.
func withFolder(agent known.Agent, payload []byte) []byte {
	if !agent.NoFolder {
		return payload
	}
	cwd, err := os.Getwd()
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(payload), []byte("{"))
	if err != nil || !ok || !utf8.ValidString(cwd) || len(bytes.TrimSpace(rest)) == 0 {
		return payload
	}
	out := jsonscan.AppendQuoted([]byte(`{"`+folderMember+`":`), cwd)
	if bytes.TrimSpace(rest)[0] != '}' {
		out = append(out, ',')
	}
	return append(out, rest...)
}
