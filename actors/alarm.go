package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// alarm sends one message, at the time that it was set to last. The zero value is not set. It belongs to one actor's goroutine.
type alarm struct{ timer *time.Timer }

// set has message sent to who at a time, at once if that is over; never, if it is zero.
func (a *alarm) set(at, now time.Time, root *actor.RootContext, who *actor.PID, message any) {
	a.stop()
	if !at.IsZero() {
		a.timer = time.AfterFunc(max(0, at.Sub(now)), func() { root.Send(who, message) })
	}
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}

// isSet reports whether it was set, and not stopped since.
func (a *alarm) isSet() bool { return a.timer != nil }
