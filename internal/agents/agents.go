package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// agents lists the agents that are understood. A new one is its own file, a function in known/table.go, a folder below testdata, and a
// line here.
func agents() []Agent {
	return []Agent{ClaudeCode{}, Codex{}, Gemini{}, Cursor{}, Windsurf{}, OpenCode{}, Raw{}}
}

// Names lists the agents that ByName knows.
func Names() []string {
	var names []string
	for _, a := range agents() {
		names = append(names, a.Name())
	}
	return names
}

// ByName returns the agent of that name. The error is ErrUnknownAgent and names those that are known.
func ByName(name string) (Agent, error) {
	for _, a := range agents() {
		if a.Name() == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("%w %q (known: %s)", ErrUnknownAgent, name, strings.Join(Names(), ", "))
}

// ReadTranscript reads a transcript of the named agent; see Historian. Errors are ErrUnknownAgent and ErrNoTranscripts.
func ReadTranscript(agent string, r io.Reader, path string) (*Transcript, error) {
	a, err := ByName(agent)
	if err != nil {
		return nil, err
	}
	h, ok := a.(Historian)
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNoTranscripts, agent)
	}
	return h.Transcript(r, path), nil
}

// SharesKeys reports whether prompts, tool calls and stops in the transcripts of the named agent have the keys of its hooks. Where
// they do not, whoever takes both from one session records it twice. It is true of an agent that has no transcripts.
func SharesKeys(agent string) bool {
	a, _ := known.ByName(agent)
	return !a.OtherKeys
}

// Script is the file that an agent without hooks runs in their place: it runs command, "cmemd-hook" and its arguments, for each
// report. It is nil for an agent that has hooks, and for one that is not known.
func Script(agent string, command ...string) []byte {
	a, _ := ByName(agent)
	scripted, ok := a.(interface{ Script(...string) []byte })
	if !ok {
		return nil
	}
	return scripted.Script(command...)
}

// AgentOfTranscript tells by its path whose transcript a file is: by the folder in which the agent keeps its own. It is false
// where no folder of the path is one.
func AgentOfTranscript(path string) (agent string, ok bool) {
	path = "/" + strings.ReplaceAll(path, `\`, "/")
	for _, a := range known.All() {
		for _, folder := range a.Transcripts {
			if strings.Contains(path, "/"+a.Folder.Standard+"/"+folder+"/") {
				return a.Name, true
			}
		}
	}
	return "", false
}

// AgentOfText tells by its beginning whose transcript a file is that is one object, printed over several lines. It is false where
// no agent writes one that begins so. Text may end anywhere.
func AgentOfText(text []byte) (agent string, ok bool) {
	in := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, byteOrderMark)))
	if begin, err := in.Token(); err != nil || begin != json.Delim('{') {
		return "", false
	}
	for in.More() {
		var value json.RawMessage
		name, err := in.Token()
		if name == "projectHash" {
			return Gemini{}.Name(), true
		}
		if err != nil || in.Decode(&value) != nil {
			break
		}
	}
	return "", false
}

// AgentOfLine tells by its first line whose transcript a file is, wherever it lies. It is false where the line is none that
// an agent with transcripts writes.
func AgentOfLine(line []byte) (agent string, ok bool) {
	if line = bytes.TrimPrefix(line, byteOrderMark); !jsonscan.Valid(line) {
		return "", false
	}
	has := map[string]bool{}
	kind := ""
	jsonscan.Members(line, func(key, value []byte) bool {
		has[string(key)] = true
		if string(key) == "type" {
			kind = stringOf(value)
		}
		return true
	})
	switch {
	case kind == "session_meta" || kind == "thread.started":
		return Codex{}.Name(), true
	case has["projectHash"] || kind == "init" && !has["subtype"]:
		return Gemini{}.Name(), true
	case has["sessionID"]:
		return OpenCode{}.Name(), true
	case has["sessionId"] || kind == "system" && has["session_id"]:
		return ClaudeCode{}.Name(), true
	}
	return "", false
}
