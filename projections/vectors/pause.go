package vectors

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
)

// Failure is why an endpoint embedded nothing.
type Failure struct {
	Says        string    // for people; never what the texts say
	Until       time.Time // when the endpoint said it would answer again; zero: it did not
	Retryable   bool      // it may answer if it is asked again at once: it was busy, or not reached
	BlamesTexts bool      // the texts are to blame: one is too long, or not taken
}

func (f *Failure) Error() string { return "vectors: " + f.Says }

// Transient reports true: an endpoint that fails may answer later (see package transient).
func (f *Failure) Transient() bool { return true }

// failureOf is err as a Failure. What an embedder returns beside those is a fault of its own, and treated like one that passes.
func failureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{Says: err.Error()}
}

// pause is how long an endpoint is left alone. It is safe for concurrent use.
type pause struct {
	backoff policy.Backoff

	mu    sync.Mutex // guards the fields below
	times int        // failures in a row
	until time.Time
	says  string
}

// failed begins a pause, longer than the one before it.
func (p *pause) failed(f *Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times++
	p.until, p.says = time.Now().Add(p.backoff.Nth(p.times)), f.Says
	if f.Until.After(p.until) {
		p.until = f.Until
	}
}

func (p *pause) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times, p.until = 0, time.Time{}
}

// left is how long the pause lasts still, and why there is one; 0: there is none.
func (p *pause) left() (time.Duration, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, time.Until(p.until)), p.says
}

// line says that there is a pause; empty: there is none.
func (p *pause) line() string {
	left, says := p.left()
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%s; asked again in %s", says, max(time.Second, left.Round(time.Second)))
}
