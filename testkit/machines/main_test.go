//go:build unix

package machines

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cmemd/cmemd/testkit/person"
)

var (
	wanted  = flag.Bool("machines", false, "try several machines with the real programs")
	figures = flag.Bool("figures", false, "measure several machines, too; takes ten minutes more")
	binOf   = flag.String("programs", "", "a folder with the programs, so that they are not built")
)

// TestMain makes this program the person of the trials, too.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "person" {
		person.Main()
		return
	}
	flag.Parse()
	code := m.Run()
	if *wanted {
		fmt.Println("all hooks:", &allHooks)
	}
	os.Exit(code)
}

// suite skips the test unless the suite is wanted.
func suite(t *testing.T) *programs {
	t.Helper()
	if !*wanted {
		t.Skip("the suite of machines runs with -machines")
	}
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// programs is where those are that are tried.
type programs struct{ dir string }

func (p *programs) path(name string) string { return filepath.Join(p.dir, name) }

// built builds the programs once. The hook is in a folder of its own: it finds no daemon to start beside it, so that daemons are started
// by trials alone.
var built = sync.OnceValues(func() (*programs, error) {
	dir := *binOf
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "machines"); err != nil {
			return nil, err
		}
	}
	p := &programs{dir}
	if *binOf == "" {
		if err := p.build(); err != nil {
			return nil, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	_ = os.Remove(p.path("person"))
	return p, errors.Join(os.Symlink(self, p.path("person")), p.isolate())
})

func (p *programs) build() error {
	into := p.dir + string(filepath.Separator)
	for _, args := range [][]string{
		{"build", "-o", into, "github.com/cmemd/cmemd/cmd/cmemd", "github.com/cmemd/cmemd/cmd/cmemd-hook", "github.com/cmemd/cmemd/testkit/load"},
		{"build", "-C", filepath.Join("..", "..", "cmd", "cmemd-hub"), "-o", into, "."}, // a module of its own
	} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	return nil
}

// isolate puts a copy of the hook into a folder of its own.
func (p *programs) isolate() error {
	body, err := os.ReadFile(p.path("cmemd-hook"))
	if err == nil {
		err = os.MkdirAll(p.path("alone"), 0o700)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(p.hook(), body, 0o700)
}

func (p *programs) hook() string { return filepath.Join(p.dir, "alone", "cmemd-hook") }
