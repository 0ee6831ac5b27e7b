package agents

import (
	"bytes"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
)

// lines is what the decoders of all transcripts share: what one line needs to know of those before it. Its decoder sets path.
type lines struct {
	path       string
	emit       func(session.Capture)
	scrubber   func() *scrubber  // for the texts of one event
	skip       func(kind string) // counts in Progress.Skipped
	ahead      func() time.Time  // the first good time soon behind this line, or zero
	askedAhead bool              // ahead was asked; once is enough
	at         time.Time         // the last good one of the file
	latest     *time.Time        // the latest one of the file, in Progress.Last
	calls      *recent[openCall] // tool calls without a result yet, by id
}

// read returns a Transcript that d reads through r. TimeOf is the time of a line, zero if it has none that is good.
func (r *lines) read(t *Transcript, timeOf func(line []byte) time.Time) *Transcript {
	r.emit, r.skip, r.scrubber, r.latest = t.emit, t.skip, t.scrubber, &t.at.Last
	r.ahead = func() time.Time { return t.ahead(timeOf) }
	r.calls = newRecent[openCall](maxOpen, maxOpenBytes)
	return t
}

// base is the transcript's name without its ending.
func (r *lines) base() string {
	if r.path == "" {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(r.path), ".jsonl")
}

// clock takes the time of the line at hand, and returns the one that it is of: its own or the last good one before it, else
// the first one soon behind it. Zero: nobody knows.
func (r *lines) clock(at time.Time) time.Time {
	r.note(at)
	if r.at.IsZero() && !r.askedAhead {
		r.askedAhead, r.at = true, r.ahead()
	}
	return r.at
}

// noTime is the error of a line for which no time is known: it has none, or one that no clock shows.
func noTime(line []byte) error {
	if at := rawMember(line, "timestamp"); len(at) > 0 && string(at) != "null" {
		return &FieldError{Field: "timestamp", Err: ErrNotTime}
	}
	return &FieldError{Field: "timestamp", Err: ErrMissing}
}

// note takes the time of a line; zero: it has none.
func (r *lines) note(at time.Time) {
	if at.IsZero() {
		return
	}
	r.at = at
	if at.After(*r.latest) {
		*r.latest = at
	}
}

// lineKey is key if that is one, else that of what a line of the session of o says.
func lineKey(o session.Origin, key events.Key, line string, at time.Time, e events.Event) events.Key {
	if !key.IsZero() {
		return key
	}
	return events.KeyOf(o.Session().String(), string(events.KindOf(e)), "line", line, at.UTC().Format(time.RFC3339Nano))
}

// record captures e by key in the session of o.
func (r *lines) record(o session.Origin, at time.Time, key events.Key, e events.Event) {
	r.emit(session.Capture{ID: lineID(at, key), Key: key, At: at, Origin: o, Event: e})
}

// call keeps a tool call until its result comes.
func (r *lines) call(id, tool string, input []byte) {
	if id == "" {
		return
	}
	c := openCall{tool: tool, input: bytes.Clone(input)}
	for range r.calls.put(id, c, len(c.tool)+len(c.input)) {
		r.skip(unanswered)
	}
}

// answer takes back the call that a result is of. Ok is false where the call stands in an earlier file, was answered before,
// or is too old.
func (r *lines) answer(id string) (c openCall, ok bool) {
	if c, ok = r.calls.get(id); ok {
		r.calls.drop(id)
	}
	return c, ok
}

// reader reads a file of one session. Its decoder sets agent and path.
type reader struct {
	lines
	agent  string
	origin session.Origin // its id is "" before one is known
	opened bool
}

// read is that of lines.
func (r *reader) read(t *Transcript, timeOf func(line []byte) time.Time) *Transcript {
	r.origin.Agent, r.origin.Transcript = r.agent, cleanName(r.path, maxPath)
	return r.lines.read(t, timeOf)
}

// name says which session the lines are of. The first name stands: a file that holds the lines of an older one was begun as
// its continuation.
func (r *reader) name(id, idField string) error {
	if r.origin.AgentSession != "" {
		return nil
	}
	switch id = strings.TrimSpace(id); {
	case id == "":
		return &FieldError{Field: idField, Err: ErrMissing}
	case len(id) > maxName:
		return &FieldError{Field: idField, Err: ErrTooLong}
	}
	r.origin.AgentSession = id
	return nil
}

// folder says where the session works from here on. What is no absolute path is not taken.
func (r *reader) folder(cwd string) {
	if len(cwd) <= maxPath && isAbsolute(cwd) {
		r.origin.Cwd = cwd
	}
}

// open opens the session at its first capture.
func (r *reader) open() {
	if r.opened {
		return
	}
	r.opened = true
	key := events.KeyOf(r.origin.Session().String(), "transcript")
	r.capture(r.at, key, events.SessionOpened{Source: "transcript"})
}

// capture captures e by key.
func (r *reader) capture(at time.Time, key events.Key, e events.Event) {
	r.open()
	r.record(r.origin, at, key, e)
}

// captureLine captures what a line says, by key if that is one, else by the line's own id.
func (r *reader) captureLine(at time.Time, key events.Key, line string, e events.Event) {
	r.capture(at, lineKey(r.origin, key, line, at, e), e)
}

// event is the end of an answer with these words.
func (f *finalText) event(v *scrubber) events.AgentStopped {
	if f.failed {
		return v.agentFailed(f.text, f.failure)
	}
	return v.agentStopped(events.StopDone, f.text)
}

// remark is the text where work goes on behind it; ok is false where it says nothing, or says how the agent's own request failed.
func (f *finalText) remark(v *scrubber) (e events.AgentSaid, ok bool) {
	if f == nil || f.failed {
		return e, false
	}
	e = v.agentSaid(f.text)
	return e, strings.TrimSpace(e.Text) != ""
}

// maxWords is how much is kept of a message that comes in pieces, in bytes: more than is recorded of one.
const maxWords = 16 * MaxText

// appendWords appends a piece of a message while there is room.
func appendWords(b *strings.Builder, piece string) {
	b.WriteString(clip.Head(piece, max(0, maxWords-b.Len())))
}
