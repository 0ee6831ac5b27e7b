package actors

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestWorkersStayAndEnd: every mailbox is run at once, few goroutines wait for another one, and they end with the system.
func TestWorkersStayAndEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done, open := make(chan struct{}), make(chan struct{})
		w := newWorkers(done)
		var begun, ran atomic.Int64
		mailbox := func() {
			begun.Add(1)
			<-open
			ran.Add(1)
		}
		const many = 3 * maxIdle
		for range many {
			w.Schedule(mailbox)
		}
		synctest.Wait()
		if got := begun.Load(); got != many {
			t.Errorf("%d mailboxes began while all others ran, want %d", got, many)
		}
		close(open)
		synctest.Wait()
		if got := w.idle.Load(); got != maxIdle {
			t.Errorf("%d goroutines wait, want %d", got, maxIdle)
		}
		for range many {
			w.Schedule(mailbox)
			synctest.Wait()
		}
		close(done)
		w.Schedule(mailbox)
		synctest.Wait() // the bubble panics where a goroutine is left
		if got := ran.Load(); got != 2*many+1 {
			t.Errorf("%d mailboxes ran, want %d", got, 2*many+1)
		}
	})
}
