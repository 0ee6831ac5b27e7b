// Package growth tells work whose time grows with its size from work whose time grows faster.
package growth

import (
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/race"
)

const (
	// sizeFactor is how much larger the larger size is. Linear work takes as many times as long, quadratic work its square.
	sizeFactor = 8

	// maxFactor lies between the two, and slack above what a clock and a collector add to short work.
	maxFactor = 24
	slack     = 5 * time.Millisecond

	// rounds is how often both sizes are compared, one right after the other, and tries how often each is done for that: the
	// quickest counts, and the larger is done again only while it is too slow. Other work on the machine slows both, or has to
	// disturb every round to be taken for growth.
	rounds = 32
	tries  = 3
)

// Linear reports an error of tb if work of eight times the size takes much more than eight times as long. What names the work;
// size is best one that takes about a millisecond. It says nothing of how long anything takes. Under the race detector, which
// takes most of the time itself, the work is done once and not measured.
func Linear(tb testing.TB, what string, size int, work func(size int)) {
	tb.Helper()
	if race.Enabled {
		work(size)
		return
	}
	compare(tb, what, size, work)
}

func compare(tb testing.TB, what string, size int, work func(size int)) {
	tb.Helper()
	var small, large time.Duration
	for range rounds {
		small = took(size, work)
		for range tries - 1 {
			small = min(small, took(size, work))
		}
		large = took(sizeFactor*size, work)
		for range tries - 1 {
			if large < maxFactor*small+slack {
				break
			}
			large = min(large, took(sizeFactor*size, work))
		}
		if large < maxFactor*small+slack {
			return
		}
	}
	tb.Errorf("%s: size %d takes %v, %d times that %v", what, size, small, sizeFactor, large)
}

func took(size int, work func(int)) time.Duration {
	began := time.Now()
	work(size)
	return time.Since(began)
}
