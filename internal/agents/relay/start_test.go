package relay

import (
	"errors"
	"fmt"
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
	lock, err := tryLock(home, startLock)
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

// TestDaemonEnv: what is given is on a list; of the rest names alone are told.
func TestDaemonEnv(t *testing.T) {
	t.Parallel()
	env := []string{
		"HOME=/h", "PATH=/evil", "LC_ALL=C", "LANG=x", "LANG=de", "OPENAI_API_KEY=k", "OTHER_KEY=k", "CMEMD_HOME=rel", "CMEMD_PROVIDER=openai",
		"LD_PRELOAD=/x", "CLAUDE_CODE_MESSAGING_TOKEN=secret", "odd", "=C:=x", "a,b=1", LeftOutVar + "=FORGED",
	}
	given, left := DaemonEnv(env, Programs{Path: "/bin"}, []string{"OPENAI_API_KEY", "PATH"})
	if diff := cmp.Diff([]string{"HOME=/h", "LC_ALL=C", "LANG=de", "OPENAI_API_KEY=k", "PATH=/bin"}, given); diff != "" {
		t.Errorf("given: -want +got\n%s", diff)
	}
	names := []string{"OTHER_KEY", "CMEMD_HOME", "CMEMD_PROVIDER", "LD_PRELOAD", "CLAUDE_CODE_MESSAGING_TOKEN"}
	if diff := cmp.Diff(append(names, LeftOutVar), left); diff != "" {
		t.Errorf("left: -want +got\n%s", diff)
	}
	if given, _ := DaemonEnv(env, Programs{Path: "/bin", UserHome: "/p"}, nil); !slices.Contains(given, "HOME=/p") || slices.Contains(given, "HOME=/h") {
		t.Errorf("with a folder that is recorded: %q", given)
	}
	home := t.TempDir()
	if err := (Programs{Path: "/bin"}).Write(home); err != nil {
		t.Fatal(err)
	}
	want := []string{"HOME=/h", "LC_ALL=C", "LANG=de", "PATH=/bin", LeftOutVar + "=OPENAI_API_KEY," + strings.Join(names, ",")}
	if diff := cmp.Diff(want, ServeEnv(env, home, nil)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for i := range 5000 {
		env = append(env, fmt.Sprintf("VARIABLE_%d=x", i))
	}
	long := ServeEnv(env, home, nil)
	if n := len(long[len(long)-1]); n > maxLeftOut+len(LeftOutVar)+1 {
		t.Errorf("%d bytes of names", n)
	}
}

func TestProgramsAreWrittenDown(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if p, err := ReadPrograms(home); p != (Programs{}) || err != nil {
		t.Errorf("of nothing: %+v, %v", p, err)
	}
	want := Programs{Path: `/bin:/a "b"`, Cmemd: "/c", Git: "/g", Claude: "/l", UserHome: "/u"}
	if err := want.Write(home); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadPrograms(home); got != want || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestVariablesAreWrittenDown(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if names, written := ReadVariables(home); names != nil || written {
		t.Errorf("of nothing: %q, %v", names, written)
	}
	for _, want := range [][]string{nil, {"OPENAI_API_KEY"}, {"A", "B_2"}} {
		if err := WriteVariables(home, want); err != nil {
			t.Fatal(err)
		}
		if got, written := ReadVariables(home); !slices.Equal(got, want) || !written {
			t.Errorf("got %q, %v; want %q", got, written, want)
		}
	}
	if err := os.WriteFile(variablesFile(home), []byte("GOOD\n2BAD\na=b\n"+strings.Repeat("X", 200)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := ReadVariables(home); !slices.Equal(got, []string{"GOOD"}) {
		t.Errorf("got %q", got)
	}
}

// TestSpawn starts a script in a daemon's place.
func TestSpawn(t *testing.T) {
	t.Parallel()
	home, script := t.TempDir(), filepath.Join(t.TempDir(), "cmemd")
	text := "#!/bin/sh\necho \"args=$*\"; echo \"word=$WORD\"; pwd; read x && echo read; echo end >&2\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := spawn(script, home, []string{"WORD=x", "PATH=" + os.Getenv("PATH")}); err != nil {
		t.Skipf("no scripts here: %v", err)
	}
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(home, "logs", "start.log")
	want := []string{"args=serve --home " + home + " --no-env", "word=x", real, "end", ""}
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
	if got, err := findCommand(Programs{}); err != nil || got != want {
		t.Errorf("findCommand = %s, %v; want %s", got, err, want)
	}
	recorded := filepath.Join(t.TempDir(), "cmemd")
	if err := os.Link(want, recorded); err != nil {
		t.Fatal(err)
	}
	if got, err := findCommand(Programs{Cmemd: recorded}); err != nil || got != recorded {
		t.Errorf("findCommand = %s, %v; want %s", got, err, recorded)
	}
	t.Setenv("PATH", t.TempDir())
	if got, err := findCommand(Programs{}); err == nil {
		t.Errorf("findCommand = %s, want none", got)
	}
}

// TestFolderOfUser: whose folder it is the system's list says, and nothing that is no line of it counts.
func TestFolderOfUser(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(list, []byte("# 7\nroot:x:0:0:root:/root:/bin/sh\nme:x:1000:1000:Me,,,:/home/me:/bin/bash\nodd:x:8:8::relative:\nshort:x:9:9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[int]string{0: "/root", 1000: "/home/me", 8: "", 9: "", 7: "", -1: ""} {
		if got := folderOfUser(list, uid); got != want {
			t.Errorf("of %d: got %q, want %q", uid, got, want)
		}
	}
	if got := folderOfUser(list+".gone", 0); got != "" {
		t.Errorf("without a list: got %q", got)
	}
}
