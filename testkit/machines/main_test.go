//go:build unix

package machines

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/testkit/programs"
)

var (
	wanted  = flag.Bool("machines", false, "try several machines with the real programs")
	figures = flag.Bool("figures", false, "measure several machines, too; takes ten minutes more")
	binOf   = flag.String("programs", "", "a folder with the programs, so that they are not built")
)

// tried are the programs that the suite tries; the hub is a module of its own.
var tried = programs.Set{
	Packages: []string{"cmd/cmemd", "cmd/cmemd-hook", "testkit/load"},
	Modules:  []string{filepath.Join("..", "..", "cmd", "cmemd-hub")},
	Given:    binOf,
}

func TestMain(m *testing.M) {
	code := tried.Main(m)
	if *wanted {
		fmt.Println("all hooks:", &allHooks)
	}
	os.Exit(code)
}

// suite skips the test unless the suite is wanted.
func suite(t *testing.T) *programs.Set {
	t.Helper()
	if !*wanted {
		t.Skip("the suite of machines runs with -machines")
	}
	if err := tried.Build(); err != nil {
		t.Fatal(err)
	}
	return &tried
}
