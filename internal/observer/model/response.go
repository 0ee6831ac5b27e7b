package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// Response is what came of one request.
type Response struct {
	Status int    // 0: nothing came
	Body   []byte // of a good answer, as far as it came; of any other nothing

	key     *Key // of the client that asked
	sent    int  // requests that went out, with or without an answer
	header  http.Header
	refusal []byte // the body of any other answer, its beginning
	err     error  // why nothing came, or not all. Its text may hold the address, and is not shown
}

// JSON reads the body of a good answer into v, and reports whether it is one. Numbers and fields that v does not know are left
// out.
func (r *Response) JSON(v any) bool {
	return r.Status == http.StatusOK && r.err == nil && json.Unmarshal(r.Body, v) == nil
}

// Count is a number of tokens in an answer. What is none reads as 0: no answer is lost for what stands in its bill.
type Count int64

// maxCount is far more than any model takes, and has no rounding.
const maxCount = 1 << 50

// UnmarshalJSON takes any number from 0 on, and anything else as 0. It never fails.
func (c *Count) UnmarshalJSON(b []byte) error {
	*c = 0
	if n, err := strconv.ParseFloat(string(b), 64); err == nil && n > 0 && n <= maxCount {
		*c = Count(n)
	}
	return nil
}

// Failed returns what became of a request that has no good answer: ctx.Err() or an *observer.Failure. A key that was refused
// is read again.
func (r *Response) Failed(ctx context.Context) error { return r.failed(ctx, false) }

// failed is Failed, or ErrForm where an answer in the structured form was asked for and the service has none.
func (r *Response) failed(ctx context.Context, structured bool) error {
	refusal := Refusal{Status: r.Status, Header: r.header, Body: ReadErrorBody(r.refusal)}
	_, tooLong := errors.AsType[*http.MaxBytesError](r.err)
	unkeyed, _ := errors.AsType[*observer.Failure](r.err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case unkeyed != nil:
		return unkeyed
	case r.Status == 0:
		return &observer.Failure{Class: events.FailTransport, Message: brokenBy(r.err)}
	case r.Status >= 300 && structured && refusal.Form():
		return ErrForm
	case r.Status >= 300:
		return r.refused(refusal)
	case tooLong:
		return &observer.Failure{Class: events.FailTruncated, Message: fmt.Sprintf("the answer is longer than %d bytes", maxBody)}
	case r.err != nil:
		return &observer.Failure{Class: events.FailTransport, Message: "the answer broke off: " + brokenBy(r.err)}
	}
	return r.unreadable()
}

// unreadable is what an answer comes to that arrived and is none: what stands in the place of the service, where it is not
// even of its type, or an answer that broke off.
func (r *Response) unreadable() *observer.Failure {
	kind, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	if strings.HasSuffix(kind, "json") || kind == "text/event-stream" {
		return &observer.Failure{Class: events.FailTransport, Message: "the answer broke off"}
	}
	return &observer.Failure{Class: events.FailSetup, Message: "what answered is no such service: it sent no JSON"}
}

// Refused returns what an error comes to that a service sends as JSON inside an answer that had begun well.
func (r *Response) Refused(body []byte) error {
	return r.refused(Refusal{Status: r.Status, Header: r.header, Body: ReadErrorBody(body)})
}

func (r *Response) refused(refusal Refusal) error {
	f := refusal.Failure(time.Now())
	if f.Class == events.FailAuth {
		r.key.Forget()
	}
	return f
}

// objections lists the parameters of the request that the service refused.
func (r *Response) objections() []string { return ReadErrorBody(r.refusal).Fields }

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
