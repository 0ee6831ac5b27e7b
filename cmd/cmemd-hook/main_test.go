package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/socket"
)

const payload = `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":"<private>s</private>ok"}`

var hookPath string // of the program under test, built by TestMain

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	if runtime.GOOS == "windows" {
		return 0 // what follows needs signals and scripts
	}
	if race.Enabled {
		return 0 // what follows is all of real processes, which are built without the detector
	}
	dir, err := os.MkdirTemp("", "cmemd-hook")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	hookPath = filepath.Join(dir, "cmemd-hook")
	build := exec.Command("go", "build", "-ldflags=-s -w -X main.version=1.2.3", "-o", hookPath, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	return m.Run()
}

// hookCommand is one hook with a home and nothing to start.
func hookCommand(home string, args ...string) *exec.Cmd {
	cmd := exec.Command(hookPath, args...)
	cmd.Env = append(os.Environ(), "CMEMD_HOME="+home, "CMEMD_NO_START=1")
	cmd.Stdin = strings.NewReader(payload)
	return cmd
}

// mustRun runs a hook, which must exit 0, and returns what it said.
func mustRun(tb testing.TB, cmd *exec.Cmd) (stdout, stderr string) {
	tb.Helper()
	var out, errs bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
	}
	return out.String(), errs.String()
}

// serve answers each connection to the home's socket with a function, until the test ends.
func serve(tb testing.TB, home string, answer func(*http.Request, net.Conn)) {
	tb.Helper()
	socket := relay.SocketPath(home)
	if err := relay.MakeSocketDir(socket); err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err == nil {
					answer(r, conn)
				}
			}()
		}
	}()
}

func shortHome(tb testing.TB) string {
	tb.Helper()
	home := socket.Dir(tb)
	if err := spool.LayKey(home, time.Now()); err != nil {
		tb.Fatal(err)
	}
	return home
}

func spooled(tb testing.TB, home string) []string {
	tb.Helper()
	var bodies []string
	spool := spool.New(home)
	names, err := spool.Names()
	if err != nil {
		tb.Error(err)
	}
	for _, name := range names {
		e, err := spool.Read(name)
		if err != nil {
			tb.Error(err)
		}
		bodies = append(bodies, string(e.Body))
	}
	return bodies
}

func TestHookPostsAndReplies(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	got := make(chan string, 1)
	serve(t, home, func(r *http.Request, conn net.Conn) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + r.Header.Get("Cmemd-Client") + " " + string(body)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"a\":\"b\"}")
	})
	stdout, stderr := mustRun(t, hookCommand(home, "claude-code"))
	if stdout != `{"a":"b"}` || stderr != "" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	if got, want := <-got, "/v1/hooks/claude-code 1.2.3 "+payload; got != want {
		t.Errorf("posted %q, want %q", got, want)
	}
	if left, _ := os.ReadDir(home); len(left) != 2 {
		t.Errorf("the home holds %v, want keys and run only", left)
	}
}

func TestHookSpoolsWithoutADaemon(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	stdout, stderr := mustRun(t, hookCommand(home, "claude-code"))
	want := []string{strings.Replace(payload, "<private>s</private>", "", 1)}
	if got := spooled(t, home); stdout != "" || stderr != "" || !slices.Equal(got, want) {
		t.Errorf("stdout %q, stderr %q, spooled %q; want only %q", stdout, stderr, got, want)
	}
}

// TestHookOnlyCountsWhereItIsSwitchedOff: nothing of what it is told is left.
func TestHookOnlyCountsWhereItIsSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, env := range []string{"CMEMD_OBSERVER=1", "CMEMD_DISABLE=1"} {
		home := shortHome(t)
		cmd := hookCommand(home, "claude-code")
		cmd.Env = append(cmd.Env, env)
		stdout, stderr := mustRun(t, cmd)
		left, _ := os.ReadDir(home)
		counted, _ := relay.ReadDisabled(home, time.Now())
		if stdout != "" || stderr != "" || len(left) != 2 || counted.Sessions != 1 {
			t.Errorf("%s: stdout %q, stderr %q, left %v, counted %+v", env, stdout, stderr, left, counted)
		}
	}
}

func TestHookAlwaysExitsWell(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		home           string
		args           []string
		stdout, stderr string
	}{
		"no arguments":     {file, nil, "", "usage: cmemd-hook [--home DIR] AGENT"},
		"too many":         {file, []string{"a", "b"}, "", "usage: cmemd-hook [--home DIR] AGENT"},
		"an unknown flag":  {file, []string{"--x"}, "", "usage: cmemd-hook [--home DIR] AGENT"},
		"the version":      {file, []string{"--version"}, "cmemd-hook 1.2.3\n", ""},
		"a home of a file": {file, []string{"codex"}, "", ""},
		"one that is said": {"/nowhere", []string{"--home", file, "codex"}, "", ""},
		"a home alone":     {file, []string{"--home", "/x"}, "", "usage: cmemd-hook [--home DIR] AGENT"},
		"a hostile agent":  {file, []string{"../../x"}, "", ""},
	} {
		stdout, stderr := mustRun(t, hookCommand(c.home, c.args...))
		if stdout != c.stdout || !strings.HasPrefix(stderr, c.stderr) || (c.stderr == "") != (stderr == "") {
			t.Errorf("%s: stdout %q, stderr %q; want %q, %q", name, stdout, stderr, c.stdout, c.stderr)
		}
	}
	cmd := hookCommand("", "codex")
	cmd.Env = []string{} // not even a home folder
	mustRun(t, cmd)
	cmd = hookCommand(shortHome(t), "codex")
	cmd.Stdin = nil // /dev/null
	mustRun(t, cmd)
}

func TestHookOutlivesAClosedStdout(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	serve(t, home, func(r *http.Request, conn net.Conn) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
	})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cmd := hookCommand(home, "codex")
	cmd.Stdout = w
	mustRun(t, cmd)
	if got := spooled(t, home); len(got) != 0 {
		t.Errorf("spooled %q though it was posted", got)
	}
}

// TestInterruptedHookSpools covers a Ctrl-C, which a terminal sends to an agent's hooks as well.
func TestInterruptedHookSpools(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		best := time.Hour
		for range 5 { // a busy machine makes one slow, and not all
			if best = min(best, interrupted(t, sig)); best <= 1200*time.Millisecond {
				break
			}
		}
		if best > 1200*time.Millisecond {
			t.Errorf("%v: spooled after %v at best; want it there well before the budget", sig, best)
		}
	}
}

// TestSignalAtOnce does not end a hook before its payload is safe.
func TestSignalAtOnce(t *testing.T) {
	t.Parallel()
	for rounds, missed := 0, 0; rounds < 20; rounds++ {
		home := shortHome(t)
		reads, writes, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := hookCommand(home, "codex")
		cmd.Stdin = reads
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		seen := false
		for limit := time.Now().Add(5 * time.Second); !seen && time.Now().Before(limit); time.Sleep(100 * time.Microsecond) {
			seen = ignores(t, cmd.Process.Pid, syscall.SIGTERM)
		}
		if !seen { // where this process was kept waiting for longer than a hook waits for its input, the hook has ended
			_ = cmd.Process.Kill()
			_, _, _ = writes.Close(), cmd.Wait(), reads.Close()
			if missed++; missed > 2 {
				t.Fatal("it does not ignore the signal")
			}
			continue
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(writes, payload); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(writes.Close(), cmd.Wait(), reads.Close()); err != nil {
			t.Error(err)
		}
		if got := spooled(t, home); len(got) != 1 {
			t.Errorf("spooled %q, want the payload", got)
		}
	}
}

// ignores reports whether a process ignores or catches a signal in a way of its own.
func ignores(t *testing.T, pid int, sig syscall.Signal) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(status), "SigIgn:")
	mask, err := strconv.ParseUint(strings.Fields(rest)[0], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return mask&(1<<(sig-1)) != 0
}

// interrupted is how long a hook runs in all that is sent a signal while a daemon keeps it waiting.
func interrupted(t *testing.T, sig os.Signal) time.Duration {
	t.Helper()
	home := shortHome(t)
	arrived := make(chan struct{}, 1)
	serve(t, home, func(r *http.Request, conn net.Conn) {
		io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		io.Copy(io.Discard, conn)
	})
	cmd := hookCommand(home, "codex")
	cmd.Stdin = strings.NewReader(strings.Replace(payload, "PostToolUse", "SessionStart", 1))
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-arrived
	time.Sleep(100 * time.Millisecond) // a hook does not listen to signals from the first moment on
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %v", sig, err)
	}
	took := time.Since(start)
	if got := spooled(t, home); len(got) != 1 {
		t.Errorf("%v: spooled %q, want the payload", sig, got)
	}
	return took
}

// TestHookStartsTheDaemonBesideIt puts a script in the daemon's place, beside a copy of the hook. It is given what is on the list, and
// the variable that the settings name as a key.
func TestHookStartsTheDaemonBesideIt(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	copied := besideDaemon(t, "{ echo \"$*\"; env | grep -v '^PWD=\\|^SHLVL=\\|^_=\\|^OLDPWD='; } > \"$3/new\"\nmv \"$3/new\" \"$3/started\"\nexec sleep 0.3\n")
	if err := errors.Join(relay.WriteVariables(home, []string{"MY_KEY"}), relay.Programs{Path: "/usr/bin:/bin", UserHome: "/h"}.Write(home)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "--home", home, "claude-code")
	cmd.Env = []string{
		"HOME=/elsewhere", "LANG=C", "MY_KEY=k", "PATH=" + t.TempDir(), "CMEMD_HOME=" + t.TempDir(), "CMEMD_PROVIDER=openai", "XDG_DATA_HOME=/x", "LD_LIBRARY_PATH=/x",
		"CLAUDE_CODE_MESSAGING_TOKEN=secret", "GIT_DIR=/x", "BASH_ENV=/x",
	}
	cmd.Stdin = strings.NewReader(payload)
	mustRun(t, cmd)
	if got := spooled(t, home); len(got) != 1 {
		t.Errorf("spooled %q", got)
	}
	var got []byte
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && len(got) == 0; time.Sleep(5 * time.Millisecond) {
		got, _ = os.ReadFile(filepath.Join(home, "started"))
	}
	lines := strings.Split(strings.TrimSpace(string(got)), "\n")
	slices.Sort(lines[1:])
	want := []string{
		"serve --home " + home + " --no-env",
		"CMEMD_LEFT_OUT=CMEMD_HOME,CMEMD_PROVIDER,XDG_DATA_HOME,LD_LIBRARY_PATH,CLAUDE_CODE_MESSAGING_TOKEN,GIT_DIR,BASH_ENV",
		"HOME=/h", "LANG=C", "MY_KEY=k", "PATH=/usr/bin:/bin",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("started with %q, want %q", lines, want)
	}
}

// BenchmarkHook runs whole processes against a daemon that answers at once: what an agent waits for at a tool call. Beside each it
// runs a Go program that does nothing, a shell around both, and reports how many times as long, and as much CPU, a hook takes.
func BenchmarkHook(b *testing.B) {
	home, empty := shortHome(b), buildEmpty(b)
	serve(b, home, func(r *http.Request, conn net.Conn) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	})
	var walls, cpus [2][]float64 // in ms, of the hook and of the empty program
	for b.Loop() {
		for i, program := range []string{hookPath, empty} {
			cmd := exec.Command("sh", "-c", program+" claude-code")
			cmd.Env, cmd.Stdin = hookCommand(home).Env, strings.NewReader(payload)
			start := time.Now()
			mustRun(b, cmd)
			walls[i] = append(walls[i], milliseconds(time.Since(start)))
			cpus[i] = append(cpus[i], milliseconds(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()))
		}
	}
	b.ReportMetric(median(walls[0]), "wall-ms")
	b.ReportMetric(median(cpus[0]), "cpu-ms")
	b.ReportMetric(median(walls[0])/median(walls[1]), "wall-x-empty")
	b.ReportMetric(median(cpus[0])/median(cpus[1]), "cpu-x-empty")
}

// buildEmpty builds a program that does nothing, as releases are built, and returns its path.
func buildEmpty(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	path := filepath.Join(dir, "empty")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "main.go")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GO111MODULE=off")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return path
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
