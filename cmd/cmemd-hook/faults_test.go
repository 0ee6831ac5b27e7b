package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/agents/spool"
)

// besideDaemon copies the hook beside a script in the daemon's place, and returns the copy's path.
func besideDaemon(t *testing.T, script string) string {
	t.Helper()
	bin := t.TempDir()
	data, err := os.ReadFile(hookPath)
	copied := filepath.Join(bin, "cmemd-hook")
	syscall.ForkLock.RLock() // a child that begins now would have the programs open for writing, so that nobody could run them
	defer syscall.ForkLock.RUnlock()
	err = errors.Join(err, os.WriteFile(copied, data, 0o700), os.WriteFile(filepath.Join(bin, "cmemd"), []byte("#!/bin/sh\n"+script), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	return copied
}

// TestADaemonThatNeverStarts: one hook of many tries to start it, all keep their payloads and end well, and the person is told.
func TestADaemonThatNeverStarts(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	path := besideDaemon(t, `echo started >> "$3/starts"; exit 1`)
	hook := func(event string) string {
		cmd := exec.Command(path, "claude-code")
		cmd.Env = append(os.Environ(), "CMEMD_HOME="+home)
		cmd.Stdin = strings.NewReader(strings.Replace(payload, "PostToolUse", event, 1))
		out, errs := mustRun(t, cmd)
		return out + errs
	}
	const many = 8
	var wg sync.WaitGroup
	for range many {
		wg.Go(func() {
			if said := hook("PostToolUse"); said != "" {
				t.Errorf("said %q", said)
			}
		})
	}
	wg.Wait()
	if said := hook("UserPromptSubmit"); !strings.Contains(said, "cmemd is not answering") {
		t.Errorf("the person is told %q", said)
	}
	if got := spooled(t, home); len(got) != many+1 {
		t.Errorf("spooled %d payloads, want %d", len(got), many+1)
	}
	for limit := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		starts, err := os.ReadFile(filepath.Join(home, "starts"))
		if err == nil || time.Now().After(limit) {
			if n := strings.Count(string(starts), "started"); n != 1 {
				t.Errorf("it was started %d times, %v; want once in a minute", n, err)
			}
			return
		}
	}
}

// TestTwoHomes: what is for the daemon of one home reaches no other, and what waits is sealed to the key of its own.
func TestTwoHomes(t *testing.T) {
	t.Parallel()
	one, other := shortHome(t), shortHome(t)
	serve(t, other, func(*http.Request, net.Conn) { t.Error("a payload reached the other home's daemon") })
	mustRun(t, hookCommand(one, "claude-code"))
	if got := spooled(t, one); len(got) != 1 {
		t.Errorf("in its home: %q", got)
	}
	if got := spooled(t, other); len(got) != 0 {
		t.Errorf("in the other: %q", got)
	}
	names, err := spool.New(one).Names()
	if err != nil || len(names) != 1 {
		t.Fatalf("names %v, %v", names, err)
	}
	to := filepath.Join(other, "spool", "new")
	if err := errors.Join(os.MkdirAll(to, 0o700), os.Rename(filepath.Join(one, "spool", "new", names[0]), filepath.Join(to, names[0]))); err != nil {
		t.Fatal(err)
	}
	if _, err := spool.New(other).Read(names[0]); !errors.Is(err, spool.ErrLostKey) {
		t.Errorf("moved to the other: %v, want ErrLostKey", err)
	}
}

// TestWhatHangs leaves a hook time to keep its payload, and then it ends: a daemon that reads nothing, and one whose answer is
// not taken by the agent.
func TestWhatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	for name, c := range map[string]struct {
		answer  func(*http.Request, net.Conn)
		payload string
		spooled int
	}{
		"a daemon that never answers": {func(_ *http.Request, conn net.Conn) { io.Copy(io.Discard, conn) }, payload, 1},
		"a daemon that reads nothing": {func(_ *http.Request, conn net.Conn) { time.Sleep(30 * time.Second) }, strings.Replace(payload, "ok", strings.Repeat("x", 8<<20), 1), 1},
		"an agent that reads nothing": {func(r *http.Request, conn net.Conn) {
			io.Copy(io.Discard, r.Body)
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 1<<20, strings.Repeat("x", 1<<20))
		}, payload, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := shortHome(t)
			serve(t, home, c.answer)
			reads, writes, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := hookCommand(home, "claude-code")
			cmd.Stdin, cmd.Stdout = strings.NewReader(c.payload), writes
			start := time.Now()
			if err := errors.Join(cmd.Run(), writes.Close(), reads.Close()); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("ended after %v", took)
			}
			if got := spooled(t, home); len(got) != c.spooled {
				t.Errorf("spooled %d payloads, want %d", len(got), c.spooled)
			}
		})
	}
}
