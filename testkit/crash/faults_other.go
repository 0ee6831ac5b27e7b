//go:build !linux

package crash

import "testing"

// Traced is a program whose calls may fail. There is none here.
type Traced struct{}

// Trace skips the test: processes are traced on Linux only.
func Trace(tb testing.TB, _ Program) *Traced {
	tb.Helper()
	tb.Skip("crash: processes are traced on Linux only")
	return nil
}

// Arm is never called.
func (*Traced) Arm() {}

// Calls is never called.
func (*Traced) Calls() []string { return nil }

// Failed is never called.
func (*Traced) Failed() int { return 0 }

// PID is never called.
func (*Traced) PID() int { return 0 }

// Ended is never called.
func (*Traced) Ended() <-chan struct{} { return nil }

// Wait is never called.
func (*Traced) Wait() (code int, said string, err error) { return 0, "", nil }

// Kill is never called.
func (*Traced) Kill() {}
