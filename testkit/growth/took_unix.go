//go:build linux || darwin

package growth

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Took returns how long work kept a core busy on the goroutine that calls it: what it waits for, a core too, does not count, and neither
// does what it has other goroutines do.
func Took(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := busy()
	work()
	return busy() - began
}

// busy is for how long this thread has had a core.
func busy() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err) // both systems have this clock
	}
	return time.Duration(ts.Nano())
}
