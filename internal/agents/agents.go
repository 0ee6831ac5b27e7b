package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// Agent translates between one coding agent and a session. Its methods are pure and safe for concurrent use.
type Agent interface {
	// Name is what the agent is called in commands, paths and events: "claude-code".
	Name() string

	// Decode says what a hook payload reports. It keeps no reference to payload. Events and fields that it does not
	// know are no errors: the report then says why nothing is captured. Errors are ErrTooLarge, *SyntaxError and
	// *FieldError; each means that the same payload will never be taken.
	Decode(payload []byte, m Meta) (Report, error)

	// Reply is the body that the agent's hook prints for what Decode reported: only what the agent honours at that
	// event, and nothing, not even a newline, where it honours none. A context over MaxContext is shortened.
	Reply(r Report, a Answer) []byte
}

// Historian is an Agent whose transcripts can be read.
type Historian interface {
	Agent

	// Transcript reads the transcript r. Path names it: it goes into the origin of what is captured, and its base name
	// stands in where no line names the session. The caller closes r.
	Transcript(r io.Reader, path string) *Transcript
}

// Meta is what the carrier of a payload knows of it.
type Meta struct {
	Delivery   events.ID // made once by the hook, the same when the payload comes again
	OccurredAt time.Time // when the hook was called
	Cut        bool      // private text was cut from it on the way: a prompt without words was all private
	Redact     Redact    // takes secrets out of what is captured; nil: nothing does
}

// Report is what a payload says.
type Report struct {
	Event    string            // the agent's own name of it
	Origin   session.Origin    // Agent, AgentSession, Cwd and Transcript; the caller adds project and git facts
	Captures []session.Capture // what to record, in this order; their Origin is this one
	Wants    Want              // which memory may be handed back
	Ignored  string            // why nothing is captured; empty if something is
	Prompt   string            // with WantPrompt: what the user said, as it is captured
	File     string            // with WantFile: the file that is about to be read, as the agent names it
}

// SetOrigin puts o, usually r.Origin completed, into the report and into each of its captures.
func (r *Report) SetOrigin(o session.Origin) {
	r.Origin = o
	for i := range r.Captures {
		r.Captures[i].Origin = o
	}
}

// Want says which memory an agent takes at this moment.
type Want string

// The moments at which memory may be handed to an agent.
const (
	WantNone    Want = ""
	WantStartup Want = "startup" // all that is worth it
	WantClear   Want = "clear"   // as at startup: the conversation was emptied
	WantCompact Want = "compact" // as at startup: what was injected before was compacted away
	WantResume  Want = "resume"  // only what the session was not given before
	WantPrompt  Want = "prompt"  // what bears on the user's prompt, if anything does
	WantFile    Want = "file"    // what is known of the file that is about to be read, if anything is
)

// Answer is what goes back to the agent.
type Answer struct {
	Context string // memory for the model, fenced by ContextOpen and ContextClose
	Notice  string // a line for the person
}

const (
	// MaxPayload is the largest hook payload in bytes. Agents send whole files; the largest seen are some megabytes.
	MaxPayload = 32 << 20

	// MaxContext is the largest context in characters (UTF-16 code units, as agents count). Claude Code and Codex
	// replace a longer one by a note.
	MaxContext = 10_000

	// maxName is the longest id or name in bytes that is taken from an agent; the longest seen has 128.
	maxName = 512

	// maxPath is the longest path in bytes; Linux refuses longer ones.
	maxPath = 4096
)

var (
	// ErrUnknownAgent is returned by ByName and ReadTranscript.
	ErrUnknownAgent = errors.New("hooks: unknown agent")

	// ErrNoTranscripts is returned by ReadTranscript for an agent whose transcripts are not understood.
	ErrNoTranscripts = errors.New("hooks: no transcripts are read for this agent")

	// ErrTooLarge is returned by Decode for a payload over MaxPayload.
	ErrTooLarge = errors.New("hooks: payload larger than 32 MiB")

	// ErrMissing is inside a FieldError whose field is absent, blank, not a string, or a time that no clock shows.
	ErrMissing = errors.New("is missing")

	// ErrTooLong is inside a FieldError whose field is longer than any agent's, and in a LineError.
	ErrTooLong = errors.New("is too long")

	// ErrNotAbsolute is inside a FieldError whose field has to be a folder and is a relative path, or holds a NUL.
	ErrNotAbsolute = errors.New("is not an absolute path")

	// ErrNotObject is inside a FieldError or LineError where a JSON object has to stand.
	ErrNotObject = errors.New("is not a JSON object")
)

// FieldError names the field for which a payload is refused.
type FieldError struct {
	Field string // as the agent spells it
	Err   error  // ErrMissing, ErrTooLong, ErrNotAbsolute or ErrNotObject
}

// Error says which field and why.
func (e *FieldError) Error() string { return fmt.Sprintf("hooks: %s %v", e.Field, e.Err) }

// Unwrap returns the reason.
func (e *FieldError) Unwrap() error { return e.Err }

// checkIdentity refuses a session without an id, or without a folder that is an absolute path. IdField is the agent's name of the id.
func checkIdentity(id, idField, cwd string) error {
	switch {
	case strings.TrimSpace(id) == "":
		return &FieldError{Field: idField, Err: ErrMissing}
	case len(id) > maxName:
		return &FieldError{Field: idField, Err: ErrTooLong}
	case strings.TrimSpace(cwd) == "":
		return &FieldError{Field: "cwd", Err: ErrMissing}
	case len(cwd) > maxPath:
		return &FieldError{Field: "cwd", Err: ErrTooLong}
	case !isAbsolute(cwd):
		return &FieldError{Field: "cwd", Err: ErrNotAbsolute}
	}
	return nil
}

// isAbsolute reports whether a path is absolute on any system: the log may come from another one.
func isAbsolute(path string) bool {
	windows := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') || strings.HasPrefix(path, `\\`)
	return (windows || strings.HasPrefix(path, "/") || filepath.IsAbs(path)) && !strings.Contains(path, "\x00")
}

// SyntaxError is a payload or line that is not JSON.
type SyntaxError struct {
	Offset int64 // bytes read before that showed
	Err    error // the decoder's words
}

// Error says where and why.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("hooks: not JSON at byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns the decoder's error.
func (e *SyntaxError) Unwrap() error { return e.Err }

// agents lists the agents that are understood. A new one is its own file, a folder below testdata, and a line here.
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

// AgentOfLine tells by its first line whose transcript a file is, wherever it lies. It is false where the line is none that
// an agent with transcripts writes.
func AgentOfLine(line []byte) (agent string, ok bool) {
	if !json.Valid(line) {
		return "", false
	}
	has := map[string]bool{}
	kind := ""
	jsonscan.Members(line, func(key string, value []byte) bool {
		has[key] = true
		if key == "type" {
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
