package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/panics"
)

const (
	// streamTimeout is how long one write to, or one read from, the other end of a stream may take: who does not read
	// for so long is dropped.
	streamTimeout = 10 * time.Second

	// progressEvery is how often work tells how far it is.
	progressEvery = 100 * time.Millisecond
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

// work answers with the progress of f and then with its result or its problem. Work that tells nothing for a while is seen to
// live; work waits for its end.
func (s *Server) work(w http.ResponseWriter, r *http.Request, f task[any]) error {
	out, err := newSSE(w)
	if err != nil {
		return err
	}
	j, err := s.do(r.Context(), r.Pattern, f, out.progress, out.beat)
	if err != nil {
		return err
	}
	return s.conclude(out, r, j)
}

// do runs f in a goroutine of its own, hands progress to send from time to time, calls beat where long nothing happens, and returns
// when f has ended. An error of send or beat cancels f, and is returned.
func (s *Server) do(
	ctx context.Context, where string, f task[any], send func(api.Progress) error, beat func() error,
) (*job, error) {
	ctx, cancel := context.WithCancel(ctx)
	j := &job{latest: make(chan api.Progress, 1), ended: make(chan struct{})}
	go func() {
		defer close(j.ended)
		defer func() {
			if p := recover(); p != nil {
				j.err = panics.Caught(s.logger, where, p)
			}
		}()
		j.result, j.err = f(ctx, j.tell)
	}()
	defer func() {
		cancel()
		<-j.ended
	}()
	return j, j.report(send, beat)
}

// job is work under way.
type job struct {
	latest chan api.Progress
	ended  chan struct{}
	result any // this and err are read after the end
	err    error
}

// tell leaves the latest progress for who reports it.
func (j *job) tell(done, total uint64) {
	select {
	case <-j.latest:
	default:
	}
	select {
	case j.latest <- api.Progress{Done: done, Total: total}:
	default:
	}
}

// report hands progress to send from time to time until the work ends. Its error is that of send or beat.
func (j *job) report(send func(api.Progress) error, beat func() error) error {
	tick, alive := time.NewTicker(progressEvery), time.NewTicker(heartbeat)
	defer tick.Stop()
	defer alive.Stop()
	for {
		var err error
		select {
		case <-j.ended:
			return j.sendLatest(send)
		case <-tick.C:
			err = j.sendLatest(send)
		case <-alive.C:
			err = beat()
		}
		if err != nil {
			return err
		}
	}
}

// sendLatest hands over the latest progress, if there is any that was not sent.
func (j *job) sendLatest(send func(api.Progress) error) error {
	select {
	case p := <-j.latest:
		return send(p)
	default:
		return nil
	}
}

// conclude writes how the work ended.
func (s *Server) conclude(out *sse, r *http.Request, j *job) error {
	name, v := api.EventResult, j.result
	if j.err != nil {
		p, known := problemFor(j.err)
		if !known {
			s.logger.Error("work failed", "route", r.Pattern, "err", j.err)
		}
		name, v = api.EventProblem, p
	}
	if err := out.send("", name, v); err != nil {
		return err
	}
	return out.out.flush()
}
