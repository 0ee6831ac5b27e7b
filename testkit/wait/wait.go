// Package wait waits in tests for what other goroutines and processes bring about.
package wait

import "time"

// Limit is how long tests wait for what comes within milliseconds on a machine that has nothing else to do.
const Limit = time.Minute

// pause is the time between two looks.
const pause = 2 * time.Millisecond

// Until waits for a condition, and fails the test if it does not come within Limit.
func Until(tb interface {
	Helper()
	Fatalf(format string, args ...any)
}, what string, ok func() bool) {
	tb.Helper()
	for until := time.Now().Add(Limit); !ok(); time.Sleep(pause) {
		if time.Now().After(until) {
			tb.Fatalf("never happened: %s", what)
		}
	}
}
