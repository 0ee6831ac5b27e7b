package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/refusal"
)

// postHook takes one payload of an agent and answers with what the agent is to be told. One of an agent that nobody knows is
// neither read nor kept, and the name, which may be anything, is not logged.
func (s *Server) postHook(w http.ResponseWriter, r *http.Request) error {
	began := s.cfg.Now()
	if _, err := agents.ByName(r.PathValue("agent")); err != nil {
		return err
	}
	body, done, err := s.payloads.read(w, r)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.HookTimeout)
	defer cancel()
	got, err := s.cfg.Capture.Post(ctx, capture.Posted{
		Agent: r.PathValue("agent"), Delivery: r.Header.Get(api.DeliveryHeader), OccurredAt: r.Header.Get(api.OccurredHeader),
		Came: began, Body: body,
	})
	if err != nil {
		return err
	}
	reply := s.reply(ctx, got, began)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(reply)))
	_, _ = w.Write(reply) // the event is on disk, whoever hears of it
	return nil
}

// pooledBody is the largest buffer that is kept for another payload.
const pooledBody = 256 << 10

// payloads are the bodies of hooks that are in memory.
type payloads struct {
	most    int64 // bytes at once
	bytes   atomic.Int64
	buffers sync.Pool // of *bytes.Buffer
}

// read reads a hook's body while there is memory for it. The body lives until done is called.
func (p *payloads) read(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	size := r.ContentLength
	if size > agents.MaxPayload {
		return nil, nil, refusal.LargerThan(agents.MaxPayload)
	}
	if size < 0 {
		size = agents.MaxPayload
	}
	if held := p.bytes.Add(size); held > p.most && held > size {
		p.bytes.Add(-size)
		return nil, nil, notNow(api.ProblemBusy, "Too many large payloads at once", time.Second, "try again")
	}
	buf, _ := p.buffers.Get().(*bytes.Buffer)
	if buf == nil {
		buf = new(bytes.Buffer)
	}
	buf.Reset()
	done = func() {
		p.bytes.Add(-size)
		if buf.Cap() <= pooledBody {
			p.buffers.Put(buf)
		}
	}
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, agents.MaxPayload)); err != nil {
		done()
		return nil, nil, bodyError(err)
	}
	return buf.Bytes(), done, nil
}

// bodyError tells a body that is too large from one whose sender is gone.
func bodyError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return fmt.Errorf("%w: %w", capture.ErrBodyCut, err)
}

// postIngest records what a transcript reports and the log does not have yet.
func (s *Server) postIngest(w http.ResponseWriter, r *http.Request, q api.IngestQuery) error {
	body := newPatientReader(w, r)
	got, err := s.cfg.Capture.Ingest(r.Context(), q.Agent, q.Path, body)
	return body.answer(w, got, err)
}

// postImport records what another memory kept and the log does not have yet. The body has one importer.Entry a line.
func (s *Server) postImport(w http.ResponseWriter, r *http.Request, q api.ImportQuery) error {
	body := newPatientReader(w, r)
	got, err := s.cfg.Capture.Import(r.Context(), q.Source, body)
	return body.answer(w, got, err)
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
func (p *patientReader) answer(w http.ResponseWriter, v any, err error) error {
	if err != nil && p.begun {
		_, _ = io.CopyN(io.Discard, p, maxUnread) // the error that counts is the first
	}
	if err != nil {
		return err
	}
	if err := newPatient(w).extend(streamTimeout); err != nil {
		return err
	}
	return writeJSON(w, v)
}

func isUnsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
