package relay

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStartsAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		run := func() Result {
			return runTimed(t, Config{
				Home: home, Stdin: strings.NewReader(toolUse), Start: func(string) error { starts++; return errors.New("it failed") },
			})
		}
		for _, c := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {0, 1}, {startPause - 1, 1}, {1, 2}, {time.Second, 2}, {startPause, 3}} {
			time.Sleep(c.wait)
			if r := run(); r.Outcome != Spooled || starts != c.want {
				t.Errorf("after %v more: %+v, %d starts; want %d", c.wait, r, starts, c.want)
			}
		}
	})
}

func TestOneHookStartsAtATime(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := tryLock(filepath.Join(home, "run", "start.lock"))
	if err != nil {
		t.Fatal(err)
	}
	starts := 0
	cfg := Config{Home: home, Start: func(string) error { starts++; return nil }}
	cfg.Stdin = strings.NewReader(toolUse)
	if r := runHook(t, cfg); r.Outcome != Spooled || starts != 0 {
		t.Errorf("while another starts it: %+v, %d starts; want none", r, starts)
	}
	unlock(lock)
	cfg.Stdin = strings.NewReader(toolUse)
	if r := runHook(t, cfg); !r.Started || starts != 1 {
		t.Errorf("after that: %+v, %d starts; want one", r, starts)
	}
}

func TestStampOfTheFutureOrDamagedDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, stamp := range []string{time.Now().Add(24 * time.Hour).Format(time.RFC3339Nano), "nonsense", ""} {
		home := t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "run", "start.stamp"), []byte(stamp), 0o600); err != nil {
			t.Fatal(err)
		}
		r := runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse), Start: func(string) error { return nil }})
		if !r.Started {
			t.Errorf("stamp %q: nothing was started", stamp)
		}
	}
}

func TestDaemonEnv(t *testing.T) {
	t.Parallel()
	env := []string{"PATH=/bin", "CLAUDE_CODE_MESSAGING_SOCKET=/x", "CLAUDE_CODE_MESSAGING_TOKEN=secret", "CMEMD_HOME=rel", "CLAUDECODE=1", "odd"}
	if diff := cmp.Diff([]string{"PATH=/bin", "CLAUDECODE=1", "odd", "CMEMD_HOME=/abs"}, DaemonEnv(env, "/abs")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestSpawn starts a script in a daemon's place.
func TestSpawn(t *testing.T) {
	t.Parallel()
	home, script := t.TempDir(), filepath.Join(t.TempDir(), "cmemd")
	text := "#!/bin/sh\necho \"args=$*\"; echo \"home=$CMEMD_HOME\"; echo \"token=$CLAUDE_CODE_MESSAGING_TOKEN\"; pwd; read x && echo read; echo end >&2\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := spawn(script, home, []string{"CLAUDE_CODE_MESSAGING_TOKEN=secret", "PATH=" + os.Getenv("PATH")}); err != nil {
		t.Skipf("no scripts here: %v", err)
	}
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(home, "logs", "start.log")
	want := []string{"args=serve", "home=" + home, "token=", real, "end", ""}
	var got []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		data, _ := os.ReadFile(log)
		if got = strings.Split(string(data), "\n"); slices.Contains(got, "end") {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log: %v, %v; want mode 0600", info.Mode(), err)
	}
	if err := spawn(filepath.Join(home, "none"), home, nil); err == nil {
		t.Error("a missing command was started")
	}
}

func TestStartLogIsBounded(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, c := range []struct{ before, after int64 }{{0, 0}, {maxStartLog, maxStartLog}, {maxStartLog + 1, 0}} {
		log, err := openStartLog(home)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(log.Truncate(c.before), log.Close()); err != nil {
			t.Fatal(err)
		}
		if log, err = openStartLog(home); err != nil {
			t.Fatal(err)
		}
		if info, err := log.Stat(); err != nil || info.Size() != c.after {
			t.Errorf("a log of %d bytes opens with %d, %v; want %d", c.before, info.Size(), err, c.after)
		}
		log.Close()
	}
}

func TestFindCommandFollowsPath(t *testing.T) {
	bin := t.TempDir()
	want := filepath.Join(bin, "cmemd")
	if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	if got, err := findCommand(); err != nil || got != want {
		t.Errorf("findCommand = %s, %v; want %s", got, err, want)
	}
	t.Setenv("PATH", t.TempDir())
	if got, err := findCommand(); err == nil {
		t.Errorf("findCommand = %s, want none", got)
	}
}
