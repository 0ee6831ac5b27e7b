package capture

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/durable"
)

const (
	// maxReadings is how many sessions' transcripts are remembered with how far they were read. Of another one all is read again,
	// and what is on record is known by its key.
	maxReadings = 64

	// maxUnread is how many bytes at the end of a transcript are read at once: of more only the end is.
	maxUnread = 16 << 20

	// maxHead is by how many bytes at its beginning a transcript is known again: a new file may have the place of an old one.
	maxHead = 512

	// maxSaidAtOnce is how many texts go into one append.
	maxSaidAtOnce = 64

	// quietAfter is how long after a session's last hook its transcript is read without one.
	quietAfter = 5 * time.Minute
)

// remarks reads what agents say between tool calls out of their own transcripts: hooks do not tell it.
type remarks struct {
	mu       sync.Mutex // guards readings, and the first fields of each
	readings []*reading // the one that was used last at the end
}

// source is a reader that is given more and more.
type source struct{ io.Reader }

// reading is how far one transcript was read.
type reading struct {
	origin    session.Origin
	lastHook  time.Time // when the session's last hook was called
	readSince bool      // the transcript was read since

	mu      sync.Mutex  // guards the fields below
	file    os.FileInfo // as it was last; nil: not read yet
	head    []byte      // its first bytes then
	offset  int64
	src     *source
	t       *agents.Transcript
	pending []session.Capture // not on record yet
}

// recordSaid puts on record what the session of o said by then between tool calls, and returns these texts. What cannot be read is only
// logged; the error is the sink's.
func (p *Pipeline) recordSaid(ctx context.Context, o session.Origin, by time.Time) (said []string, err error) {
	r := p.remarks.of(o, time.Time{})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.read(o, p.cfg.Secrets); err != nil {
		p.logger.Debug("what an agent said between tool calls cannot be read", "session", o.Session(), "err", err)
	}
	due := r.due(by)
	if len(due) == 0 {
		return nil, nil
	}
	var captures []session.Capture
	for _, c := range due {
		if e, ok := c.Event.(events.AgentSaid); ok {
			said = append(said, e.Text)
		}
		if c, why := p.filterPrivate(c); why == "" {
			c.Origin = o
			captures = append(captures, c)
		}
	}
	for some := range slices.Chunk(p.withoutEchoes(ctx, o.Session(), captures), maxSaidAtOnce) {
		if _, err := p.cfg.Sink.Do(ctx, o.Session(), commands(some)...); err != nil {
			return said, fmt.Errorf("capture: what the agent said: %w", err)
		}
	}
	r.pending = r.pending[len(due):]
	return said, nil
}

// called notes a hook of a session, so that its transcript is read when no further one comes.
func (p *Pipeline) called(o session.Origin, at time.Time) {
	if filepath.IsAbs(o.Transcript) {
		p.remarks.of(o, at)
	}
}

// recordQuiet reads the transcripts of sessions that have not called a hook for a while: an agent that was killed calls none.
func (p *Pipeline) recordQuiet(ctx context.Context) {
	now := p.cfg.Now()
	var quiet []session.Origin
	p.remarks.mu.Lock()
	for _, r := range p.remarks.readings {
		if !r.readSince && now.Sub(r.lastHook) >= quietAfter {
			quiet, r.readSince = append(quiet, r.origin), true
		}
	}
	p.remarks.mu.Unlock()
	for _, o := range quiet {
		if _, err := p.recordSaid(ctx, o, now); err != nil {
			p.logger.Debug("what a quiet session said waits", "session", o.Session(), "err", err)
		}
	}
}

// of returns the reading of a session's transcript, and forgets the one that was used least lately. Hook is when a hook of the
// session was called; zero: none was.
func (m *remarks) of(o session.Origin, hook time.Time) *reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	var r *reading
	i := slices.IndexFunc(m.readings, func(r *reading) bool {
		return r.origin.AgentSession == o.AgentSession && r.origin.Agent == o.Agent && r.origin.Transcript == o.Transcript
	})
	if i >= 0 {
		r = m.readings[i]
		m.readings = slices.Delete(m.readings, i, i+1)
	} else {
		r = &reading{readSince: true}
	}
	m.readings = append(m.readings, r)
	m.readings = m.readings[max(0, len(m.readings)-maxReadings):]
	if r.origin = o; !hook.IsZero() {
		r.lastHook, r.readSince = hook, false
	}
	return r
}

// due returns what was said by then.
func (r *reading) due(by time.Time) []session.Capture {
	n := slices.IndexFunc(r.pending, func(c session.Capture) bool { return c.At.After(by) })
	if n < 0 {
		n = len(r.pending)
	}
	return r.pending[:n]
}

// read goes on behind what was read. A transcript that is another file by now, or shorter, is read anew.
func (r *reading) read(o session.Origin, redact agents.Redact) error {
	f, info, err := durable.OpenRegular(o.Transcript)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, min(info.Size(), maxHead))
	if _, err := f.ReadAt(head, 0); err != nil {
		return err
	}
	if r.file == nil || !os.SameFile(r.file, info) || !bytes.HasPrefix(head, r.head) || info.Size() < r.offset || info.Size()-r.offset > maxUnread {
		if err := r.begin(o, redact, max(0, info.Size()-maxUnread)); err != nil {
			return err
		}
	}
	r.file, r.head = info, head
	begun := r.t.Progress().Offset
	r.src.Reader = io.NewSectionReader(f, r.offset, info.Size()-r.offset)
	for c, err := range r.t.More() {
		if err == nil && isUnreported(c.Event) && c.Origin.AgentSession == o.AgentSession {
			r.pending = append(r.pending, c)
		}
	}
	r.offset += r.t.Progress().Offset - begun
	return nil
}

// isUnreported reports whether no hook tells e: what the agent says between tool calls, and a call that the person refused.
func isUnreported(e events.Event) bool {
	use, _ := e.(events.ToolUsed)
	_, said := e.(events.AgentSaid)
	return said || use.Refused
}

// begin begins a new reading at an offset, which may stand within a line: that one is not understood.
func (r *reading) begin(o session.Origin, redact agents.Redact, offset int64) (err error) {
	r.src, r.offset, r.pending = &source{}, offset, nil
	if r.t, err = agents.ReadTranscript(o.Agent, r.src, o.Transcript); err == nil {
		r.t.Redact = redact
	}
	return err
}

func commands(captures []session.Capture) []session.Command {
	cmds := make([]session.Command, len(captures))
	for i, c := range captures {
		cmds[i] = c
	}
	return cmds
}
