package claudecli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/process"
	"github.com/cmemd/cmemd/testkit/race"
)

// daemonVariable makes a daemon of the test program: its value is the Config, as JSON.
const daemonVariable = "CLAUDECLI_TEST_DAEMON"

// playDaemon asks, and goes on asking until it is killed.
func playDaemon(settings string) {
	var cfg Config
	if err := json.Unmarshal([]byte(settings), &cfg); err != nil {
		panic(err)
	}
	c, err := New(cfg)
	if err != nil {
		panic(err)
	}
	for {
		_, _ = c.Ask(context.Background(), question())
	}
}

// startDaemon starts one.
func startDaemon(t *testing.T, cfg Config) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	settings, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command(self)
	daemon.Env = append(os.Environ(), daemonVariable+"="+string(settings))
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	return daemon
}

// waitForRun waits until a run is written down.
func waitForRun(t *testing.T, dir string) childRecord {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		for _, file := range runFiles(t, dir) {
			if r := readRun(file); r.PID > 0 {
				return r
			}
		}
	}
	t.Fatal("nothing runs")
	return childRecord{}
}

// mustBeGone fails if a run's child lives, or any of its group, longer than within.
func mustBeGone(t *testing.T, r childRecord, within time.Duration) {
	t.Helper()
	deadline := time.Now().Add(within)
	for lives(r.PID) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d or its group lives on", r.PID)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// TestNoChildOutlivesAKilledDaemon kills a daemon 20 times while its child works.
func TestNoChildOutlivesAKilledDaemon(t *testing.T) {
	t.Parallel()
	f := newFake(t, initSaid+startSaid+"!hang\n")
	killDaemons(t, Config{Dir: f.dir, Path: f.path(), Env: []string{"HOME=" + f.bin}}, func() { f.asked(t); _ = os.Remove(filepath.Join(f.bin, "asked")) })
}

// TestNoRealClientOutlivesAKilledDaemon does it with Claude Code.
func TestNoRealClientOutlivesAKilledDaemon(t *testing.T) {
	t.Parallel()
	path := realClient(t)
	s := newScripted(t)
	cfg := realConfig(t, path, s.URL+"/hang", keyLogin)
	asked := 0
	killDaemons(t, cfg, func() {
		for deadline := time.Now().Add(time.Minute); len(s.questions()) == asked && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		asked = len(s.questions())
	})
	if asked < 20 {
		t.Errorf("the model was asked %d times", asked)
	}
}

func killDaemons(t *testing.T, cfg Config, waitForWork func()) {
	race.SkipProcesses(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a child with its parent")
	}
	for range 20 {
		daemon := startDaemon(t, cfg)
		waitForWork()
		r := waitForRun(t, cfg.Dir)
		if !lives(r.PID) {
			t.Fatal("the child is gone before its time")
		}
		if err := daemon.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = daemon.Wait() // it was killed
		mustBeGone(t, r, dying)
		if found, err := Sweep(cfg.Dir); found != 0 || err != nil {
			t.Fatalf("swept %d, %v", found, err)
		}
	}
}

// TestSweepFindsWhatAWrapperLeft: where the client is a script that starts the real one, the system ends only the script.
func TestSweepFindsWhatAWrapperLeft(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("other systems show no process's environment")
	}
	f := newFake(t, "!child\n"+initSaid+"!hang\n")
	daemon := startDaemon(t, Config{Dir: f.dir, Path: f.path(), Env: []string{"HOME=" + f.bin}})
	f.asked(t)
	r := waitForRun(t, f.dir)
	waitForChild(t, f)
	if err := daemon.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = daemon.Wait() // it was killed
	if !lives(r.PID) {
		t.Fatal("nothing is left to be found")
	}
	if found, err := Sweep(f.dir); found != 1 || err != nil {
		t.Errorf("swept %d, %v, want 1", found, err)
	}
	mustBeGone(t, r, dying)
	if left, err := os.ReadDir(f.dir); len(left) != 0 || err != nil {
		t.Errorf("left %v, %v", left, err)
	}
}

// waitForChild waits until the fake's own child is there.
func waitForChild(t *testing.T, f fake) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range all {
			if b, _ := os.ReadFile(file); strings.Contains(string(b), f.path()+"\x00linger") {
				return
			}
		}
	}
	t.Fatal("the client has no child")
}

// TestSweepSparesOthers: a number that was given to another process, or is of another boot, or of no run, is left alone.
func TestSweepSparesOthers(t *testing.T) {
	t.Parallel()
	if process.BootID() == "" {
		t.Skip("this system does not tell processes apart")
	}
	f := newFake(t, "!hang\n")
	other := exec.Command(f.path())
	process.OwnGroup(other)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	pid := other.Process.Pid
	start, err := process.StartTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, r := range map[string]childRecord{
		"start": {ID: "a", PID: pid, Start: start + "0", Boot: process.BootID()},
		"boot":  {ID: "b", PID: pid, Start: start, Boot: "another"},
		"none":  {ID: "c", PID: pid, Start: start},
		"id":    {PID: pid, Start: start, Boot: process.BootID()},
		"first": {ID: "d", PID: 1, Start: start, Boot: process.BootID()},
	} {
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		write(name+".run", string(b))
	}
	write("cut.run", `{"id":"x","pid":`)
	write("notes.txt", "not ours")
	if found, err := Sweep(f.dir); found != 0 || err != nil {
		t.Errorf("swept %d, %v", found, err)
	}
	if !lives(pid) {
		t.Error("a process that was not ours was killed")
	}
	if left, err := os.ReadDir(f.dir); len(left) != 1 || left[0].Name() != "notes.txt" || err != nil {
		t.Errorf("left %v, %v", left, err)
	}
	same := childRecord{ID: "e", PID: pid, Start: start, Boot: process.BootID()}
	if !same.kill() {
		t.Error("the process that was meant was not found")
	}
	_ = other.Wait() // it was killed
	mustBeGone(t, same, 0)
}

func TestSweepOfNothing(t *testing.T) {
	t.Parallel()
	if found, err := Sweep(filepath.Join(t.TempDir(), "none")); found != 0 || err != nil {
		t.Errorf("%d, %v", found, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Sweep(file); err == nil {
		t.Error("a file was swept")
	}
}
