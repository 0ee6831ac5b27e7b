package crash

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/wait"
)

// roleVariable tells a child which role it plays.
const roleVariable = "CMEMD_TEST_ROLE"

// watchVariable tells a child that it is traced: it is to have its changes of files watched, or to end with cannotWatch.
const (
	watchVariable = "CMEMD_TEST_WATCHED"
	cannotWatch   = 77
)

// Role is what a child does. Its result is the process's exit code.
type Role func(args []string) int

// Main runs the tests of m, or, in a child, its role. The result is for os.Exit.
func Main(m *testing.M, roles map[string]Role) int {
	name, isChild := os.LookupEnv(roleVariable)
	if !isChild {
		return m.Run()
	}
	role, ok := roles[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "crash: no role %q\n", name)
		return 2
	}
	if os.Getenv(watchVariable) != "" {
		if err := watchChanges(); err != nil {
			return cannotWatch
		}
	}
	return role(os.Args[1:])
}

// Child is a running role. Its methods are safe for concurrent use.
type Child struct {
	tb    testing.TB
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process is gone and all its lines are read

	mu    sync.Mutex // guards the fields below
	lines []string
	grown chan struct{} // closed and replaced with each line

	err    error // of the process; read after ended
	stderr bytes.Buffer
}

// Start runs role with args in a child process. The child is killed when the test ends, if it is still there.
func Start(tb testing.TB, role string, args ...string) *Child {
	tb.Helper()
	c := &Child{tb: tb, cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{}), grown: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), roleVariable+"="+role)
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		tb.Fatalf("crash: %s: %v", role, err)
	}
	if err := c.cmd.Start(); err != nil {
		tb.Fatalf("crash: %s: %v", role, err)
	}
	go c.watch(out) // Cleanup waits for it
	tb.Cleanup(func() { c.Kill() })
	return c
}

func (c *Child) watch(out io.Reader) {
	defer close(c.ended)
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			break // what stands after the last newline is no line
		}
		c.mu.Lock()
		c.lines = append(c.lines, strings.TrimSuffix(line, "\n"))
		close(c.grown)
		c.grown = make(chan struct{})
		c.mu.Unlock()
	}
	c.err = c.cmd.Wait()
}

// WaitLines waits until the child has printed n lines and returns those it has by then. The test fails if the child
// ends before, or takes a minute.
func (c *Child) WaitLines(n int) []string {
	c.tb.Helper()
	late := time.After(wait.Limit)
	for {
		lines, grown := c.state()
		if len(lines) >= n {
			return lines
		}
		select {
		case <-grown:
		case <-c.ended:
			if lines, _ := c.state(); len(lines) >= n {
				return lines
			}
			c.tb.Fatalf("crash: the child ended (%v) after %d of %d lines: %s", c.err, len(lines), n, c.stderr.String())
		case <-late:
			c.tb.Fatalf("crash: the child printed %d of %d lines in %s", len(lines), n, wait.Limit)
		}
	}
}

// Kill ends the child with SIGKILL, waits until it is gone, and returns all whole lines it has printed. Killing what
// has ended only returns the lines.
func (c *Child) Kill() []string {
	_ = c.cmd.Process.Kill() // an error says that it has ended
	<-c.ended
	lines, _ := c.state()
	return lines
}

// Wait waits until the child ends by itself and returns its lines, what it printed on standard error, and the error of
// exec.Cmd.Wait: an *exec.ExitError if the exit code was not 0.
func (c *Child) Wait() (lines []string, stderr string, err error) {
	<-c.ended
	lines, _ = c.state()
	return lines, c.stderr.String(), c.err
}

// PID is the child's process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

func (c *Child) state() (lines []string, grown <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.lines...), c.grown
}
