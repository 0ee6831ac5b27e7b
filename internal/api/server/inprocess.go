package server

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/cmemd/cmemd/internal/api"
)

// Own returns a client that asks this server itself, without a connection and without a token: for faces that live in the
// daemon. An answer is held whole before the client sees any of it, so that Events, Export and Backup are not for it. It
// needs no Close.
func (s *Server) Own() *api.Client {
	return api.Over(inProcess{s})
}

// inProcess is a transport that calls the server's handler.
type inProcess struct{ server *Server }

// RoundTrip implements http.RoundTripper. It returns when the handler has.
func (o inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	in := req.Clone(req.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	out := &held{status: http.StatusOK, header: http.Header{}}
	err := out.serve(o.server.Local(), in)
	if req.Body != nil {
		err = errors.Join(err, req.Body.Close())
	}
	if err := cmp.Or(req.Context().Err(), err); err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(out.status), StatusCode: out.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: out.header, Body: io.NopCloser(&out.body), ContentLength: int64(out.body.Len()), Request: req,
	}, nil
}

// held is an answer in memory.
type held struct {
	status int
	began  bool
	header http.Header
	body   bytes.Buffer
}

// serve calls h. An answer that h cut is an error.
func (a *held) serve(h http.Handler, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			err = fmt.Errorf("%w: it was cut", api.ErrCut)
		}
	}()
	h.ServeHTTP(a, r)
	return nil
}

func (a *held) Header() http.Header { return a.header }

func (a *held) WriteHeader(status int) {
	if !a.began && status >= 200 {
		a.began, a.status = true, status
	}
}

func (a *held) Write(p []byte) (int, error) {
	a.began = true
	return a.body.Write(p)
}

// Flush is for streams, which are held like all else.
func (a *held) Flush() { a.began = true }
