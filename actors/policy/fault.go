package policy

import "time"

const (
	// RewakeDelay is how long after an unplanned end a session is woken again.
	RewakeDelay = time.Second

	// parkAfter is how many crashes without anything done between them park a session: its log holds something that
	// this program cannot work with, and trying again cannot help.
	parkAfter = 3
)

// AfterFaults is what becomes of a session whose actor has crashed n times without anything done between, n from 1: it is
// restarted after a wait, or parked.
func AfterFaults(n int) (wait time.Duration, park bool) {
	switch {
	case n >= parkAfter:
		return 0, true
	case n > 1:
		return RewakeDelay, false
	}
	return 0, false
}
