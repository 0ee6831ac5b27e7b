package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// Endpoint is where a service is asked over HTTP, and with which key.
type Endpoint struct {
	URL       string            // the base of its API, without a query and without a user; empty: the service's own
	Key       *Key              // nil: none is sent
	Transport http.RoundTripper // nil: one of its own, with the proxy of the environment
}

// Check refuses a URL that no service can be asked at, or that holds a secret. The error does not repeat the URL.
func (e Endpoint) Check() error {
	if e.URL == "" {
		return nil
	}
	switch u, err := url.Parse(e.URL); {
	case err != nil:
		return errors.New("model: the base URL is not one")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("model: the base URL does not begin with http:// or https:// and a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("model: the base URL has a user or a query; a key belongs in the setting for keys")
	}
	return nil
}

// NewClient returns a client for e that adds the key to each request under header (with "Bearer " before it where that is
// Authorization), so that nothing above it knows the key; follows no redirection, which could carry the key elsewhere; and
// tells the Call of a request's context (Watch) what came back. Its answers end with an error after maxBody bytes. Close
// its idle connections when it is not needed any more.
func NewClient(e Endpoint, header string) *http.Client {
	t := e.Transport
	if t == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.MaxIdleConnsPerHost = 4
		t = own
	}
	return &http.Client{Transport: &watcher{next: t, key: e.Key, header: header}}
}

const (
	maxBody      = 4 << 20  // bytes of an answer: many times the longest text that is taken, with what is around it
	maxErrorBody = 64 << 10 // bytes of a refusal that are read for its words
)

// Call watches the one request that is made under its context. Its methods are for the goroutine that asks.
type Call struct {
	structured bool
	key        *Key // of the client that was asked

	mu     sync.Mutex // guards the fields below: a client may read an answer in a goroutine of its own
	sent   int        // requests that went out, with or without an answer
	status int
	header http.Header
	body   []byte // of a refusal, its beginning
	broken error  // why the answer could not be read to its end
	failed *observer.Failure
}

type callKey struct{}

// Watch returns a context for the request that asks q, and the Call that watches it.
func Watch(ctx context.Context, q Question) (context.Context, *Call) {
	c := &Call{structured: q.Form == events.FormStructured}
	return context.WithValue(ctx, callKey{}, c), c
}

// Outcome returns what Asker.Ask is to return where told is what the service said, as far as it came, and err what became of
// it: the figures and the text stand where they belong, and the requests are counted. A failure in err is altered.
func (c *Call) Outcome(told observer.Reply, err error) (observer.Reply, error) {
	c.mu.Lock()
	told.Calls = c.sent
	c.mu.Unlock()
	if f, ok := errors.AsType[*observer.Failure](err); ok {
		f.Output, f.Bill = told.Text, told.Bill
		return observer.Reply{}, err
	}
	if err != nil {
		told.Text, told.StopReason = events.Output{}, ""
	}
	return told, err
}

// Failed returns what became of the call, where its client returned err, in the terms of Asker.Ask: ctx.Err(), ErrForm or
// an *observer.Failure. What err says is not in it: it may repeat the prompt. A key that was refused is read again.
func (c *Call) Failed(ctx context.Context, err error) error {
	err = c.failure(ctx, err)
	if f, ok := errors.AsType[*observer.Failure](err); ok && f.Class == events.FailAuth {
		c.key.Forget()
	}
	return err
}

func (c *Call) failure(ctx context.Context, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	refusal := Refusal{Status: c.status, Header: c.header, Body: ReadErrorBody(c.body)}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case c.failed != nil:
		return c.failed
	case c.status == 0:
		return &observer.Failure{Class: events.FailTransport, Message: brokenBy(err)}
	case c.status >= 300 && c.structured && refusal.Form():
		return ErrForm
	case c.status >= 300:
		return refusal.Failure(time.Now())
	case errors.Is(c.broken, errTooLong):
		return &observer.Failure{Class: events.FailTruncated, Message: "the answer is longer than " + fmt.Sprint(maxBody) + " bytes"}
	case c.broken != nil:
		return &observer.Failure{Class: events.FailTransport, Message: "the answer broke off: " + brokenBy(c.broken)}
	}
	return c.unreadable()
}

// unreadable is what an answer comes to that arrived and is none: what stands in the place of the service, where it is not
// even of its type, or an answer that broke off.
func (c *Call) unreadable() *observer.Failure {
	kind, _, _ := mime.ParseMediaType(c.header.Get("Content-Type"))
	if strings.HasSuffix(kind, "json") || kind == "text/event-stream" {
		return &observer.Failure{Class: events.FailTransport, Message: "the answer broke off"}
	}
	return &observer.Failure{Class: events.FailSetup, Message: "what answered is no such service: it sent no JSON"}
}

// Refused returns what an error comes to that a service sends as JSON inside an answer that had begun well, in the terms
// of Asker.Ask.
func (c *Call) Refused(body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := Refusal{Status: c.status, Header: c.header, Body: ReadErrorBody(body)}.Failure(time.Now())
	if f.Class == events.FailAuth {
		c.key.Forget()
	}
	return f
}

// Objects lists the parameters of the request that the service refused.
func (c *Call) Objects() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ReadErrorBody(c.body).Fields
}

// watcher is the transport of a client.
type watcher struct {
	next   http.RoundTripper
	key    *Key
	header string
}

// RoundTrip sends r with the key.
func (w *watcher) RoundTrip(r *http.Request) (*http.Response, error) {
	call, _ := r.Context().Value(callKey{}).(*Call)
	if call == nil {
		call = &Call{}
	}
	call.key = w.key
	r = r.Clone(r.Context())
	if err := w.sign(r); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		call.fail(err)
		return nil, err
	}
	call.leaves()
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	call.answered(resp)
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		_ = resp.Body.Close()
		return nil, errRedirected
	}
	resp.Body = &watchedBody{ReadCloser: resp.Body, call: call, left: maxBody, refusal: resp.StatusCode >= 300}
	return resp, nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through.
func (w *watcher) CloseIdleConnections() {
	if t, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// sign puts the key in its header, and takes out what a client put there in its place.
func (w *watcher) sign(r *http.Request) error {
	r.Header.Del(w.header)
	if w.key == nil {
		return nil
	}
	key, err := w.key.Get(r.Context())
	if err != nil {
		return err
	}
	if http.CanonicalHeaderKey(w.header) == "Authorization" {
		key = "Bearer " + key
	}
	r.Header.Set(w.header, key)
	return nil
}

func (c *Call) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed, _ = errors.AsType[*observer.Failure](err)
}

func (c *Call) leaves() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
}

func (c *Call) answered(r *http.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status, c.header = r.StatusCode, r.Header
}

var (
	errTooLong    = errors.New("model: the answer is too long")
	errRedirected = errors.New("model: the service is elsewhere")
)

// watchedBody is the body of an answer.
type watchedBody struct {
	io.ReadCloser
	call    *Call
	left    int
	refusal bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		err = errTooLong
	}
	b.call.read(p[:n], err, b.refusal)
	return n, err
}

func (c *Call) read(p []byte, err error, refusal bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if refusal {
		c.body = append(c.body, p[:min(len(p), maxErrorBody-len(c.body))]...)
	}
	if err != nil && err != io.EOF {
		c.broken = err
	}
}

// brokenBy names what broke a connection, by the types of err. Its text may hold the address, and is not shown.
func brokenBy(err error) string {
	_, noName := errors.AsType[*net.DNSError](err)
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, badRecord := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	slow, _ := errors.AsType[net.Error](err)
	switch {
	case noName:
		return "the name of the host is not found"
	case badCertificate || unknown:
		return "the certificate of the host is not accepted"
	case badRecord || alert:
		return "the host does not speak TLS as we do"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	case slow != nil && slow.Timeout():
		return "no connection in time"
	}
	return "connection failed"
}
