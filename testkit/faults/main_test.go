//go:build unix

package faults

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/programs"
)

var (
	wanted  = flag.Bool("faults", false, "try faults on the real programs")
	all     = flag.Bool("faults.all", false, "try each call, and ten times the damages")
	seedOf  = flag.Uint64("faults.seed", 0, "of what is chosen; 0 means one drawn by lot")
	only    = flag.String("faults.only", "", "the one operation of calls that is tried")
	binOf   = flag.String("faults.bin", "", "a folder with the programs, so that they are not built")
	callsIn = flag.Duration("faults.calls", 50*time.Second, "how long calls fail, without -faults.all")
	damages = flag.Int("faults.damages", 100, "how many files are damaged; ten times as many with -faults.all")
	killsIn = flag.Duration("faults.kills", 25*time.Second, "how long daemons are killed")
)

// tried are the programs that the suite tries.
var tried = programs.Set{Given: binOf}

func TestMain(m *testing.M) { os.Exit(tried.Main(m)) }

// suite skips the test unless the suite is wanted.
func suite(t *testing.T) *programs.Set {
	t.Helper()
	if !*wanted {
		t.Skip("the suite of faults runs with -faults")
	}
	if err := tried.Build(); err != nil {
		t.Fatal(err)
	}
	return &tried
}

// seed is what the sample of a test is drawn from. It is printed.
func seed(t *testing.T) *rand.Rand {
	t.Helper()
	n := *seedOf
	if n == 0 {
		n = rand.Uint64()
	}
	t.Logf("seed %d", n)
	return rand.New(rand.NewPCG(n, 1))
}
