package crash

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// change is a system call that changes files or the names of files, and where its arguments say which.
type change struct {
	kind   string
	step   bool  // EachStep kills before it; a process that ends before the others leaves what it leaves behind the call before
	folder []int // arguments that are open folders, each before the path of a file in it; nil: an open file is named
	file   int   // the argument that is the open file
}

// changingCalls are those calls.
var changingCalls = map[uint64]change{
	unix.SYS_WRITE:     {kind: "write", step: true},
	unix.SYS_PWRITE64:  {kind: "pwrite", step: true},
	unix.SYS_WRITEV:    {kind: "writev", step: true},
	unix.SYS_FSYNC:     {kind: "sync"},
	unix.SYS_FDATASYNC: {kind: "sync"},
	unix.SYS_FTRUNCATE: {kind: "truncate", step: true},
	unix.SYS_MMAP:      {kind: "map", file: 4},
	unix.SYS_OPENAT:    {kind: "create", step: true, folder: []int{0}}, // one that makes or cuts the file
	unix.SYS_MKDIRAT:   {kind: "mkdir", step: true, folder: []int{0}},
	unix.SYS_UNLINKAT:  {kind: "remove", step: true, folder: []int{0}},
	unix.SYS_RENAMEAT:  {kind: "rename", step: true, folder: []int{0, 2}},
	unix.SYS_RENAMEAT2: {kind: "rename", step: true, folder: []int{0, 2}},
	unix.SYS_LINKAT:    {kind: "link", step: true, folder: []int{0, 2}},
}

// changeAt is how the call at which a thread stands still changes a file below dir, and what the files are called there; ok is false where
// it changes none.
func changeAt(dir string, thread int, nr uint64, args [6]uint64) (c change, files []string, ok bool) {
	c, ok = changingCalls[nr]
	if !ok || nr == unix.SYS_OPENAT && args[2]&(unix.O_CREAT|unix.O_TRUNC) == 0 || nr == unix.SYS_MMAP && int32(args[4]) < 0 {
		return c, nil, false
	}
	if c.folder == nil {
		files = append(files, openAs(thread, args[c.file]))
	}
	for _, i := range c.folder {
		files = append(files, absolute(thread, args[i], word(thread, args[i+1])))
	}
	below := false
	for i, path := range files {
		if rest, inside := strings.CutPrefix(path, dir+string(filepath.Separator)); inside {
			below, files[i] = true, rest
		}
	}
	return c, files, below
}

// watchChanges has the system stop this process for its tracer at the steps among changes and at no other call, all its threads. A program
// that it starts from then on is not traced, and is refused these calls.
func watchChanges() error {
	load := unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS} // the number of the call, which comes first
	code := []unix.SockFilter{load}
	steps := maps.Clone(changingCalls)
	maps.DeleteFunc(steps, func(_ uint64, c change) bool { return !c.step })
	for nr := range steps {
		last := uint8(len(steps) + 1 - len(code)) // so many instructions stand between this one and the last
		code = append(code, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(nr), Jt: last})
	}
	code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_TRACE})
	runtime.LockOSThread() // what the first call allows it allows its thread
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	thread, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	switch {
	case errno != 0:
		return errno
	case thread != 0:
		return fmt.Errorf("thread %d has another filter", thread)
	}
	return nil
}

// EachStep kills a role with SIGKILL before each step by which it changes files below a folder: it makes, writes, cuts, renames or
// removes one. For each step try is called with an empty folder; it fills it, calls kill once with the arguments of the role,
// and checks what the role has left. The last call of try has a role that came to its end. kill returns the step before
// which the role died; empty: it ended by itself.
//
// The role is watched by ptrace, and stops only at the calls that change files, so that nothing in it has to know of this. It must
// start no program, end with code 0, and take at most 500 steps. The test is skipped where processes cannot be traced.
func EachStep(t *testing.T, role string, try func(t *testing.T, dir string, kill func(args ...string) (step string))) {
	t.Helper()
	const most = 500
	for n := range most {
		ended := false
		dir := t.TempDir()
		try(t, dir, func(args ...string) string {
			t.Helper()
			step, err := killBefore(dir, n, role, args)
			if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
				t.Skipf("crash: cannot trace here: %v", err)
			}
			if err != nil {
				t.Fatalf("crash: %s, step %d: %v", role, n, err)
			}
			ended = step == ""
			return step
		})
		if !t.Failed() && ended && n == 0 {
			t.Errorf("crash: %s changes no file below the folder, so that nothing was tried", role)
		}
		if t.Failed() || ended {
			t.Logf("crash: %s: %d steps", role, n)
			return
		}
	}
	t.Errorf("crash: %s does not end within %d steps", role, most)
}

// onOwnThread runs f on a thread that has no children and starts none but f's. Who traces is a thread, not a process, and it waits for
// whatever child of its own comes to an end.
func onOwnThread(f func()) {
	done := make(chan struct{})
	go func() { // waited for below
		defer close(done)
		runtime.LockOSThread() // for good: a thread that others get would have what f left
		children, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", syscall.Gettid()))
		if len(children) == 0 {
			f()
			return
		}
		onOwnThread(f) // of the others, since this one is taken
		runtime.UnlockOSThread()
	}()
	<-done
}

// killBefore runs a role and kills it before its step n, counted from 0.
func killBefore(dir string, n int, role string, args []string) (step string, err error) {
	onOwnThread(func() { step, err = killBeforeHere(dir, n, role, args) })
	return step, err
}

func killBeforeHere(dir string, n int, role string, args []string) (step string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	stderr, err := os.CreateTemp("", "crash")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, stderr.Close(), os.Remove(stderr.Name())) }()
	pid, err := syscall.ForkExec(self, append([]string{self}, args...), &syscall.ProcAttr{
		Env: append(os.Environ(), roleVariable+"="+role, watchVariable+"=1"), Files: []uintptr{0, stderr.Fd(), stderr.Fd()},
		Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return "", err
	}
	k := killer{dir: dir, pid: pid, stepsLeft: n}
	code, err := (&tracer{pid: pid, resume: syscall.PtraceCont, entry: k.entry}).run()
	switch {
	case k.died != "":
		code, err = 0, nil
	case code == cannotWatch:
		return "", syscall.ENOSYS
	}
	if err == nil && code != 0 {
		said, _ := os.ReadFile(stderr.Name())
		err = fmt.Errorf("the role ended with %d: %s", code, said)
	}
	return k.died, err
}

// A killer ends a process before one of its steps.
type killer struct {
	dir       string // whose files count
	pid       int
	stepsLeft int    // steps that are let pass
	died      string // the step before which the process was killed
}

// A tracer follows one process, all its threads, and their system calls. Its functions are called where a thread of it stands still
// at the beginning or the end of a call.
type tracer struct {
	pid    int
	resume func(thread, sig int) error // until each call (PtraceSyscall), or until those that the process has watched (PtraceCont)
	entry  func(thread int, nr uint64, args [6]uint64) error
	exit   func(thread int) error // for PtraceSyscall alone
}

// Of ptrace(2) and wait(2), Linux 5.3 or later; package syscall does not have them.
const (
	ptraceGetSyscallInfo = 0x420e
	ptraceExitKill       = 0x100000
	syscallEntry         = 1
	syscallExit          = 2
	syscallWatched       = 3
	waitFlags            = syscall.WALL | 0x20000000 // __WNOTHREAD
)

// run lets the process go on from call to call. It returns its exit code; the end by a signal is an error.
func (t *tracer) run() (code int, err error) {
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(t.pid, &ws, waitFlags, nil); err != nil {
		return 0, err
	}
	options := syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACESECCOMP | ptraceExitKill
	if err := syscall.PtraceSetOptions(t.pid, options); err != nil {
		return 0, err
	}
	thread, sig := t.pid, 0
	for {
		if err := t.resume(thread, sig); err != nil && !errors.Is(err, syscall.ESRCH) { // one that is gone
			return 0, err
		}
		if thread, err = syscall.Wait4(-1, &ws, waitFlags, nil); err != nil {
			return 0, err
		}
		switch {
		case ws.Exited() || ws.Signaled():
			if thread == t.pid {
				return ended(ws)
			}
			sig = 0
		default:
			if sig, err = t.handleStop(thread, ws); err != nil {
				return 0, err
			}
		}
	}
}

// ended is what the end of the process means.
func ended(ws syscall.WaitStatus) (code int, err error) {
	if ws.Signaled() {
		return 0, fmt.Errorf("the process was ended by signal %d", ws.Signal())
	}
	return ws.ExitStatus(), nil
}

// handleStop looks at a thread that stands still, and returns the signal that it is to get.
func (t *tracer) handleStop(thread int, ws syscall.WaitStatus) (sig int, err error) {
	switch ws.StopSignal() {
	case syscall.SIGTRAP | 0x80: // at the beginning or the end of a system call
		return 0, t.call(thread)
	case syscall.SIGTRAP: // at a call that is watched, or at a clone
		if ws.TrapCause() == unix.PTRACE_EVENT_SECCOMP {
			return 0, t.call(thread)
		}
		return 0, nil
	case syscall.SIGSTOP: // a new thread
		return 0, nil
	}
	return int(ws.StopSignal()), nil
}

// call tells of a call at which a thread stands still.
func (t *tracer) call(thread int) error {
	info := struct {
		op   byte
		_    [23]byte
		nr   uint64
		args [6]uint64
		_    [32]byte
	}{}
	size := unsafe.Sizeof(info)
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, ptraceGetSyscallInfo, uintptr(thread), size, uintptr(unsafe.Pointer(&info)), 0, 0)
	switch {
	case errno == syscall.ESRCH:
		return nil
	case errno != 0:
		return errno
	case info.op == syscallEntry || info.op == syscallWatched:
		return gone(t.entry(thread, info.nr, info.args))
	case info.op == syscallExit:
		return gone(t.exit(thread))
	}
	return nil
}

// gone is err, unless that says that the thread has ended meanwhile.
func gone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// entry kills the process if its next step is the one.
func (k *killer) entry(thread int, nr uint64, args [6]uint64) error {
	if k.died != "" {
		return nil
	}
	c, files, ok := changeAt(k.dir, thread, nr, args)
	if !ok {
		return nil
	}
	if k.stepsLeft--; k.stepsLeft >= 0 {
		return nil
	}
	k.died = c.kind + " " + strings.Join(files, " to ")
	return syscall.Kill(k.pid, syscall.SIGKILL)
}

// word reads a text that ends with a zero byte from the memory of a thread that stands still.
func word(thread int, at uint64) string {
	var text []byte
	piece := make([]byte, 256)
	for len(text) < syscall.PathMax {
		n, err := syscall.PtracePeekData(thread, uintptr(at)+uintptr(len(text)), piece)
		if err != nil || n == 0 {
			return ""
		}
		if before, _, ok := strings.Cut(string(piece[:n]), "\x00"); ok {
			return string(text) + before
		}
		text = append(text, piece[:n]...)
	}
	return ""
}

// openAs is the path of an open file.
func openAs(thread int, fd uint64) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", thread, int32(fd)))
	return strings.TrimSuffix(path, " (deleted)")
}

// absolute is a path that a call names in relation to an open folder.
func absolute(thread int, dirfd uint64, path string) string {
	if filepath.IsAbs(path) || path == "" {
		return path
	}
	if int32(dirfd) != unix.AT_FDCWD {
		return filepath.Join(openAs(thread, dirfd), path)
	}
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", thread))
	return filepath.Join(dir, path)
}
