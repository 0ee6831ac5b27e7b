// Package growth tells work whose time grows with its size from work whose time grows faster.
package growth

import (
	"testing"
	"time"
)

const (
	// times is how much larger the larger size is. Linear work takes as many times as long, quadratic work its square.
	times = 4

	// bound lies between the two, and slack above what a clock and a collector add to short work.
	bound = 10
	slack = 5 * time.Millisecond

	// rounds is how often both sizes are tried: the quickest of each counts, so that other work on the machine has to disturb
	// every one of them to be taken for growth.
	rounds = 12
)

// Linear reports an error of tb if work of four times the size takes much more than four times as long. What names the work;
// size is best one that takes about a millisecond. It says nothing of how long anything takes.
func Linear(tb testing.TB, what string, size int, work func(size int)) {
	tb.Helper()
	small, large := time.Hour, time.Hour
	for range rounds {
		small, large = min(small, took(size, work)), min(large, took(times*size, work))
		if large < bound*small+slack {
			return
		}
	}
	tb.Errorf("%s: size %d takes %v, %d times that %v", what, size, small, times, large)
}

func took(size int, work func(int)) time.Duration {
	began := time.Now()
	work(size)
	return time.Since(began)
}
