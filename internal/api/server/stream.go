package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

const (
	// streamTimeout is how long one write to, or one read from, the other end of a stream may take: who does not read
	// for so long is dropped.
	streamTimeout = 10 * time.Second

	// heartbeat is the time between two signs of life where nothing happens.
	heartbeat = 15 * time.Second
)

// patient is an answer without a total time limit: each write has its own.
type patient struct {
	w    http.ResponseWriter
	ctrl *http.ResponseController
}

func newPatient(w http.ResponseWriter) *patient {
	return &patient{w: w, ctrl: http.NewResponseController(w)}
}

// extend gives the next write d. A writer that knows no deadlines has none to extend.
func (p *patient) extend(d time.Duration) error {
	err := p.ctrl.SetWriteDeadline(time.Now().Add(d))
	if err != nil && !isUnsupported(err) {
		return fmt.Errorf("api: write deadline: %w", err)
	}
	return nil
}

// Write implements io.Writer.
func (p *patient) Write(b []byte) (int, error) {
	if err := p.extend(streamTimeout); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

// flush sends what was written.
func (p *patient) flush() error {
	if err := p.extend(streamTimeout); err != nil {
		return err
	}
	return p.ctrl.Flush()
}

// sse writes server-sent events.
type sse struct {
	out *patient
	buf bytes.Buffer
}

// newSSE begins the answer, so that who waits for it knows that it was heard.
func newSSE(w http.ResponseWriter) (*sse, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	s := &sse{out: newPatient(w)}
	return s, s.out.flush()
}

// send writes one event; id and name may be empty. It is not flushed.
func (s *sse) send(id, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("api: encode an event: %w", err)
	}
	s.buf.Reset()
	if id != "" {
		fmt.Fprintf(&s.buf, "id: %s\n", id)
	}
	if name != "" {
		fmt.Fprintf(&s.buf, "event: %s\n", name)
	}
	s.buf.WriteString("data: ")
	s.buf.Write(data)
	s.buf.WriteString("\n\n")
	_, err = s.out.Write(s.buf.Bytes())
	return err
}

// beat writes a comment, so that both ends notice when the other is gone.
func (s *sse) beat() error {
	if _, err := s.out.Write([]byte(": \n\n")); err != nil {
		return err
	}
	return s.out.flush()
}

// progress sends how far work is, at once.
func (s *sse) progress(p api.Progress) error {
	if err := s.send("", api.EventProgress, p); err != nil {
		return err
	}
	return s.out.flush()
}

// maxUnread is how much of a stream is read past an error, so that its sender sees the answer.
const maxUnread = 256 << 20

// patientReader is a body without a total time limit: each read has its own.
type patientReader struct {
	r     io.Reader
	ctrl  *http.ResponseController
	begun bool // something was read
}

func newPatientReader(w http.ResponseWriter, r *http.Request) *patientReader {
	return &patientReader{r: r.Body, ctrl: http.NewResponseController(w)}
}

// Read implements io.Reader.
func (p *patientReader) Read(b []byte) (int, error) {
	if err := p.ctrl.SetReadDeadline(time.Now().Add(readTimeout)); err != nil && !isUnsupported(err) {
		return 0, err
	}
	p.begun = true
	return p.r.Read(b)
}

// answer answers with v, or returns err once the rest of a body of which something was taken has been read.
func (p *patientReader) answer(w http.ResponseWriter, r *http.Request, v any, err error) error {
	if err != nil && p.begun {
		_, _ = io.CopyN(io.Discard, p, maxUnread) // the error that counts is the first
	}
	if err != nil {
		return err
	}
	if err := newPatient(w).extend(streamTimeout); err != nil {
		return err
	}
	return writeJSON(w, r, v)
}

func isUnsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
