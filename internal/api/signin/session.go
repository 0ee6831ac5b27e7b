package signin

import (
	"slices"
	"time"
)

const (
	nonceBytes     = 16
	nonceLifetime  = time.Minute
	bearerBytes    = 32 // nobody guesses 256 bits
	bearerLifetime = time.Hour
	maxNonces      = 16 // of a viewer, kept at once; one more lets go of the oldest
	maxSessions    = 32 // of a viewer: its tabs; one more ends the oldest
)

// Nonce makes what a tab of a viewer is to sign, once, until the time that is returned. Errors are ErrViewer and ErrDropped.
func (r *Register) Nonce(id string) (text string, expires time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.find(id)
	if v == nil {
		return "", time.Time{}, r.absent(id)
	}
	n := nonce{random(nonceBytes), r.now().Add(nonceLifetime)}
	v.nonces = append(v.nonces, n)
	v.nonces = v.nonces[max(0, len(v.nonces)-maxNonces):]
	return n.text, n.expires, nil
}

// absent says why there is no viewer of that id. mu is held.
func (r *Register) absent(id string) error {
	if slices.Contains(r.dropped, id) {
		return ErrDropped
	}
	return ErrViewer
}

// SignIn takes a viewer's signature over a nonce, which is used up, and gives the tab that brings it a bearer. Errors are ErrViewer,
// ErrDropped and ErrSignature.
func (r *Register) SignIn(id, nonce string, signature []byte) (Session, error) {
	s, stale, err := r.signIn(id, nonce, signature)
	if stale {
		r.keepUse()
	}
	return s, err
}

// signIn is SignIn but for the file; stale says that what it has of the viewer's last use is too old.
func (r *Register) signIn(id, text string, signature []byte) (_ Session, stale bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.find(id)
	if v == nil {
		return Session{}, false, r.absent(id)
	}
	now := r.now()
	i := slices.IndexFunc(v.nonces, func(n nonce) bool { return n.text == text && now.Before(n.expires) })
	if i < 0 {
		return Session{}, false, ErrSignature
	}
	v.nonces = slices.Delete(v.nonces, i, i+1)
	if !verifies(v.key, text, signature) {
		return Session{}, false, ErrSignature
	}
	if stale = now.Sub(v.Used).Abs() > usedEvery; stale {
		v.Used = now
	}
	return r.begin(v, now), stale, nil
}

// begin gives a tab of v a bearer. mu is held.
func (r *Register) begin(v *viewer, now time.Time) Session {
	bearer, ended := random(bearerBytes), make(chan struct{})
	s := &session{Session{v.ID, v.Scope, "", now.Add(bearerLifetime), ended}, digestOf(bearer), ended}
	v.sessions = slices.DeleteFunc(v.sessions, func(old *session) bool {
		over := !now.Before(old.Expires)
		if over {
			r.end(old)
		}
		return over
	})
	if len(v.sessions) >= maxSessions {
		r.end(v.sessions[0])
		v.sessions = slices.Delete(v.sessions, 0, 1)
	}
	v.sessions = append(v.sessions, s)
	r.bearers[s.digest] = s
	given := s.Session
	given.Bearer = bearer
	return given
}

// keepUse writes down when viewers were used last. Where it cannot, they are forgotten earlier than they could be.
func (r *Register) keepUse() {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.mu.Lock()
	all := storedOf(r.viewers)
	r.mu.Unlock()
	if err := save(r.path, all); err != nil {
		r.logger.Warn("when the page was used last is not kept", "err", err)
	}
}

// Find is the tab that has bearer; ok is false where none has, or its hour is over.
func (r *Register) Find(bearer string) (s Session, ok bool) {
	is := digestOf(bearer)
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.bearers[is]
	if found == nil || !r.now().Before(found.Expires) {
		return Session{}, false
	}
	return found.Session, true
}
