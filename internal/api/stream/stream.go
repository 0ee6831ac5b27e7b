package stream

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
	// Timeout is how long one write to, or one read from, the other end of a stream may take: who does not read for so long is dropped.
	Timeout = 10 * time.Second

	// readTimeout is as long as a whole request that is no stream may take.
	readTimeout = 30 * time.Second

	// Heartbeat is the time between two signs of life where nothing happens.
	Heartbeat = 15 * time.Second
)

// A Writer is an answer without a total time limit: each write has its own. It is for one goroutine.
type Writer struct {
	w    http.ResponseWriter
	ctrl *http.ResponseController
}

// NewWriter returns a Writer of what is answered with w.
func NewWriter(w http.ResponseWriter) *Writer {
	return &Writer{w: w, ctrl: http.NewResponseController(w)}
}

// Extend gives the next write d. A writer that knows no deadlines has none to extend.
func (p *Writer) Extend(d time.Duration) error {
	err := p.ctrl.SetWriteDeadline(time.Now().Add(d))
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("stream: write deadline: %w", err)
	}
	return nil
}

// Write implements io.Writer.
func (p *Writer) Write(b []byte) (int, error) {
	if err := p.Extend(Timeout); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

// Flush sends what was written.
func (p *Writer) Flush() error {
	if err := p.Extend(Timeout); err != nil {
		return err
	}
	return p.ctrl.Flush()
}

// Events writes server-sent events. It is for one goroutine.
type Events struct {
	*Writer
	buf bytes.Buffer
}

// NewEvents begins the answer, so that who waits for it knows that it was heard.
func NewEvents(w http.ResponseWriter) (*Events, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	s := &Events{Writer: NewWriter(w)}
	return s, s.Flush()
}

// Send writes one event; id and name may be empty. It is not flushed.
func (s *Events) Send(id, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("stream: encode an event: %w", err)
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
	_, err = s.Write(s.buf.Bytes())
	return err
}

// Beat writes a comment, so that both ends notice when the other is gone.
func (s *Events) Beat() error {
	if _, err := s.Write([]byte(": \n\n")); err != nil {
		return err
	}
	return s.Flush()
}

// Progress sends how far work is, at once.
func (s *Events) Progress(p api.Progress) error {
	if err := s.Send("", api.EventProgress, p); err != nil {
		return err
	}
	return s.Flush()
}

// maxUnread is how many bytes of a body are read past an error, so that its sender sees the answer.
const maxUnread = 256 << 20

// A Reader is a body without a total time limit: each read has its own. It is for one goroutine.
type Reader struct {
	r     io.Reader
	ctrl  *http.ResponseController
	begun bool // something was read
}

// NewReader returns a Reader of r's body, which is answered with w.
func NewReader(w http.ResponseWriter, r *http.Request) *Reader {
	return &Reader{r: r.Body, ctrl: http.NewResponseController(w)}
}

// Read implements io.Reader.
func (p *Reader) Read(b []byte) (int, error) {
	if err := p.ctrl.SetReadDeadline(time.Now().Add(readTimeout)); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return 0, err
	}
	p.begun = true
	return p.r.Read(b)
}

// Finish reads the rest of a body of which something was taken, up to maxUnread, so that its sender sees why it is refused.
func (p *Reader) Finish() {
	if p.begun {
		_, _ = io.CopyN(io.Discard, p, maxUnread) // the error that counts is the one that it is refused with
	}
}
