package actors

import (
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

const (
	// maxIdle is how many goroutines wait for a mailbox: about as many as run at once on a few cores.
	maxIdle = 8

	// throughput is after how many messages a mailbox lets others run: the library's own.
	throughput = 300
)

// workers are the goroutines that run mailboxes. Each stays for the next mailbox, since a new one would grow its stack again, which
// takes longer than most messages do.
type workers struct {
	next chan func()     // taken by one that waits
	done <-chan struct{} // those that wait end when it is closed
	idle atomic.Int64
}

func newWorkers(done <-chan struct{}) *workers { return &workers{next: make(chan func()), done: done} }

// Schedule implements actor.Dispatcher.
func (w *workers) Schedule(mailbox func()) {
	select {
	case w.next <- mailbox:
	default:
		go w.work(mailbox)
	}
}

// Throughput implements actor.Dispatcher.
func (w *workers) Throughput() int { return throughput }

func (w *workers) work(mailbox func()) {
	for {
		mailbox()
		if w.idle.Add(1) > maxIdle {
			w.idle.Add(-1)
			return
		}
		select {
		case mailbox = <-w.next:
			w.idle.Add(-1)
		case <-w.done:
			return
		}
	}
}

// props are those of an actor of s.
func (s *System) props(make actor.Producer) *actor.Props {
	return actor.PropsFromProducer(make, actor.WithDispatcher(s.workers))
}
