package race

import "testing"

// sampled is which part of its cases a test that takes them one after another is left under the race detector.
const sampled = 8

// SkipProcesses skips a test of real processes under the race detector. It does nothing without. It is called by the
// test's goroutine, before the test starts anything.
func SkipProcesses(tb testing.TB) {
	tb.Helper()
	if Enabled {
		tb.Skip("a test of real processes runs without the race detector")
	}
}

// Sample returns all of cases, or under the race detector every eighth, so that a test of many cases without goroutines does
// not cost it minutes. The first is always among them.
func Sample[T any](cases []T) []T {
	if !Enabled {
		return cases
	}
	var some []T
	for i := 0; i < len(cases); i += sampled {
		some = append(some, cases[i])
	}
	return some
}
