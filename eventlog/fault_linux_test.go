package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/race"
)

// systemRoles are the children that need this system.
func systemRoles() map[string]crash.Role {
	return map[string]crash.Role{"limit": appendUnderLimits, "narrow": openInNarrowMemory}
}

// replaceFile makes the descriptor by which this process has path open mean another file.
func replaceFile(t *testing.T, path, other string) {
	t.Helper()
	fd := descriptorOf(t, path)
	f, err := os.OpenFile(other, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Dup3(int(f.Fd()), fd, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
}

func descriptorOf(t *testing.T, path string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); to == path {
			var fd int
			fmt.Sscan(e.Name(), &fd)
			return fd
		}
	}
	t.Fatalf("%s is not open", path)
	return -1
}

// TestFailedCommit lets a commit fail at its first write (no space), at its sync (a device that cannot), and in
// reading the mapped file (a page that is gone). Everyone who waits must hear ErrFailed, later callers too, Done must
// be closed, Close must return, and what was acknowledged before must be there.
func TestFailedCommit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault func(t *testing.T, path string)
		lost  error // of opening the file again; nil: all is there
	}{
		"write":     {func(t *testing.T, path string) { replaceFile(t, path, "/dev/full") }, nil},
		"sync":      {func(t *testing.T, path string) { replaceFile(t, path, "/dev/null") }, nil},
		"page gone": {func(t *testing.T, path string) { truncate(t, path, 2*pageSize) }, events.ErrCorrupt},
		"all gone":  {func(t *testing.T, path string) { truncate(t, path, 100) }, eventlog.ErrNotLog},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			l := openLog(t, path)
			mustAppend(t, l, logtest.Session("a"), 0, numbered("x", 100)...)
			before := contents(t, l)
			test.fault(t, path)
			appendAllFail(t, l)
			checkFailed(t, l)
			if err := l.Close(); err != nil {
				t.Logf("Close: %v", err)
			}
			if test.lost != nil { // the lock is gone, the damage is not
				if _, err := eventlog.Open(path, eventlog.Config{}); !errors.Is(err, test.lost) {
					t.Errorf("Open: got %v, want %v", err, test.lost)
				}
				return
			}
			again := openLog(t, path)
			mustVerify(t, again)
			if diff := cmp.Diff(before, contents(t, again)); diff != "" {
				t.Errorf("after reopening (-want +got):\n%s", diff)
			}
		})
	}
}

func appendAllFail(t *testing.T, l *eventlog.Bolt) {
	t.Helper()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			_, err := l.Append(t.Context(), logtest.Session(fmt.Sprint(w)), 0, logtest.Draft("lost"))
			if !errors.Is(err, eventlog.ErrFailed) {
				t.Errorf("Append: got %v, want ErrFailed", err)
			}
		})
	}
	wg.Wait()
}

func checkFailed(t *testing.T, l *eventlog.Bolt) {
	t.Helper()
	select {
	case <-l.Done():
	default:
		t.Error("Done is not closed")
	}
	if !errors.Is(l.Err(), eventlog.ErrFailed) {
		t.Errorf("Err: got %v, want ErrFailed", l.Err())
	}
	for what, err := range map[string]error{
		"Erase": l.Erase(t.Context(), 1),
		"Get":   second(l.Get(t.Context(), 1)),
		"Last":  second(l.Last(t.Context())),
	} {
		if !errors.Is(err, eventlog.ErrFailed) {
			t.Errorf("%s: got %v, want ErrFailed", what, err)
		}
	}
	for _, err := range l.Follow(t.Context(), 1) {
		if !errors.Is(err, eventlog.ErrFailed) {
			t.Errorf("Follow: got %v, want ErrFailed", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// appendUnderLimits lets the system cut the log's file off at one size after the other: writes beyond it fail, and one
// across it is short. For each it prints the size, how many appends were acknowledged, whether the log said so when one
// was not, and what reopening showed.
func appendUnderLimits(args []string) int {
	signal.Ignore(syscall.SIGXFSZ)
	for limit := uint64(3 * pageSize); limit < 60*pageSize; limit += pageSize * 3 / 4 {
		path := filepath.Join(args[0], fmt.Sprint(limit))
		acknowledged, err := appendUntilFull(path, limit)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(limit, acknowledged, reopened(path, acknowledged))
	}
	return 0
}

// appendUntilFull appends three events at a time until the log fails, under a limit of the file's size.
func appendUntilFull(path string, limit uint64) (acknowledged events.Version, err error) {
	l, err := eventlog.Open(path, eventlog.Config{MinFree: -1})
	if err != nil {
		return 0, err
	}
	defer l.Close()
	ctx := context.Background()
	if _, err := l.Append(ctx, events.Daemon, 0, logtest.Draft("stretches the file")); err != nil {
		return 0, err
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return 0, err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: was.Max}); err != nil {
		return 0, err
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was)
	for acknowledged < 10_000 {
		n := fmt.Sprintf("%d %0700d", acknowledged, 0)
		_, err := l.Append(ctx, logtest.Session("a"), acknowledged*3, logtest.Draft(n), logtest.Draft(n), logtest.Draft(n))
		if errors.Is(err, eventlog.ErrFailed) {
			return acknowledged, nil
		}
		if err != nil {
			return 0, err
		}
		acknowledged++
	}
	return 0, errors.New("the limit was never reached")
}

// reopened is "whole" if the log has all that was acknowledged, and of the append that failed all or nothing.
func reopened(path string, acknowledged events.Version) string {
	l, err := eventlog.Open(path, eventlog.Config{})
	if err != nil {
		return err.Error()
	}
	defer l.Close()
	if err := eventlog.Verify(context.Background(), l, nil); err != nil {
		return err.Error()
	}
	v, _, err := l.Head(context.Background(), logtest.Session("a"))
	if err != nil || v != acknowledged*3 && v != acknowledged*3+3 {
		return fmt.Sprintf("version %d, %v", v, err)
	}
	return "whole"
}

// TestFailedWrites runs in a child, because the limit is the whole process's.
func TestFailedWrites(t *testing.T) {
	race.SkipProcesses(t)
	t.Parallel()
	lines, stderr, err := crash.Start(t, "limit", t.TempDir()).Wait()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	some := map[int]bool{}
	for _, line := range lines {
		var limit, acknowledged int
		var state string
		if _, err := fmt.Sscan(line, &limit, &acknowledged, &state); err != nil || state != "whole" {
			t.Errorf("limit, acknowledged, state: %s", line)
		}
		some[acknowledged] = true
	}
	if len(some) < 10 {
		t.Errorf("the limits cut the log in %d places only: %q", len(some), lines)
	}
}

// openInNarrowMemory leaves less address space than the large mapping takes, and then next to none, and says what opening comes to.
func openInNarrowMemory(args []string) int {
	for _, room := range []uint64{512 << 20, 1 << 20} {
		if err := limitMemory(room); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		l, err := eventlog.Open(filepath.Join(args[0], "log"), eventlog.Config{})
		fmt.Println(err == nil, errors.Is(err, syscall.ENOMEM), errors.Is(err, eventlog.ErrNotLog))
		if err == nil {
			_ = l.Close()
		}
	}
	return 0
}

// limitMemory lets this process have so many bytes of address space more than it has.
func limitMemory(more uint64) error {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(statm), &pages); err != nil {
		return err
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &was); err != nil {
		return err
	}
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: pages*uint64(os.Getpagesize()) + more, Max: was.Max})
}

// TestNarrowMemory: a log opens where the system has room for its file alone, and the system's refusal is told as that.
func TestNarrowMemory(t *testing.T) {
	race.SkipProcesses(t)
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, filepath.Join(dir, "log"))
	mustAppend(t, l, logtest.Session("a"), 0, "one")
	mustClose(t, l)
	lines, stderr, err := crash.Start(t, "narrow", dir).Wait()
	if want := []string{"true false false", "false true false"}; err != nil || !cmp.Equal(lines, want) {
		t.Errorf("got %q, want %q; %v %s", lines, want, err, stderr)
	}
}
