//go:build !linux && !darwin

package growth

import "time"

// Took returns how long work takes, by the clock: this system is not asked for how long it had a core.
func Took(work func()) time.Duration {
	began := time.Now()
	work()
	return time.Since(began)
}
