//go:build !windows

package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/race"
)

// systemRoles are the children that need this system.
func systemRoles() map[string]crash.Role {
	return map[string]crash.Role{"stop while writing": stopWhileWriting}
}

// stopWhileWriting is the role of a hook that is stopped with SIGSTOP when its first file is whole in tmp.
func stopWhileWriting(args []string) int {
	s, first := New(args[0]), true
	s.Written = func() {
		if first {
			first = false
			fmt.Println("stopping")
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
	}
	if _, err := s.Put(bodied(2, secondBody)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestStoppedHook has a hook that is stopped while it writes, for days of the daemon's: its key is replaced, deleted if nothing is
// sealed to it, and its file is rescued, or removed for a half one. When it goes on its entry is there once and can be opened.
func TestStoppedHook(t *testing.T) {
	race.SkipProcesses(t)
	if testing.Short() {
		t.Skip("starts processes")
	}
	for name, meanwhile := range map[string]func(s *Spool, tmp string) error{
		"nothing happens": func(*Spool, string) error { return nil },
		"the key changes": daysPass(2),
		"the key changes often, and what nothing needs is deleted": daysPass(5),
		"its file is rescued, and the key changes": func(s *Spool, tmp string) error {
			return errors.Join(rescueAll(s), daysPass(5)(s, tmp))
		},
		"its file is rescued and drained, and the key is deleted": func(s *Spool, tmp string) error {
			return errors.Join(rescueAll(s), drainAll(s), daysPass(5)(s, tmp))
		},
		"its file is rescued": func(s *Spool, _ string) error { return rescueAll(s) },
		"its half file is removed": func(s *Spool, tmp string) error {
			return errors.Join(os.Truncate(tmp, 100), rescueAll(s))
		},
		"its half file is removed, and the key is deleted": func(s *Spool, tmp string) error {
			return errors.Join(os.Truncate(tmp, 100), rescueAll(s), daysPass(5)(s, tmp))
		},
		"all keys are lost": func(s *Spool, tmp string) error {
			return errors.Join(os.RemoveAll(filepath.Join(filepath.Dir(s.dir), "keys")), daysPass(1)(s, tmp))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			s := keyed(t, home)
			hook := crash.Start(t, "stop while writing", home)
			hook.WaitLines(1)
			files, err := filepath.Glob(filepath.Join(s.tmp(), "*"))
			if err != nil || len(files) != 1 {
				t.Fatalf("in tmp: %v, %v", files, err)
			}
			waitStopped(t, hook.PID())
			if err := meanwhile(s, files[0]); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(hook.PID(), syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			if _, stderr, err := hook.Wait(); err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			if _, err := s.RenewKeys(time.Now().Add(30 * killAfter)); err != nil {
				t.Error(err)
			}
			if got := strings.Join(bodiesIn(t, s, s.in("new")), " "); got != secondBody {
				t.Errorf("in new is %s, want the one entry", got)
			}
			if left := unfinished(t, home); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// waitStopped waits until a process has stopped.
func waitStopped(t *testing.T, pid int) {
	t.Helper()
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, syscall.WUNTRACED, nil); err != nil || !ws.Stopped() {
		t.Fatalf("the hook did not stop: %v, %v", ws, err)
	}
}

func daysPass(days int) func(s *Spool, tmp string) error {
	return func(s *Spool, _ string) (err error) {
		for day := range days {
			_, renewErr := s.RenewKeys(time.Now().Add(time.Duration(day+1) * killAfter))
			err = errors.Join(err, renewErr)
		}
		return err
	}
}

func rescueAll(s *Spool) error {
	_, _, err := s.Rescue(time.Now().Add(time.Hour))
	return err
}

func drainAll(s *Spool) error {
	names, err := s.Names()
	for _, name := range names {
		_, readErr := s.Read(name)
		err = errors.Join(err, readErr, s.Remove(name))
	}
	return err
}
