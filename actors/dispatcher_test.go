package actors

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
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

// TestAPauseThatACrashSwallowedIsDerived: the daemon dies between a session's TurnFailed and the provider's pause.
func TestAPauseThatACrashSwallowedIsDerived(t *testing.T) {
	bubble(t, func(w *world) {
		w.owing("a")
		h := w.hooked()
		h.onDrafts = func(ds []events.Draft) error {
			if _, ok := ds[0].Event.(events.ProviderPaused); ok {
				return eventlog.ErrFailed
			}
			return nil
		}
		w.work("a", 1)
		w.stopAgent("a")
		synctest.Wait()
		w.kill()
		if len(all[events.ProviderPaused](w)) != 0 || len(all[events.TurnFailed](w)) != 1 {
			t.Fatal("the crash point was missed")
		}
		w.over = nil
		w.start()
		time.Sleep(time.Second)
		synctest.Wait()
		if got := all[events.ProviderPaused](w); len(got) != 1 || got[0].Class != events.FailOverload {
			t.Errorf("got %+v, want the pause that the failed turn implies", got)
		}
		if n := w.provider.Calls(); n != 1 {
			t.Errorf("%d calls, want the pause to hold", n)
		}
		if got := w.settled("a"); got.Observed != 2 {
			t.Errorf("got %+v, want both observed after it", got)
		}
	}, providertest.Fail(observer.Failure{Class: events.FailOverload}), good)
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
		w.sys.root.Send(w.sys.dispatch, want{session: sid("hog"), holder: hog})
		w.sys.root.Send(w.sys.dispatch, want{session: sid("ghost"), holder: ghost})
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
