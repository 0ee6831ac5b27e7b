package daemon

import (
	"slices"
	"strings"
	"sync"
)

// StoppedPhase begins the phase of a daemon whose views or index stand still for good: it is not ready any more.
const StoppedPhase = "stopped: "

// phase is what the start of a daemon is at; once a view has stopped, that is all there is to say. It is safe for
// concurrent use.
type phase struct {
	mu    sync.Mutex // guards the fields below, and that what is told last is true
	still []string   // names of what has stopped
}

// set tells a phase of the start, unless something has stopped.
func (p *phase) set(name string, tell func(string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.still) == 0 {
		tell(name)
	}
}

// stop tells that what is named has stopped for good.
func (p *phase) stop(name string, tell func(string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.still = append(p.still, name)
	tell(StoppedPhase + strings.Join(p.still, ", "))
}

// stopped names what has stopped.
func (p *phase) stopped() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.still)
}
