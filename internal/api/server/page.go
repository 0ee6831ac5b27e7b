package server

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/signin"
)

// pathPage is below where the page is. Nothing of it holds data, or lets anybody do anything.
const pathPage = "/ui/"

// browsers lets browsers in, and shows them the page.
type browsers struct {
	register *signin.Register
	page     http.Handler
	gate     *tokenGate
	address  func() string // of the loopback listener; empty: there is none
}

func (s *browsers) routes(to *dispatcher) []endpoint {
	return []endpoint{
		bind(to, api.LinkRoute, s.postLink),
		bind(to, api.EnrolRoute, s.postViewer),
		bind(to, api.NonceRoute, s.postNonce),
		bind(to, api.SignInRoute, s.postSession),
		bind(to, api.ViewersRoute, s.getViewers),
		bind(to, api.SignOutRoute, s.deleteViewer),
		bind(to, api.SignOutAllRoute, s.deleteViewers),
	}
}

// postLink makes a link to the page: one by which memory can be changed for a person alone.
func (s *browsers) postLink(ctx context.Context, q api.LinkRequest) (api.Link, error) {
	at := s.address()
	if at == "" {
		return api.Link{}, conflict("No browser reaches this daemon", "it listens at no loopback address: `cmemd status` says why; the setting listen names one")
	}
	scope := api.ScopeView
	if writerOf(ctx) == events.WriterPerson && !q.ReadOnly {
		scope = api.ScopeEdit
	}
	code, expires := s.register.Link(scope)
	to := url.URL{Scheme: "http", Host: at, Path: pathPage, Fragment: "c=" + code}
	if q.Project != "" {
		to.RawQuery = url.Values{"project": {q.Project}}.Encode()
	}
	return api.Link{URL: to.String(), Expires: expires, Scope: scope}, nil
}

// postViewer lets a browser in, but not another user's: links stand in arguments of programs, which every user of the machine may read.
func (s *browsers) postViewer(ctx context.Context, q api.EnrolRequest) (api.Enrolled, error) {
	if callerOf(ctx).process().Stranger {
		if !s.gate.wrongTokens.take(s.gate.now()) {
			return api.Enrolled{}, tooMany()
		}
		s.gate.logger.Warn("another user of this machine tried to open the page")
		return api.Enrolled{}, forbidden("the page is for browsers of the user who runs the daemon")
	}
	v, err := s.register.Enrol(q.Code, q.Key)
	return api.Enrolled{ID: v.ID, Scope: v.Scope}, s.refuse(err)
}

// postNonce gives a tab what it is to sign.
func (s *browsers) postNonce(_ context.Context, q api.NonceRequest) (api.Nonce, error) {
	text, expires, err := s.register.Nonce(q.Viewer)
	return api.Nonce{Nonce: text, Expires: expires}, s.refuse(err)
}

// postSession gives a tab a bearer.
func (s *browsers) postSession(_ context.Context, q api.SignInRequest) (api.SignedIn, error) {
	in, err := s.register.SignIn(q.Viewer, q.Nonce, q.Signature)
	return api.SignedIn{Bearer: in.Bearer, Expires: in.Expires, Scope: in.Scope}, s.refuse(err)
}

// refuse is err as it is answered. Who is refused too often learns only that.
func (s *browsers) refuse(err error) error {
	for _, known := range []error{signin.ErrCode, signin.ErrUsedTwice, signin.ErrViewer, signin.ErrDropped, signin.ErrSignature} {
		if !errors.Is(err, known) {
			continue
		}
		if !s.gate.wrongTokens.take(s.gate.now()) {
			return tooMany()
		}
		_, why, _ := strings.Cut(err.Error(), ": ")
		return &api.Problem{
			Type: api.ProblemUnauthorized, Title: "Not let in", Status: http.StatusUnauthorized, Detail: why + "; `cmemd ui` opens the page",
		}
	}
	if errors.Is(err, signin.ErrFull) {
		_, why, _ := strings.Cut(err.Error(), ": ")
		return conflict("Too many browsers are let in", why+": `cmemd ui --sign-out` lets all out")
	}
	if errors.Is(err, signin.ErrKey) {
		return invalid("/key", "is no public key of P-256: 65 bytes in base64")
	}
	return err
}

func (s *browsers) getViewers(ctx context.Context, _ api.NoQuery) (api.Viewers, error) {
	out := api.Viewers{Viewers: s.register.Viewers()}
	for i, v := range out.Viewers {
		out.Viewers[i].Asks = v.ID == callerOf(ctx).viewer
	}
	return out, nil
}

// deleteViewer lets a browser in no more. Who may only view lets itself out, and nobody else.
func (s *browsers) deleteViewer(ctx context.Context, q api.IDQuery) (api.SignedOut, error) {
	if c := callerOf(ctx); c.scope < api.ScopeEdit && c.viewer != q.ID {
		return api.SignedOut{}, forbidden("a browser that may only view lets out itself alone")
	}
	err := s.register.Drop(q.ID)
	if errors.Is(err, signin.ErrViewer) {
		err = notFound("no browser of that id is let in")
	}
	return api.SignedOut{Viewers: 1}, err
}

func (s *browsers) deleteViewers(context.Context, api.NoQuery) (api.SignedOut, error) {
	n, err := s.register.DropAll()
	return api.SignedOut{Viewers: n}, err
}

// pageHeaders keep the page from running, showing or loading anything but its own files, and from being shown by others. The features
// are those that a browser has behind a question.
var pageHeaders = map[string][]string{
	"Content-Security-Policy": {"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
		"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"},
	"Cross-Origin-Opener-Policy": {"same-origin"},
	"Permissions-Policy":         {"camera=(), display-capture=(), fullscreen=(), geolocation=(), hid=(), microphone=(), midi=(), payment=(), serial=(), usb=()"},
}

// servePage answers below pathPage.
func (s *browsers) servePage(w http.ResponseWriter, r *http.Request) error {
	maps.Copy(w.Header(), pageHeaders)
	s.page.ServeHTTP(w, r)
	return nil
}

// isPage reports whether r asks for a file of the page.
func isPage(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, pathPage) && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// opensPage reports whether r opens the page in a tab, wherever the link to it stood: that shows no data, and does nothing.
func opensPage(r *http.Request) bool {
	return isPage(r) && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// elsewhere is where r finds the page, if it asks for it under another name than the address that it came to: the page keeps its key by
// origin, and has one.
func elsewhere(r *http.Request) (to string, yes bool) {
	own := localAddress(r)
	if !isPage(r) || own == "" || r.Host == own {
		return "", false
	}
	u := url.URL{Scheme: "http", Host: own, Path: r.URL.Path, RawQuery: r.URL.RawQuery}
	return u.String(), true
}
