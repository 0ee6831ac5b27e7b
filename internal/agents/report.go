package agents

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
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

	Redactions map[string]int // secrets that were taken out of it on the way, by kind: counted with those that Redact takes
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
	ErrUnknownAgent = errors.New("agents: unknown agent")

	// ErrNoTranscripts is returned by ReadTranscript for an agent whose transcripts are not understood.
	ErrNoTranscripts = errors.New("agents: no transcripts are read for this agent")

	// ErrTooLarge is returned by Decode for a payload over MaxPayload.
	ErrTooLarge = errors.New("agents: payload larger than 32 MiB")

	// ErrMissing is inside a FieldError whose field is absent, blank or not a string.
	ErrMissing = errors.New("is missing")

	// ErrNotTime is inside a FieldError whose field is no time, or one that no clock shows.
	ErrNotTime = errors.New("is no time of the years 2000 to 2200")

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
	Err   error  // ErrMissing, ErrNotTime, ErrTooLong, ErrNotAbsolute or ErrNotObject
}

// Error says which field and why.
func (e *FieldError) Error() string { return fmt.Sprintf("agents: %s %v", e.Field, e.Err) }

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
	return fmt.Sprintf("agents: not JSON at byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns the decoder's error.
func (e *SyntaxError) Unwrap() error { return e.Err }
