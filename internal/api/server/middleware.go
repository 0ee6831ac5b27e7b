package server

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/cmemd/cmemd/internal/api/idempotency"
	"github.com/cmemd/cmemd/internal/api/stream"
	"github.com/cmemd/cmemd/internal/panics"
)

const (
	// maxBody is the largest body in bytes, but for hooks and transcripts.
	maxBody = 1 << 20

	// plainTimeout is how long a request that is no stream may work. The longest are searches without a word.
	plainTimeout = 20 * time.Second
)

// handler answers a request, or returns an error and has written nothing.
type handler func(w http.ResponseWriter, r *http.Request) error

// tracker knows what was answered.
type tracker struct {
	http.ResponseWriter
	status int // 0: nothing yet
}

func (t *tracker) WriteHeader(status int) {
	if t.status == 0 && status >= 200 {
		t.status = status
	}
	t.ResponseWriter.WriteHeader(status)
}

func (t *tracker) Write(p []byte) (int, error) {
	t.status = cmp.Or(t.status, http.StatusOK)
	return t.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (t *tracker) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// dispatcher admits requests, holds them to what their routes take, and answers for errors and panics.
type dispatcher struct {
	logger  *slog.Logger
	life    lifetime
	sources sources
	calls   idempotency.Calls
}

// unary serves a request that is answered at once, with a small body and a time limit.
func (s *dispatcher) unary(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &tracker{ResponseWriter: w}
		s.admit(t, r, func(w http.ResponseWriter, r *http.Request) error {
			ctx, cancel := s.life.within(r.Context(), false)
			defer cancel()
			r = r.WithContext(ctx)
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			return h(w, r)
		})
	})
}

// admit bounds how many requests are worked on at once.
func (s *dispatcher) admit(t *tracker, r *http.Request, h handler) {
	leave, busy := s.life.enter(false)
	if busy != nil {
		writeProblem(t, busy)
		return
	}
	defer leave()
	s.run(t, r, h)
}

// stream serves a request that may take as long as it likes. It ends with the server.
func (s *dispatcher) stream(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &tracker{ResponseWriter: w}
		leave, busy := s.life.enter(true)
		if busy != nil {
			writeProblem(t, busy)
			return
		}
		defer leave()
		ctx, cancel := s.life.within(r.Context(), true)
		defer cancel()
		ctrl := http.NewResponseController(w)
		if err := errors.Join(ctrl.SetReadDeadline(time.Time{}), ctrl.SetWriteDeadline(time.Time{})); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			s.logger.Warn("a stream keeps its time limit", "route", r.Pattern, "err", err)
		}
		s.run(t, r.WithContext(ctx), func(w http.ResponseWriter, r *http.Request) error {
			err := h(w, r)
			if err != nil {
				err = errors.Join(err, stream.NewWriter(w).Extend(stream.Timeout)) // for the problem
			}
			return err
		})
	})
}

// cancelWhen calls cancel when done is closed, until the returned function is called.
func cancelWhen(done <-chan struct{}, cancel func()) (leave func()) {
	over, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		select {
		case <-done:
			cancel()
		case <-over:
		}
	}()
	return func() {
		close(over)
		<-left
	}
}

// run calls h and answers for what it returns or panics with. What cannot be said any more cuts the connection, so
// that half an answer is not taken for a whole one.
func (s *dispatcher) run(t *tracker, r *http.Request, h handler) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler || t.status != 0 {
			panic(http.ErrAbortHandler)
		}
		s.fail(t, r, panics.Caught(s.logger, r.Pattern, p))
	}()
	err := h(t, r)
	switch {
	case err == nil:
	case t.status == 0:
		s.fail(t, r, err)
	default:
		if r.Context().Err() == nil {
			s.logger.Warn("an answer was cut", "route", r.Pattern, "err", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// headed gives every answer the headers that keep a browser from making more of it than it is.
func headed(next http.Handler) http.Handler {
	fixed := map[string][]string{ // shared by all answers, and never changed
		"X-Content-Type-Options":       {"nosniff"},
		"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
		"X-Frame-Options":              {"DENY"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Referrer-Policy":              {"no-referrer"},
		"Cache-Control":                {"no-store"},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), fixed)
		next.ServeHTTP(w, r)
	})
}
