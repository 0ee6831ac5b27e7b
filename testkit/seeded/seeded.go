// Package seeded gives tests randomness that can be had again: another one each time, whose seed is printed, or the one that a flag says.
//
// What bites: the flag is -seed of each test program that imports the package, and no other package of it may have one of that name.
package seeded

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var seed = flag.Uint64("seed", 0, "of the tests that draw by lot; 0: another one each time")

// New returns a source of randomness for one test, and has the test print what repeats it. A test that draws from it in several
// goroutines is not repeated by its seed.
func New(tb testing.TB) *rand.Rand {
	tb.Helper()
	n := *seed
	for n == 0 {
		n = rand.Uint64()
	}
	tb.Logf("-seed %d draws the same", n)
	return rand.New(rand.NewPCG(n, 0))
}
