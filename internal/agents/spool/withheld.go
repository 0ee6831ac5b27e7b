package spool

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// Withheld is the kind under which it is counted that what an agent and a person said was left out, because there was no key
// to seal it to.
const Withheld = "withheld"

// WithheldFolder stands for the folder of a session of which no folder is kept: a name may say as much as a word.
const WithheldFolder = "/withheld"

// withheld is an entry without all but who reported, when and of which tool, and how long the rest was.
func withheld(e Entry) Entry {
	e.Body = withoutWords(e.Body)
	e.Redactions = map[string]int{Withheld: 1}
	e.Ignore = nil
	return e
}

// withoutWords is a payload in which members of the outermost object say their length alone, but for those that say what
// the report is about. One whose name is not as protocols name members is left out. What is no whole object becomes an empty one.
func withoutWords(body []byte) []byte {
	out := []byte{'{'}
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' || !jsonscan.Valid(body) {
		return append(out, '}')
	}
	jsonscan.Members(body, func(name, value []byte) bool {
		if len(name) > maxMember || strings.Trim(string(name), members) != "" {
			return true // no agent's protocol has such a name: it may be a word of the content
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonscan.AppendQuoted(out, string(name)), ':'), withoutWord(string(name), value)...)
		return true
	})
	return append(out, '}')
}

const (
	maxMember = 48                                                       // bytes of a member's name: the longest that an agent's protocol has is half as long
	members   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-" // what such a name is made of
)

// withoutWord is what stands in the place of a member's value.
func withoutWord(name string, value []byte) []byte {
	switch toolinput.Plain(name) {
	case "cwd", "cmemdcwd", "directory":
		return []byte(`"` + WithheldFolder + `"`)
	case "workspaceroots":
		return []byte(`["` + WithheldFolder + `"]`)
	case "hookeventname", "agentactionname", "event", "hook", "sessionid", "conversationid", "trajectoryid", "session", "toolname", "tool",
		"tooluseid", "promptid", "turnid", "generationid", "executionid", "agentid", "agenttype", "id":
		if value[0] == '"' && len(value) <= maxIdentity {
			return value
		}
	case "source", "reason", "trigger":
		if isMadeOf(value, causes) {
			return value
		}
	case "timestamp":
		if isMadeOf(value, timestamps) {
			return value
		}
	}
	if strings.IndexByte(`"{[`, value[0]) < 0 {
		return value // a number, true, false or null
	}
	return jsonscan.AppendQuoted(nil, "[cmemd: "+strconv.Itoa(len(value))+" bytes withheld: there was no key]")
}

// maxIdentity is how long, in bytes, what names a session, an event or a tool is at most: a longer one is a text.
const maxIdentity = 256

// isMadeOf reports whether a value is a short string of some characters alone.
func isMadeOf(value []byte, characters string) bool {
	return value[0] == '"' && len(value) <= maxCause && strings.Trim(string(value[1:len(value)-1]), characters) == ""
}

const (
	maxCause   = 48                            // of a cause or a time, in bytes with its quotes
	causes     = "abcdefghijklmnopqrstuvwxyz_" // as agents name them: "prompt_input_exit". What a person gives as a reason has other characters too
	timestamps = "0123456789-:.+TZ "
)
