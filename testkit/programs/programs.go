// Package programs builds the real programs for the suites that try them, beside a person (testkit/person) who runs them, and removes
// what it built. A suite has one Set; its TestMain is Set.Main.
//
// What bites: what is built is removed when the tests end, not where a signal or a deadline of go test ends them.
package programs

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

const module = "github.com/cmemd/cmemd/"

// Set are the programs of one suite. Its methods may be called at once; fields are set before the first.
type Set struct {
	Packages []string // of this module, each a program; empty means cmd/cmemd and cmd/cmemd-hook
	Modules  []string // folders of modules of their own, each a program, from the suite's folder
	Given    *string  // a flag that names a folder with the programs; nil, or "" once flags are parsed: they are built

	once  sync.Once
	dir   string
	built bool
	err   error
}

// Main is the tests' TestMain: the person where the test binary was started by that name, else the tests. It returns the exit code,
// and what Build built is gone.
func (s *Set) Main(m *testing.M) int {
	if filepath.Base(os.Args[0]) == "person" {
		person.Main()
		return 0
	}
	flag.Parse()
	defer s.remove()
	return m.Run()
}

// Build builds the programs once, or finds those that were given, and puts a person and the lone hook beside them.
func (s *Set) Build() error {
	s.once.Do(func() {
		if s.err = s.fill(); s.err == nil {
			s.err = errors.Join(s.introduce(), s.isolate())
		}
	})
	return s.err
}

// Path is where a program is, once Build returned.
func (s *Set) Path(name string) string { return filepath.Join(s.dir, name) }

// Hook is a hook that finds no daemon beside it to start: daemons are started by the suite alone.
func (s *Set) Hook() string { return s.Path(filepath.Join("alone", "cmemd-hook")) }

func (s *Set) fill() (err error) {
	if s.Given != nil && *s.Given != "" {
		s.dir = *s.Given
		return nil
	}
	if s.dir, err = os.MkdirTemp("", "programs"); err != nil {
		return err
	}
	s.built = true
	names := s.Packages
	if len(names) == 0 {
		names = []string{"cmd/cmemd", "cmd/cmemd-hook"}
	}
	into := s.dir + string(filepath.Separator)
	own := []string{"build", "-o", into}
	for _, name := range names {
		own = append(own, module+name)
	}
	builds := [][]string{own}
	for _, folder := range s.Modules {
		builds = append(builds, []string{"build", "-C", folder, "-o", into, "."})
	}
	for _, args := range builds {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	return nil
}

// introduce puts the person beside the programs: this program by another name.
func (s *Set) introduce() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_ = os.Remove(s.Path("person")) // of an earlier run, where the folder was given
	return os.Symlink(self, s.Path("person"))
}

// isolate puts a copy of the hook into a folder of its own.
func (s *Set) isolate() error {
	body, err := os.ReadFile(s.Path("cmemd-hook"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // a suite without hooks
	}
	if err == nil {
		err = os.MkdirAll(s.Path("alone"), 0o700)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(s.Hook(), body, 0o700)
}

func (s *Set) remove() {
	if s.built {
		_ = os.RemoveAll(s.dir) // what stays is a temporary folder, and the system's to remove
	}
}
