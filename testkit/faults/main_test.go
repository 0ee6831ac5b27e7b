//go:build unix

package faults

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/person"
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

// TestMain makes this program the person of the trials, too.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "person" {
		person.Main()
		os.Exit(0)
	}
	flag.Parse()
	os.Exit(m.Run())
}

// suite skips the test unless the suite is wanted.
func suite(t *testing.T) *programs {
	t.Helper()
	if !*wanted {
		t.Skip("the suite of faults runs with -faults")
	}
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// programs is where those are that are tried.
type programs struct{ bin string }

// built builds the programs once, with a person beside them.
var built = sync.OnceValues(func() (*programs, error) {
	dir := *binOf
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "faults"); err != nil {
			return nil, err
		}
		build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "github.com/cmemd/cmemd/cmd/cmemd", "github.com/cmemd/cmemd/cmd/cmemd-hook")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	_ = os.Remove(filepath.Join(dir, "person"))
	err = errors.Join(os.Symlink(self, filepath.Join(dir, "person")), os.MkdirAll(filepath.Join(dir, "alone"), 0o700))
	if err == nil {
		err = copyFile(filepath.Join(dir, "cmemd-hook"), filepath.Join(dir, "alone", "cmemd-hook"))
	}
	return &programs{dir}, errors.Join(err, os.Chmod(filepath.Join(dir, "alone", "cmemd-hook"), 0o700))
})

func (p *programs) path(name string) string { return filepath.Join(p.bin, name) }

// hook is a hook that finds no daemon to start: in a trial daemons are started by it alone.
func (p *programs) hook() string { return filepath.Join(p.bin, "alone", "cmemd-hook") }

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
