package capture

import (
	"sync"
	"time"
)

// answerAge is how long before a hook a tool of this memory may have been answered that the hook reports: agents call hooks as soon as
// a tool has returned, one after the other.
const answerAge = time.Minute

// answered knows when this memory last answered a tool. Agents tell servers apart by names, which a repository's settings can give to
// any program; what such a program says is somebody else's.
type answered struct {
	since time.Time // nothing is known of what was answered before

	mu   sync.Mutex // guards last
	last time.Time  // zero: none was
}

// AnswersTool notes that a tool of this memory is being answered. It is safe for concurrent use.
func (p *Pipeline) AnswersTool() {
	p.answered.mu.Lock()
	defer p.answered.mu.Unlock()
	p.answered.last = p.cfg.Now()
}

// before reports whether a tool that a hook at a time reports may have been answered here: one was, or nobody can tell.
func (a *answered) before(at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	from := at.Add(-answerAge)
	return from.Before(a.since) || !a.last.Before(from)
}
