package capture

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/internal/transient"
)

const (
	// maxDeadLetters and maxDeadLetterBytes bound the dead letters: a person reads and removes them, and nothing else does.
	maxDeadLetters     = 1000
	maxDeadLetterBytes = 64 << 20
)

// deadLetters are the deliveries on their way into the bad folder: for a moment they look as if they waited in the spool.
type deadLetters struct {
	mu   sync.Mutex // guards busy
	busy map[string]int
}

func (a *deadLetters) begin(delivery string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy[delivery]++
}

func (a *deadLetters) end(delivery string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[delivery]--; a.busy[delivery] == 0 {
		delete(a.busy, delivery)
	}
}

// has reports whether the spool file of that name is becoming a dead letter. Names end with their delivery.
func (a *deadLetters) has(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.busy[spool.DeliveryOf(name)] > 0
}

// deadLetter keeps a posted payload that will never be taken in the spool's bad folder, with the reason. What is only
// refused for now is not kept: its hook does that.
func (p *Pipeline) deadLetter(d delivery, cause error) {
	if p.cfg.Spool == nil || transient.Is(cause) {
		return
	}
	if p.cfg.Rules.Skips(d.Agent, "") != "" {
		p.Counts.Ignored.Add(1)
		return
	}
	err := p.keepBad(d, cause)
	if err != nil {
		p.Counts.Lost.Add(1)
		p.logger.Error("a refused payload is lost", "agent", d.Agent, "bytes", len(d.Body), "err", err)
		return
	}
	p.Counts.DeadLetters.Add(1)
	p.logger.Warn("a refused payload became a dead letter", "agent", d.Agent, "delivery", d.id, "err", refusal.Reason(cause))
}

func (p *Pipeline) keepBad(d delivery, cause error) error {
	if err := p.roomInBad(int64(len(d.Body))); err != nil {
		return err
	}
	d.Delivery = d.id.String()
	p.deadLetters.begin(d.Delivery)
	defer p.deadLetters.end(d.Delivery)
	name, err := p.cfg.Spool.Put(d.Entry)
	if err != nil && !errors.Is(err, spool.ErrUnsynced) {
		return err
	}
	return p.cfg.Spool.DeadLetter(name, refusal.Reason(cause))
}

// errBadFull means that the bad folder holds as much as it may.
var errBadFull = errors.New("capture: there are too many dead letters")

// roomInBad returns errBadFull if the bad folder cannot take another file of that size.
func (p *Pipeline) roomInBad(size int64) error {
	n, used, err := p.cfg.Spool.DeadLetterUsage()
	if err != nil {
		return err
	}
	if n >= maxDeadLetters || used+size > maxDeadLetterBytes {
		return fmt.Errorf("%w: %d payloads, %d bytes", errBadFull, n, used)
	}
	return nil
}
