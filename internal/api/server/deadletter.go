package server

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/transient"
)

const (
	// maxBad and maxBadBytes bound what is put aside: a person is to look at it, and nothing else removes it.
	maxBad      = 1000
	maxBadBytes = 64 << 20
)

// deadLetters are the deliveries that are being put aside: for a moment they look as if they waited in the spool.
type deadLetters struct {
	mu   sync.Mutex // guards busy
	busy map[string]int
}

func (a *deadLetters) begin(delivery string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy == nil {
		a.busy = map[string]int{}
	}
	a.busy[delivery]++
}

func (a *deadLetters) end(delivery string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[delivery]--; a.busy[delivery] == 0 {
		delete(a.busy, delivery)
	}
}

// has reports whether the spool file of that name is being put aside. Names end with their delivery.
func (a *deadLetters) has(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, delivery, _ := strings.Cut(name, "-")
	return a.busy[delivery] > 0
}

// deadLetter keeps a posted payload that will never be taken in the spool's bad folder, with the reason. What is only
// refused for now is not kept: its hook does that.
func (s *Server) deadLetter(d delivery, cause error) {
	if s.cfg.Spool == nil || transient.Is(cause) {
		return
	}
	err := s.keepBad(d, cause)
	if errors.Is(err, relay.ErrPrivate) {
		s.metrics.ignored.Inc()
		return
	}
	if err != nil {
		s.metrics.lost.Inc()
		s.logger.Error("a refused payload is lost", "agent", d.agent, "bytes", len(d.body), "err", err)
		return
	}
	s.metrics.aside.Inc()
	s.logger.Warn("a refused payload was put aside", "agent", d.agent, "delivery", d.id, "err", reasonOf(cause))
}

func (s *Server) keepBad(d delivery, cause error) error {
	if err := s.roomInBad(int64(len(d.body))); err != nil {
		return err
	}
	id := d.id.String()
	s.deadLetters.begin(id)
	defer s.deadLetters.end(id)
	name, err := s.cfg.Spool.Put(relay.Entry{Agent: d.agent, Delivery: id, OccurredAt: d.at, Body: d.body})
	if err != nil && !errors.Is(err, relay.ErrUnsynced) {
		return err
	}
	return s.cfg.Spool.SetAside(name, reasonOf(cause))
}

// errBadFull means that the bad folder holds as much as it may.
var errBadFull = errors.New("api: too much is put aside already")

// roomInBad returns errBadFull if the bad folder cannot take another file of that size.
func (s *Server) roomInBad(size int64) error {
	n, used, err := s.cfg.Spool.BadUsage()
	if err != nil {
		return err
	}
	if n >= maxBad || used+size > maxBadBytes {
		return fmt.Errorf("%w: %d payloads, %d bytes", errBadFull, n, used)
	}
	return nil
}

// reasonOf says why a payload is not taken, without a word of it.
func reasonOf(err error) string {
	p, _ := problemFor(err)
	return p.Title + ": " + p.Error()
}
