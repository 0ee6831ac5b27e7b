package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/idempotency"
	"github.com/cmemd/cmemd/internal/api/stream"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/order"
)

// endpoint is a route with what answers it.
type endpoint struct {
	api.Operation
	serve  handler                    // over HTTP
	wrap   func(handler) http.Handler // what a request passes before it is served
	stream bool                       // it may take as long as it likes
	invoke invoker                    // in this process; nil: it is answered over HTTP only
}

// invoker answers a query, a value of the route's query type, and stores the answer where answer points.
type invoker func(ctx context.Context, query, answer any, progress func(api.Progress)) error

// guarded is e served over HTTP to who may ask for it. Nothing of a request is read before.
func (e endpoint) guarded(w http.ResponseWriter, r *http.Request) error {
	if err := checkScope(r.Context(), e.Endpoint); err != nil {
		return err
	}
	return e.serve(w, r)
}

// checkScope returns why who asks with ctx may not ask for e. Each question passes it first, whichever way it came.
func checkScope(ctx context.Context, e api.Endpoint) error {
	if mayAsk(ctx, e) {
		return nil
	}
	return forbidden(whyOutOfScope(e))
}

// accept is what each question passes then: it is of the project at hand, the query is right, of which wrong says what could not be read
// of it, and the views know what the answer must know. It fills in what the query leaves out.
func (s *dispatcher) accept(ctx context.Context, e api.Endpoint, query any, wrong ...api.FieldError) error {
	if err := s.sources.restrict(ctx, query); err != nil {
		return err
	}
	api.Check(query, noteIn(&wrong))
	if len(wrong) == 0 {
		api.CheckCursor(e, query, noteIn(&wrong))
	}
	if len(wrong) > 0 {
		return invalidAll(sorted(wrong))
	}
	at := api.MustKnow(query)
	if at == 0 && e.Scope == api.ScopeView {
		s.sources.catchUp(ctx)
	}
	return s.sources.await(ctx, at)
}

// isSame reports whether two projects are one: by what identifies them, or by name where one of them is known by that alone.
func isSame(a, b capture.Project) bool {
	if a.Key != "" && b.Key != "" {
		return a.Key == b.Key
	}
	return a.Name == b.Name
}

func sorted(wrong []api.FieldError) []api.FieldError {
	order.By(wrong, func(a, b api.FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
	return wrong
}

// bind binds a route that is answered at once.
func bind[Q, A any](s *dispatcher, r api.Route[Q, A], answer func(ctx context.Context, q Q) (A, error)) endpoint {
	e := endpoint{Operation: api.Operation{Endpoint: api.Endpoint(r), Query: reflect.TypeFor[Q](), Answer: reflect.TypeFor[A]()}, wrap: s.unary}
	return s.answered(e, func() any { return new(Q) }, func(_ context.Context, query any) (task[any], error) {
		return func(ctx context.Context, _ func(done, total uint64)) (any, error) { return answer(ctx, *query.(*Q)) }, nil
	})
}

// bindWork binds a route that takes its time. What prepare refuses is refused with a status; after that the answer has begun.
func bindWork[Q, A any](s *dispatcher, r api.Work[Q, A], prepare func(ctx context.Context, q Q) (task[A], error)) endpoint {
	e := endpoint{
		Operation: api.Operation{Endpoint: api.Endpoint(r), Query: reflect.TypeFor[Q](), Answer: reflect.TypeFor[A](), Work: true},
		wrap:      s.stream, stream: true,
	}
	return s.answered(e, func() any { return new(Q) }, func(ctx context.Context, query any) (task[any], error) {
		run, err := prepare(ctx, *query.(*Q))
		return func(ctx context.Context, progress func(done, total uint64)) (any, error) { return run(ctx, progress) }, err
	})
}

// answered is e answered over HTTP and in this process. It knows no types of queries and answers, so that it is compiled once, and
// not inlined into each bind of a route, which would copy its closures as often: 0.3 MB of program. Empty makes a query, and prepare is
// given what it made.
//
//go:noinline
func (s *dispatcher) answered(e endpoint, empty func() any, prepare func(ctx context.Context, query any) (task[any], error)) endpoint {
	begin := func(ctx context.Context, query any, wrong ...api.FieldError) (task[any], error) {
		if err := s.accept(ctx, e.Endpoint, query, wrong...); err != nil {
			return nil, err
		}
		return prepare(ctx, query)
	}
	e.serve = func(w http.ResponseWriter, req *http.Request) error {
		query := empty()
		wrong, err := readQuery(w, req, e.Endpoint, query)
		if err != nil {
			return err
		}
		if takesTime(e, query) {
			run, err := begin(req.Context(), query, wrong...)
			if err != nil {
				return err
			}
			return s.work(w, req, run)
		}
		a, err := s.once(req, e, query, func(ctx context.Context) (any, error) {
			run, err := begin(ctx, query, wrong...)
			if err != nil {
				return nil, err
			}
			return run(ctx, func(uint64, uint64) {})
		})
		if err != nil {
			return err
		}
		if e.stream {
			if err := stream.NewWriter(w).Extend(stream.Timeout); err != nil {
				return err
			}
		}
		linkNext(w, req, a)
		return writeJSON(w, req, a)
	}
	e.invoke = func(ctx context.Context, asked, answer any, progress func(api.Progress)) error {
		query := empty()
		set(query, asked)
		run, err := begin(ctx, query)
		if err != nil {
			return err
		}
		if !takesTime(e, query) {
			a, err := run(ctx, func(uint64, uint64) {})
			return store(answer, a, err)
		}
		j, err := s.do(ctx, e.Pattern(), run, func(p api.Progress) error {
			if progress != nil {
				progress(p)
			}
			return nil
		}, func() error { return nil })
		return store(answer, j.result, cmp.Or(err, j.err))
	}
	return e
}

// once has run answer a request, unless the same was answered before under its key. What a key was given to is done whole, whoever waits
// for it: else it might be done, and not kept.
func (s *dispatcher) once(r *http.Request, e endpoint, query any, run func(ctx context.Context) (any, error)) (any, error) {
	text := r.Header.Get(api.IdempotencyHeader)
	switch {
	case text == "" || !e.TakesKey():
		return run(r.Context())
	case !idempotency.IsKey(text):
		return nil, invalid(api.IdempotencyHeader, "is no more than %d letters, digits and signs, without spaces: a UUID, say", idempotency.MaxKey)
	}
	asked, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	key := idempotency.Key{Caller: callerOf(r.Context()).viewer, Route: e.Pattern(), Text: text}
	answer, err := s.calls.Do(key, append([]byte(r.URL.RequestURI()+"\x00"), asked...), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), plainTimeout)
		defer cancel()
		return run(ctx)
	})
	switch {
	case errors.Is(err, idempotency.ErrAnother):
		err = invalid(api.IdempotencyHeader, "was given to another request: give each its own")
	case errors.Is(err, idempotency.ErrUnderWay):
		err = conflict("The same is under way", "the request with this "+api.IdempotencyHeader+" has not been answered yet: ask once more in a moment")
	}
	return answer, err
}

// linkNext names the next page of a list in a header too (RFC 8288), as clients know it that read no bodies.
func linkNext(w http.ResponseWriter, r *http.Request, answer any) {
	v := reflect.ValueOf(answer)
	if v.Kind() != reflect.Struct {
		return
	}
	next := v.FieldByName("NextCursor")
	if !next.IsValid() || next.IsZero() {
		return
	}
	text, err := next.Interface().(api.Cursor).MarshalText()
	if err != nil {
		return // of its fields each can be encoded
	}
	q := r.URL.Query()
	q.Set("cursor", string(text))
	w.Header().Set("Link", "<"+r.URL.Path+"?"+q.Encode()+`>; rel="next"`)
}

// takesTime reports whether the answer to query is work with progress.
func takesTime(e endpoint, query any) bool {
	p, ok := query.(interface{ AtOnce() bool })
	return e.stream && !(ok && p.AtOnce())
}

// store puts a where answer points, unless there is an error, which it returns.
func store(answer, a any, err error) error {
	if err == nil {
		set(answer, a)
	}
	return err
}

// set puts v where to points.
func set(to, v any) { reflect.ValueOf(to).Elem().Set(reflect.ValueOf(v)) }

// bindStream binds a route whose handler writes the answer itself. What checks find wrong beside the query is refused with it.
func bindStream[Q any](
	s *dispatcher, r api.Stream[Q], answer func(w http.ResponseWriter, r *http.Request, q Q) error, checks ...func(*http.Request, api.Wrong),
) endpoint {
	of := api.Operation{Endpoint: api.Endpoint(r), Query: reflect.TypeFor[Q]()}
	return endpoint{Operation: of, wrap: s.stream, stream: true, serve: func(w http.ResponseWriter, req *http.Request) error {
		q := new(Q)
		wrong, err := readQuery(w, req, api.Endpoint(r), q)
		for _, check := range checks {
			check(req, noteIn(&wrong))
		}
		if err == nil {
			err = s.accept(req.Context(), api.Endpoint(r), q, wrong...)
		}
		if err != nil {
			return err
		}
		return answer(w, req, *q)
	}}
}

// readsParams reports whether e reads parameters, and so refuses those that it does not know. Others pass over all of them.
func readsParams(e api.Endpoint) bool {
	return e.Method == http.MethodGet || slices.Contains([]api.Endpoint{
		api.Endpoint(api.SaveRoute), api.Endpoint(api.UndoRoute), api.Endpoint(api.StopRoute),
		api.Endpoint(api.IngestRoute), api.Endpoint(api.ImportRoute),
	}, e)
}

// readParams reads the parameters of a request, and notes those that cannot be decoded.
func readParams(raw string, wrong api.Wrong) url.Values {
	values := url.Values{}
	for text := range strings.SplitSeq(raw, "&") {
		one, err := url.ParseQuery(text)
		if err != nil {
			name, _, _ := strings.Cut(text, "=")
			wrong(name, "cannot be decoded: %v", err)
		}
		for name, given := range one {
			values[name] = append(values[name], given...)
		}
	}
	return values
}

// readQuery reads the query of e, a struct that query points to, from a request: its parameters, of which wrong says what cannot be
// read, and its body, if it has one. That is read only where nothing is wrong with parameters.
func readQuery(w http.ResponseWriter, r *http.Request, e api.Endpoint, query any) (wrong []api.FieldError, err error) {
	var values url.Values
	if readsParams(e) {
		values = readParams(r.URL.RawQuery, noteIn(&wrong))
	}
	api.Read(query, values, r.PathValue, noteIn(&wrong))
	if !api.HasBody(reflect.ValueOf(query).Elem().Interface()) {
		return wrong, nil
	}
	if len(wrong) > 0 {
		return nil, invalidAll(sorted(wrong))
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	return nil, readJSON(r, query)
}
