package actors

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// An alarm sends what it was set to last, once, and nothing after it was stopped.
func TestAlarm(t *testing.T) {
	t.Parallel()
	sys := actor.NewActorSystem()
	defer sys.Shutdown()
	got := make(chan string, 9)
	who := sys.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		if m, ok := c.Message().(string); ok {
			got <- m
		}
	}))
	now, soon := time.Now(), 20*time.Millisecond
	var a alarm
	set := func(at time.Time, message string) { a.set(at, now, sys.Root, who, message) }
	set(now.Add(soon), "replaced")
	set(now.Add(-time.Hour), "at once")
	if m := <-got; m != "at once" || !a.isSet() {
		t.Errorf("got %q, set %t", m, a.isSet())
	}
	set(now.Add(soon), "stopped")
	a.stop()
	set(time.Time{}, "never")
	time.Sleep(3 * soon)
	if len(got) > 0 || a.isSet() {
		t.Errorf("got %q, set %t", <-got, a.isSet())
	}
}
