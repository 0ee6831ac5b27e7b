package actors

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/testkit/providertest"
)

func TestADispatcherThatCrashesIsAskedAgain(t *testing.T) {
	bubble(t, func(w *world) {
		var armed atomic.Bool
		w.cfg.Now = func() time.Time {
			if called("(*dispatcher).grant") && armed.CompareAndSwap(true, false) {
				panic("boom")
			}
			return time.Now()
		}
		w.stopCleanly()
		w.start()
		armed.Store(true)
		for _, s := range []string{"a", "b", "c", "d"} {
			w.work(s, 1)
			w.stopAgent(s)
		}
		for _, s := range []string{"a", "b", "c", "d"} {
			if got := w.settled(s); got.Observed != 2 {
				t.Errorf("session %s: %+v, want 2 observed", s, got)
			}
		}
		if armed.Load() {
			t.Error("the dispatcher never crashed")
		}
		if got := w.provider.MostRunning(); got > 2 {
			t.Errorf("%d turns at once, want the dispatcher to know of those in flight", got)
		}
	}, providertest.After(5*time.Second, good))
}

// TestAGrantNeverGoesToAnActorThatIsGone: a session that crashed while it waited says that it holds nothing, and then
// passivates. Its old wish must not take a slot with it.
func TestAGrantNeverGoesToAnActorThatIsGone(t *testing.T) {
	bubble(t, func(w *world) {
		w.cfg.Slots = 1
		w.stopCleanly()
		w.start()
		idle := func() *actor.PID { return w.sys.root.Spawn(actor.PropsFromFunc(func(actor.Context) {})) }
		hog, ghost := idle(), idle()
		w.sys.root.Send(w.sys.dispatch, leaseRequest{session: sid("hog"), holder: hog})
		w.sys.root.Send(w.sys.dispatch, leaseRequest{session: sid("ghost"), holder: ghost})
		w.sys.root.Send(w.sys.dispatch, ended{holder: ghost})
		synctest.Wait() // it is unwatched before it goes
		w.sys.root.Stop(ghost)
		synctest.Wait()
		w.sys.root.Send(w.sys.dispatch, ended{holder: hog})
		synctest.Wait()
		if st, err := w.sys.Status(w.t.Context()); err != nil || st.Turns != 0 || st.Queued != 0 {
			t.Errorf("%+v, %v: want no slot taken and nobody queued", st, err)
		}
		w.work("s", 1)
		w.stopAgent("s")
		if got := w.settled("s"); got.Observed != 2 {
			t.Errorf("got %+v, want 2 observed", got)
		}
		w.sys.root.Stop(hog)
	}, good)
}
