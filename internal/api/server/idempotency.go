package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

const (
	// maxIdempotencyKey is the longest key in bytes: a UUID has 36.
	maxIdempotencyKey = 128

	// answersKept is for how long an answer is kept for who asks once more, and maxAnswersKept how many are: an answer is some hundred
	// bytes.
	answersKept    = 24 * time.Hour
	maxAnswersKept = 1000
)

// idempotency keeps what calls that change something were answered, by the Idempotency-Key that the caller gave them: who lost the
// answer asks once more with the same key, and nothing is done twice. Keys are a caller's own. They are forgotten when the daemon ends.
// Of what was asked a hash is kept, so that nothing that is forgotten later stays here. It is safe for concurrent use.
type idempotency struct {
	mu    sync.Mutex // guards the fields below, and those of each call
	calls map[callKey]*keyedCall
	order []callKey // of calls, the oldest first
}

// callKey is a caller's key for one route: a browser's are not those of other programs.
type callKey struct{ viewer, pattern, key string }

// keyedCall is a call that was given a key.
type keyedCall struct {
	asked  [sha256.Size]byte
	began  time.Time
	done   bool
	answer any // once it is done
}

// checkIdempotencyKey notes what is wrong with a key.
func checkIdempotencyKey(key string, wrong api.Wrong) {
	if len(key) > maxIdempotencyKey || slices.ContainsFunc([]byte(key), func(c byte) bool { return c <= ' ' || c > '~' }) {
		wrong(api.IdempotencyHeader, "is no more than %d letters, digits and signs, without spaces: a UUID, say", maxIdempotencyKey)
	}
}

// hashOf is a hash of what a request asks for.
func hashOf(r *http.Request, query any) [sha256.Size]byte {
	b, _ := json.Marshal(query) // it was read from JSON
	return sha256.Sum256(append([]byte(r.URL.RequestURI()+"\x00"), b...))
}

// once has run answer a request, unless the same was answered before under its key: then it is answered as that was. Requests without a
// key, and those that a key does not go with, are run. What a key was given to is done whole, whoever waits for it: else it might be
// done, and not kept. Errors are those of run, which may be tried again, and problems: the key is another request's, or that is still
// under way.
func (s *idempotency) once(r *http.Request, e endpoint, query any, run func(ctx context.Context) (any, error)) (any, error) {
	text := r.Header.Get(api.IdempotencyHeader)
	if text == "" || !e.TakesKey() {
		return run(r.Context())
	}
	var wrong []api.FieldError
	if checkIdempotencyKey(text, noteIn(&wrong)); len(wrong) > 0 {
		return nil, invalidAll(wrong)
	}
	key := callKey{callerOf(r.Context()).viewer, e.Pattern(), text}
	call, answer, err := s.claim(key, hashOf(r, query), time.Now())
	if call == nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), plainTimeout)
	defer cancel()
	kept := false
	defer func() {
		if !kept { // also where it panics
			s.release(key, call)
		}
	}()
	answer, err = run(ctx)
	if err == nil {
		kept = true
		s.keep(call, answer)
	}
	return answer, err
}

// claim enters a new call, or returns the answer or the problem of the one that has the key.
func (s *idempotency) claim(key callKey, asked [sha256.Size]byte, now time.Time) (call *keyedCall, answer any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetOld(now)
	switch had := s.calls[key]; {
	case had == nil:
	case had.asked != asked:
		return nil, nil, invalid(api.IdempotencyHeader, "was given to another request: give each its own")
	case !had.done:
		return nil, nil, conflict("The same is under way", "a request with this "+api.IdempotencyHeader+" has not been answered yet: ask once more in a moment")
	default:
		return nil, had.answer, nil
	}
	call = &keyedCall{asked: asked, began: now}
	if s.calls == nil {
		s.calls = map[callKey]*keyedCall{}
	}
	s.calls[key], s.order = call, append(s.order, key)
	return call, nil, nil
}

// forgetOld makes room for one more. mu is held.
func (s *idempotency) forgetOld(now time.Time) {
	for len(s.order) > 0 && (len(s.order) >= maxAnswersKept || now.Sub(s.calls[s.order[0]].began) > answersKept) {
		delete(s.calls, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *idempotency) keep(call *keyedCall, answer any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call.answer, call.done = answer, true
}

// release takes back a call that was refused or failed.
func (s *idempotency) release(key callKey, call *keyedCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[key] != call {
		return
	}
	delete(s.calls, key)
	s.order = slices.DeleteFunc(s.order, func(k callKey) bool { return k == key })
}
