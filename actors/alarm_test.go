package actors

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// An alarm sends what it was set to last, once, and nothing after it was stopped.
func TestAlarm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sys := actor.NewActorSystem()
		defer sys.Shutdown()
		var mu sync.Mutex // guards got
		var got []string
		who := sys.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
			if m, ok := c.Message().(string); ok {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, m)
			}
		}))
		var a alarm
		set := func(after time.Duration, message string) {
			now := time.Now()
			a.set(now.Add(after), now, sys.Root, who, message)
		}
		expect := func(after time.Duration, isSet bool, want ...string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(want, got) || a.isSet() != isSet {
				t.Errorf("got %q, set %t; want %q, %t", got, a.isSet(), want, isSet)
			}
		}
		set(time.Minute, "replaced")
		set(-time.Hour, "at once")
		expect(0, true, "at once")
		set(time.Minute, "later")
		expect(time.Minute-1, true, "at once")
		expect(1, true, "at once", "later")
		set(time.Minute, "stopped")
		a.stop()
		a.set(time.Time{}, time.Now(), sys.Root, who, "never")
		expect(time.Hour, false, "at once", "later")
	})
}
