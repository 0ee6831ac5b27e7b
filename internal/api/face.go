package api

import (
	"context"
	"net/http"
	"net/url"
)

// A face that agents use says with each question to which project it keeps itself, and whether the person has said yes in a form that
// the agent's client showed. The first only takes away. The second is believed of this program itself, and of nobody else.

// EveryProject stands for all projects where one may be named.
const EveryProject = "*"

type keptKey struct{}

type agreedKey struct{}

// KeptTo is ctx of questions of a face that keeps to the project of a folder, an absolute path, and to those that the person lets agents
// read besides; empty: it is not known where the agent works.
func KeptTo(ctx context.Context, folder string) context.Context {
	return context.WithValue(ctx, keptKey{}, folder)
}

// Kept returns what KeptTo was given last; ok is false where it was not called.
func Kept(ctx context.Context) (folder string, ok bool) {
	folder, ok = ctx.Value(keptKey{}).(string)
	return folder, ok
}

// Agreed is ctx of a question to which the person has said yes in a form.
func Agreed(ctx context.Context) context.Context { return context.WithValue(ctx, agreedKey{}, true) }

// HasAgreed reports whether ctx is of such a question.
func HasAgreed(ctx context.Context) bool { return ctx.Value(agreedKey{}) != nil }

// The headers that carry both.
const (
	KeptHeader   = "Cmemd-Kept-To" // percent-encoded
	AgreedHeader = "Cmemd-Agreed"
)

// WriteFace sets the headers of a request with ctx.
func WriteFace(ctx context.Context, h http.Header) {
	if folder, ok := Kept(ctx); ok {
		h.Set(KeptHeader, url.PathEscape(folder))
	}
	if HasAgreed(ctx) {
		h.Set(AgreedHeader, "yes")
	}
}

// ReadFace is ctx with what headers say. Whether to believe that the person has agreed is for who calls it to say.
func ReadFace(ctx context.Context, h http.Header, believed func() bool) context.Context {
	if values := h.Values(KeptHeader); len(values) > 0 {
		folder, err := url.PathUnescape(values[0])
		if err != nil {
			folder = ""
		}
		ctx = KeptTo(ctx, folder)
	}
	if h.Get(AgreedHeader) != "" && believed() {
		ctx = Agreed(ctx)
	}
	return ctx
}
