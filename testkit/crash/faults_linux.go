package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// Traced is a program that runs under ptrace, and whose calls that write below a folder are counted and may fail. Its methods are
// safe for concurrent use.
type Traced struct {
	tb     testing.TB
	dir    string
	fault  Fault
	pid    int
	stderr string // file of what it says on standard error
	ended  chan struct{}
	armed  atomic.Bool

	mu    sync.Mutex // guards the fields below
	calls []string
	seen  map[string]int
	made  int                   // faults
	owing map[int]syscall.Errno // by thread: what its call, which is left out, is to return

	code int   // read after ended
	err  error // read after ended
}

// Trace runs a program under ptrace. Of the calls by which it changes files below a folder those that its fault names fail. It is
// killed when the test ends. The test is skipped where processes cannot be traced.
func Trace(tb testing.TB, p Program) *Traced {
	tb.Helper()
	t := &Traced{
		tb: tb, dir: p.Dir, fault: p.Fault, ended: make(chan struct{}), seen: map[string]int{}, owing: map[int]syscall.Errno{},
		stderr: filepath.Join(tb.TempDir(), "stderr"),
	}
	t.armed.Store(p.Armed)
	began := make(chan error)
	go t.run(p, began) // Cleanup waits for it
	if err := <-began; errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		tb.Skipf("crash: cannot trace here: %v", err)
	} else if err != nil {
		tb.Fatalf("crash: trace %s: %v", p.Args[0], err)
	}
	tb.Cleanup(func() { t.Kill() })
	return t
}

// run starts the program and follows it.
func (t *Traced) run(p Program, began chan<- error) {
	defer close(t.ended)
	onOwnThread(func() { t.follow(p, began) })
}

func (t *Traced) follow(p Program, began chan<- error) {
	said, err := os.Create(t.stderr)
	if err != nil {
		began <- err
		return
	}
	defer said.Close()
	files := []uintptr{said.Fd(), said.Fd(), said.Fd()}
	if p.Stdin != nil {
		files[0] = p.Stdin.Fd()
	}
	t.pid, err = syscall.ForkExec(p.Args[0], p.Args, &syscall.ProcAttr{Env: p.Env, Files: files, Sys: &syscall.SysProcAttr{Ptrace: true}})
	began <- err
	if err == nil {
		t.code, t.err = (&tracer{pid: t.pid, resume: syscall.PtraceSyscall, entry: t.entry, exit: t.exit}).run()
	}
}

// Arm has calls counted, and fail, from now on.
func (t *Traced) Arm() { t.armed.Store(true) }

// Calls are the calls that were counted, by their names, in their order.
func (t *Traced) Calls() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.calls)
}

// Failed is how many calls failed.
func (t *Traced) Failed() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.made
}

// PID is the program's process id.
func (t *Traced) PID() int { return t.pid }

// Ended is closed when the program is gone.
func (t *Traced) Ended() <-chan struct{} { return t.ended }

// Wait waits until the program has ended, and returns its exit code and what it said on standard output and error. The error is its
// end by a signal.
func (t *Traced) Wait() (code int, said string, err error) {
	<-t.ended
	b, readErr := os.ReadFile(t.stderr)
	return t.code, string(b), errors.Join(t.err, readErr)
}

// Kill ends the program with SIGKILL, and waits until it is gone.
func (t *Traced) Kill() {
	select {
	case <-t.ended:
		return
	default:
	}
	_ = syscall.Kill(t.pid, syscall.SIGKILL) // an error says that it has ended
	<-t.ended
}

// entry counts a call, and has it fail if it is the one.
func (t *Traced) entry(thread int, nr uint64, args [6]uint64) error {
	if !t.armed.Load() {
		return nil
	}
	c, files, ok := changeAt(t.dir, thread, nr, args)
	if !ok {
		return nil
	}
	for i := range files {
		files[i] = lot.ReplaceAllString(files[i], "*")
	}
	if !t.strikes(c.kind+" "+strings.Join(files, " to "), takesRoom(thread, c.kind, args)) {
		return nil
	}
	if t.fault.Short {
		if c.kind != "write" && c.kind != "pwrite" || args[2] < 2 {
			return nil
		}
		t.note()
		return setCount(thread, args[2]/2)
	}
	t.note()
	t.mu.Lock()
	t.owing[thread] = t.fault.Errno
	if t.fault.Full {
		t.owing[thread] = syscall.ENOSPC
	}
	t.mu.Unlock()
	return leaveOut(thread)
}

// strikes counts a call, and reports whether it is to fail.
func (t *Traced) strikes(name string, takesRoom bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.seen[name]
	t.seen[name] = n + 1
	t.calls = append(t.calls, name)
	if t.fault.Full {
		return len(t.calls) > t.fault.Nth && takesRoom
	}
	return name == t.fault.Call && n == t.fault.Nth
}

func (t *Traced) note() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made++
}

// exit gives a call that was left out its result.
func (t *Traced) exit(thread int) error {
	t.mu.Lock()
	errno, ok := t.owing[thread]
	delete(t.owing, thread)
	t.mu.Unlock()
	if !ok {
		return nil
	}
	return setResult(thread, -int64(errno))
}

// takesRoom reports whether a call fails on a full disk. What is written over blocks that a file has does not, nor does what opens a
// file that is there.
func takesRoom(thread int, kind string, args [6]uint64) bool {
	switch kind {
	case "writev", "truncate", "link":
		return true
	case "create", "mkdir":
		_, err := os.Lstat(absolute(thread, args[0], word(thread, args[1])))
		return err != nil
	case "write", "pwrite":
		file := fmt.Sprintf("/proc/%d/fd/%d", thread, int32(args[0]))
		var held syscall.Stat_t
		if syscall.Stat(file, &held) != nil || held.Blocks*512 < held.Size {
			return true
		}
		at := args[3]
		if kind == "write" {
			at = place(thread, args[0])
		}
		return at+args[2] > uint64(held.Size)
	}
	return false
}

// place is where the next write to an open file goes.
func place(thread int, fd uint64) (at uint64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", thread, int32(fd)))
	_, _ = fmt.Sscanf(string(b), "pos: %d", &at)
	return at
}

// lot matches what is drawn by lot or counted in the names of files.
var lot = regexp.MustCompile(`[0-9][0-9a-z-]*|[0-9a-f]{12,}`)
