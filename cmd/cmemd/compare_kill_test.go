//go:build !windows

package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
)

// TestComparisonsAreKilled kills what compares views with SIGKILL while it has captured words in files, without a daemon and in one: no file
// holds a word of them once the next daemon runs and they are forgotten.
func TestComparisonsAreKilled(t *testing.T) {
	takesLong(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	p := newProgram(t)
	temporary := t.TempDir()
	p.env = []string{"TMPDIR=" + temporary}
	for round, word := range []string{"quetzalone", "quetzaltwo"} {
		daemon := p.serve(ctx)
		p.say(ctx, word, round)
		byDaemon := round == 1
		if !byDaemon {
			if err := p.command(ctx, "stop").Run(); err != nil {
				t.Fatal(err)
			}
			_ = daemon.Wait()
		}
		p.killInComparison(ctx, word, temporary, daemon, byDaemon)
		daemon = p.serve(ctx)
		if left := comparisonsHolding(t, word, p.home, temporary); len(left) > 0 {
			t.Errorf("by a daemon %v: behind the next start %s is in %v", byDaemon, word, left)
		}
		if err := p.forget(ctx, word); err != nil {
			t.Fatal(err)
		}
		if left := append(p.holding(word), comparisonsHolding(t, word, temporary)...); len(left) > 0 {
			t.Errorf("by a daemon %v: %s was forgotten and is in %v", byDaemon, word, left)
		}
		if err := p.command(ctx, "stop").Run(); err != nil {
			t.Error(err)
		}
		_ = daemon.Wait()
	}
}

// killInComparison has `doctor --deep` begin until a comparison has a word in a file, and kills who compares then: the daemon, or the
// command.
func (p program) killInComparison(ctx context.Context, word, temporary string, daemon *exec.Cmd, byDaemon bool) {
	p.t.Helper()
	var left []string
	for limit := time.Now().Add(clitest.Timeout); len(left) == 0 && time.Now().Before(limit); {
		asks := p.command(ctx, "doctor", "--deep")
		if err := asks.Start(); err != nil {
			p.t.Fatal(err)
		}
		victim, ended := asks, make(chan struct{})
		if byDaemon {
			victim = daemon
		}
		go func() {
			defer close(ended)
			_ = asks.Wait()
		}()
		for over := false; !over; {
			if left = comparisonsHolding(p.t, word, p.home, temporary); len(left) > 0 {
				_ = victim.Process.Signal(syscall.SIGSTOP) // it may be about to end
				if left = comparisonsHolding(p.t, word, p.home, temporary); len(left) > 0 {
					_ = victim.Process.Kill()
				}
				_ = victim.Process.Signal(syscall.SIGCONT)
			}
			select {
			case <-ended:
				over = true
			default:
				over = len(left) > 0
			}
		}
		<-ended
	}
	if len(left) == 0 {
		p.t.Fatal("no comparison was killed while it had words in files")
	}
	if byDaemon {
		_ = daemon.Wait()
	}
}

// comparisonsHolding lists the files of comparisons below folders that hold a word.
func comparisonsHolding(t *testing.T, word string, below ...string) (files []string) {
	t.Helper()
	for _, dir := range below {
		for _, name := range []string{"compare-*", "cmemd-*"} {
			dirs, err := filepath.Glob(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range dirs {
				found, _ := holding(d, word) // what goes meanwhile is looked for again
				files = append(files, found...)
			}
		}
	}
	return files
}
