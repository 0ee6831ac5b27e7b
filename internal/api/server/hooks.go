package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/stream"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/refusal"
)

// hooks takes what agents report: a payload at a time, as a transcript, or as another memory's entries.
type hooks struct {
	capture  *capture.Pipeline
	replies  injections
	payloads payloads
	timeout  time.Duration // in which a hook's event is on disk
	now      func() time.Time
	count    func(status int, took time.Duration)
}

func (s *hooks) routes(to *dispatcher) []endpoint {
	return []endpoint{
		{
			Operation: api.Operation{Endpoint: api.Endpoint(api.HookRoute), Query: reflect.TypeFor[api.HookQuery]()},
			serve:     s.postHook, wrap: func(h handler) http.Handler { return s.countRequests(to, h) },
		},
		bindStream(to, api.IngestRoute, s.postIngest),
		bind(to, api.SettleRoute, s.postSettle),
		bindStream(to, api.ImportRoute, s.postImport),
	}
}

// countRequests serves a request of an agent, and counts it.
func (s *hooks) countRequests(to *dispatcher, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &tracker{ResponseWriter: w}
		began := time.Now()
		to.admit(t, r, h)
		s.count(t.status, time.Since(began))
	})
}

// postHook takes one payload of an agent and answers with what the agent is to be given. One of an agent that nobody knows is
// neither read nor kept, and the name, which may be anything, is not logged.
func (s *hooks) postHook(w http.ResponseWriter, r *http.Request) error {
	began := s.now()
	if _, err := agents.ByName(r.PathValue("agent")); err != nil {
		return err
	}
	body, done, err := s.payloads.read(w, r)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	got, err := s.capture.Post(ctx, capture.Posted{
		Agent: r.PathValue("agent"), Delivery: r.Header.Get(api.DeliveryHeader), OccurredAt: r.Header.Get(api.OccurredHeader),
		Came: began, Body: body,
	})
	if err != nil {
		return err
	}
	reply := s.replies.reply(ctx, got, began)
	h := w.Header()
	h["Content-Type"] = contentJSON
	h.Set("Content-Length", strconv.Itoa(len(reply)))
	_, _ = w.Write(reply) // the event is on disk, whoever hears of it
	return nil
}

// contentJSON is shared by all answers to hooks, and never changed.
var contentJSON = []string{"application/json"}

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
		return nil, nil, notNow(api.ProblemBusy, "Too many large payloads at once", time.Second, "")
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
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return fmt.Errorf("%w: %w", capture.ErrBodyCut, err)
}

// postIngest records what a transcript reports and the log does not have yet.
func (s *hooks) postIngest(w http.ResponseWriter, r *http.Request, q api.IngestQuery) error {
	body, ctx := stream.NewReader(w, r), r.Context()
	if writerOf(ctx) != events.WriterPerson { // a transcript is a file that anybody can write
		ctx = capture.WithoutPreferences(ctx)
	}
	got, err := s.capture.Ingest(ctx, q.Agent, q.Path, body)
	return answerStream(w, r, body, got, err)
}

// postSettle ends what ingested sessions left unfinished.
func (s *hooks) postSettle(ctx context.Context, q api.SettleRequest) (api.Settled, error) {
	return s.capture.Settle(ctx, q.Sessions)
}

// postImport records what another memory kept and the log does not have yet. The body has one importer.Entry a line. Its rows are
// believed, in whichever project they name, and its prompts are the person's: which is why the route is a person's.
func (s *hooks) postImport(w http.ResponseWriter, r *http.Request, q api.ImportQuery) error {
	body := stream.NewReader(w, r)
	got, err := s.capture.Import(r.Context(), q.Source, body)
	return answerStream(w, r, body, got, err)
}

// answerStream answers with v, or returns err once the rest of a body of which something was taken has been read.
func answerStream(w http.ResponseWriter, r *http.Request, body *stream.Reader, v any, err error) error {
	if err != nil {
		body.Finish()
		return err
	}
	if err := stream.NewWriter(w).Extend(stream.Timeout); err != nil {
		return err
	}
	return writeJSON(w, r, v)
}
