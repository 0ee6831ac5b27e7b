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
	// quickest counts, and the larger is done again only while it is too slow. Other work on the machine slows both a little, by the
	// caches that it takes, or has to disturb every round to be taken for growth.
	rounds = 32
	tries  = 3
)

// Linear reports an error of tb if work of eight times the size takes much more than eight times as long. What names the work;
// size is best one that takes about a millisecond. It says nothing of how long anything takes. What counts is what Took measures, so that
// work keeps to the goroutine that calls it. Under the race detector, which takes most of the time itself, the work is done once and not
// measured.
func Linear(tb testing.TB, what string, size int, work func(size int)) {
	tb.Helper()
	if race.Enabled {
		work(size)
		return
	}
	compare(tb, what, size, work, Took)
}

func compare(tb testing.TB, what string, size int, work func(size int), clock func(func()) time.Duration) {
	tb.Helper()
	took := func(size int) time.Duration { return clock(func() { work(size) }) }
	var small, large time.Duration
	for range rounds {
		small = took(size)
		for range tries - 1 {
			small = min(small, took(size))
		}
		large = took(sizeFactor * size)
		for range tries - 1 {
			if large < maxFactor*small+slack {
				break
			}
			large = min(large, took(sizeFactor*size))
		}
		if large < maxFactor*small+slack {
			return
		}
	}
	tb.Errorf("%s: size %d takes %v, %d times that %v", what, size, small, sizeFactor, large)
}
