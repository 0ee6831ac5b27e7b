package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/signin"
)

// A tokenDigest lets in over the loopback address those who have its token.
type tokenDigest struct {
	hash         [sha256.Size]byte
	admitsNobody bool          // there is no token
	replaced     chan struct{} // closed when another token takes its place
}

// tokenGate lets requests in over the loopback address, by a token.
type tokenGate struct {
	newToken    func() (string, error)
	browsers    *signin.Register // that are let in too
	now         func() time.Time
	logger      *slog.Logger
	projects    []string                    // as Access has them
	wrongTokens bucket                      // how many requests had another token, or none
	key         atomic.Pointer[tokenDigest] // that fits
	rotating    sync.Mutex                  // held while a token is made, kept and set: the file and key never differ
}

// setToken lets in those who have another token from now on, and ends what others are at.
func (g *tokenGate) setToken(token string) {
	old := g.key.Swap(&tokenDigest{hash: sha256.Sum256([]byte(token)), admitsNobody: token == "", replaced: make(chan struct{})})
	if old != nil {
		close(old.replaced)
	}
}

// bearerOf is the token that r has; ok is false where it has none.
func bearerOf(r *http.Request) (token string, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, strings.EqualFold(scheme, "Bearer")
}

// matches reports whether r has the token. It compares in a time that does not depend on what was sent.
func (k *tokenDigest) matches(r *http.Request) bool {
	token, ok := bearerOf(r)
	got := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(got[:], k.hash[:]) == 1 && ok && !k.admitsNobody
}

// sessionOf is the tab of a browser that has r's token; nil: none has.
func (g *tokenGate) sessionOf(r *http.Request) *signin.Session {
	token, ok := bearerOf(r)
	if s, found := g.browsers.Find(token); ok && found {
		return &s
	}
	return nil
}

// withSession serves a request of a tab, for as long as it is signed in.
func (g *tokenGate) withSession(s *signin.Session, next http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(withCaller(r.Context(), caller{scope: s.Scope, viewer: s.Viewer}), s.Expires.Sub(g.now()))
	defer cancel()
	defer cancelWhen(s.Ended, cancel)()
	next.ServeHTTP(w, r.WithContext(ctx))
}

// withKey serves a request that k let in, for as long as k is the key. Agents' settings hold it: who has it is an agent.
func (g *tokenGate) withKey(k *tokenDigest, next http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx := api.ReadFace(r.Context(), r.Header, func() bool { return false })
	ctx, cancel := context.WithCancel(withCaller(ctx, caller{scope: api.ScopeOwn}.keptAs(ctx, g.projects)))
	defer cancel()
	defer cancelWhen(k.replaced, cancel)()
	next.ServeHTTP(w, r.WithContext(ctx))
}

func (g *tokenGate) routes(to *dispatcher) []endpoint {
	return []endpoint{bind(to, api.RotateRoute, g.postRotate)}
}

// postRotate has another token made, and lets no browser in any more. It is asked over the socket only: who has the old token, and
// nothing else, is the one to be locked out.
func (g *tokenGate) postRotate(context.Context, api.NoQuery) (api.Done, error) {
	if err := g.rotate(); err != nil {
		return 0, err
	}
	g.logger.Info("the token was changed; what uses the old one is refused")
	_, err := g.browsers.DropAll()
	return http.StatusNoContent, err
}

// rotate makes another token and lets in those who have it. One is made at a time: else the file might keep one token, and
// the daemon another.
func (g *tokenGate) rotate() error {
	g.rotating.Lock()
	defer g.rotating.Unlock()
	token, err := g.newToken()
	if err != nil {
		return err
	}
	g.setToken(token)
	return nil
}

// guarded lets through to next only who names a loopback host, comes from no foreign origin, and has the token, is a browser that is let
// in, or asks for what is open to anybody. Who opens the page in a tab may come from anywhere.
func (g *tokenGate) guarded(next http.Handler, isPublic func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k := g.key.Load()
		to, moved := elsewhere(r)
		switch tab := g.sessionOf(r); {
		case !loopbackHost(r):
			writeProblem(w, forbidden("the host is not this machine's loopback address and port"))
		case !ownOrigin(r) && !opensPage(r):
			writeProblem(w, forbidden("requests from other origins are refused"))
		case moved:
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		case k.matches(r):
			g.withKey(k, next, w, r)
		case tab != nil:
			g.withSession(tab, next, w, r)
		case isPublic(r):
			next.ServeHTTP(w, r.WithContext(withCaller(r.Context(), caller{scope: api.ScopeAnybody, peer: peerOf(r)})))
		case !g.wrongTokens.take(g.now()):
			writeProblem(w, tooMany())
		default:
			writeProblem(w, &api.Problem{
				Type: api.ProblemUnauthorized, Title: "A token is needed", Status: http.StatusUnauthorized,
				Detail: "send `Authorization: Bearer` and what is in the file `token` of cmemd's home",
			})
		}
	})
}

// loopbackHost reports whether the Host header names a loopback address with the port that was connected to: a name
// that was made to point here is another one.
func loopbackHost(r *http.Request) bool {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil || host != "127.0.0.1" && host != "::1" && !strings.EqualFold(host, "localhost") {
		return false
	}
	_, own, err := net.SplitHostPort(localAddress(r))
	return err == nil && port == own
}

// localAddress is the address with the port that r came to; empty: it is not known.
func localAddress(r *http.Request) string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return ""
	}
	return local.String()
}

// ownOrigin reports whether r comes from no page, or from one of ours.
func ownOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origins := r.Header.Values("Origin")
	return len(origins) == 0 || len(origins) == 1 && strings.EqualFold(origins[0], "http://"+r.Host)
}

const (
	// guessRate and guessBurst are how many requests with a wrong token, or none, are answered so: one that is set up wrong
	// learns of it, and a loop costs nothing.
	guessRate  = 5 // a second
	guessBurst = 50
)

// A bucket tells whether something happens too often. It begins full.
type bucket struct {
	mu   sync.Mutex // guards the fields below
	at   time.Time
	used float64
}

// take reports whether it may happen now.
func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = max(0, b.used-max(0, now.Sub(b.at).Seconds())*guessRate)
	b.at = now
	if b.used+1 > guessBurst {
		return false
	}
	b.used++
	return true
}

// tooMany is the answer to a wrong token that comes after many others.
func tooMany() *api.Problem {
	p := unavailable(api.ProblemBusy, "Too many requests without a token", time.Second, "read the token again")
	p.Status = http.StatusTooManyRequests
	return p
}
