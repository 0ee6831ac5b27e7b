package signin

import (
	"crypto/ecdsa"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

type viewer struct {
	api.Viewer
	raw      []byte
	key      *ecdsa.PublicKey
	nonces   []nonce    // oldest first
	sessions []*session // oldest first
}

// nonce is what a tab is to sign.
type nonce struct {
	text    string
	expires time.Time
}

// Session is a tab that is signed in.
type Session struct {
	Viewer  string
	Scope   api.Scope
	Bearer  string // of the answer of SignIn alone
	Expires time.Time
	Ended   <-chan struct{} // closed when its viewer is let in no more, or too many tabs are signed in
}

type session struct {
	Session
	digest digest
	ended  chan struct{}
}

// link is a code that was given out.
type link struct {
	code   digest
	scope  api.Scope
	made   time.Time
	used   bool
	again  bool   // it was used a second time
	failed bool   // it was used, and nobody was let in
	viewer string // that it let in; empty: none yet
}
