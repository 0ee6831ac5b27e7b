package api

import (
	"time"
)

// The routes that let a browser in: with the code of a link it enrols a key, and each of its tabs signs a nonce for a bearer.
var (
	LinkRoute       = Route[LinkRequest, Link]{post, "/v1/ui/links", ScopeSocket, "a link that opens the page in one browser, once, within a minute"}
	EnrolRoute      = Route[EnrolRequest, Enrolled]{post, "/v1/ui/viewers", ScopeAnybody, "lets a browser in that has a link's code"}
	NonceRoute      = Route[NonceRequest, Nonce]{post, "/v1/ui/nonces", ScopeAnybody, "what a tab is to sign"}
	SignInRoute     = Route[SignInRequest, SignedIn]{post, "/v1/ui/sessions", ScopeAnybody, "a bearer for an hour, for a signature"}
	ViewersRoute    = Route[NoQuery, Viewers]{get, "/v1/ui/viewers", ScopeView, "the browsers that are let in"}
	SignOutRoute    = Route[IDQuery, SignedOut]{del, "/v1/ui/viewers/{id}", ScopeView, "lets a browser in no more; who may only view, itself alone"}
	SignOutAllRoute = Route[NoQuery, SignedOut]{del, "/v1/ui/viewers", ScopeEdit, "lets no browser in any more"}
)

// LinkRequest asks for a link to the page.
type LinkRequest struct {
	ReadOnly bool   `json:"read_only,omitempty"` // the page changes nothing
	Project  string `json:"project,omitempty"`   // that the page begins with; empty: all
}

// Check implements the queries' method of that name.
func (q *LinkRequest) Check(wrong Wrong) {
	if len(q.Project) > MaxParam {
		wrong("/project", "is longer than %d bytes", MaxParam)
	}
}

// AnyProject is as that of NoQuery.
func (LinkRequest) AnyProject() bool { return true }

// Link opens the page.
type Link struct {
	URL     string    `json:"url"` // its fragment is the code, which no browser sends to anybody
	Expires time.Time `json:"expires_at"`
	Scope   Scope     `json:"scope"` // edit: whoever asked is a person, and did not ask for less
}

// EnrolRequest is what a browser sends that has a link's code.
type EnrolRequest struct {
	Code string `json:"code"`
	Key  []byte `json:"key"` // an uncompressed point of P-256, 65 bytes, as WebCrypto exports it in the format "raw"; base64
}

// Enrolled says under which id a browser is let in.
type Enrolled struct {
	ID    string `json:"id"`
	Scope Scope  `json:"scope"`
}

// NonceRequest names a viewer.
type NonceRequest struct {
	Viewer string `json:"viewer"`
}

// Nonce is what a tab is to sign, once: ECDSA on P-256 with SHA-256 over "cmemd sign-in", a line feed, and Nonce.
type Nonce struct {
	Nonce   string    `json:"nonce"`
	Expires time.Time `json:"expires_at"`
}

// SignInRequest is a viewer's signature over a nonce.
type SignInRequest struct {
	Viewer    string `json:"viewer"`
	Nonce     string `json:"nonce"`
	Signature []byte `json:"signature"` // r and s, 32 bytes each, as WebCrypto writes it; base64
}

// SignedIn is what a tab goes on with.
type SignedIn struct {
	Bearer  string    `json:"bearer"` // for the header Authorization; kept in memory alone
	Expires time.Time `json:"expires_at"`
	Scope   Scope     `json:"scope"`
}

// Viewer is a browser that is let in.
type Viewer struct {
	ID      string    `json:"id"`
	Scope   Scope     `json:"scope"` // ScopeView or ScopeEdit
	Created time.Time `json:"created_at"`
	Used    time.Time `json:"used_at"` // when one of its tabs signed in last, to a day
	Asks    bool      `json:"asks"`    // it is the one that asks
}

// Viewers are the browsers that are let in, the one used last first.
type Viewers struct {
	Viewers []Viewer `json:"viewers"` // never null
}

// SignedOut says how many browsers are let in no more.
type SignedOut struct {
	Viewers int `json:"viewers"`
}
