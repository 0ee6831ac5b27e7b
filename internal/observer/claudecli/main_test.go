package claudecli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes of the test program what a test starts: by the name it is called by a client that plays a script, or by a
// variable a daemon that asks and is killed.
func TestMain(m *testing.M) {
	if name, _, _ := strings.Cut(filepath.Base(os.Args[0]), "."); name == "claude" {
		playClient(filepath.Dir(os.Args[0]))
		return
	}
	if settings := os.Getenv(daemonVariable); settings != "" {
		playDaemon(settings)
		return
	}
	os.Exit(m.Run())
}

// asked is what a played client was started with.
type asked struct {
	Args   []string
	Env    []string
	Stdin  string // its beginning
	Length int    // of Stdin
	Cwd    string
	PID    int
}

// playClient says what stands in the file play beside it, a line at a time; a line that begins with ! is something to do.
func playClient(dir string) {
	if len(os.Args) == 2 && os.Args[1] == "linger" {
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	}
	script, err := os.Open(filepath.Join(dir, "play"))
	if err != nil {
		panic(err)
	}
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		_, _ = io.Copy(os.Stdout, script)
		return
	}
	in, _ := io.ReadAll(os.Stdin)
	cwd, _ := os.Getwd()
	b, _ := json.Marshal(asked{Args: os.Args[1:], Env: os.Environ(), Stdin: string(in[:min(len(in), 1<<16)]), Length: len(in), Cwd: cwd, PID: os.Getpid()})
	if err := os.WriteFile(filepath.Join(dir, "asked"), b, 0o600); err != nil {
		panic(err)
	}
	for lines := bufio.NewReader(script); ; {
		line, err := lines.ReadString('\n')
		if action, ok := strings.CutPrefix(line, "!"); ok {
			act(strings.Fields(action))
		} else {
			fmt.Print(line)
		}
		if err != nil {
			return
		}
	}
}

func act(words []string) {
	switch words[0] {
	case "hang":
		time.Sleep(time.Hour)
	case "pause":
		time.Sleep(100 * time.Millisecond)
	case "exit":
		code, _ := strconv.Atoi(words[1])
		os.Exit(code)
	case "kill":
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		time.Sleep(time.Hour)
	case "mark": // that all lines so far are said
		if err := os.WriteFile(filepath.Join(filepath.Dir(os.Args[0]), "marked"), nil, 0o600); err != nil {
			panic(err)
		}
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	case "child": // one that holds the output open and does not end when asked
		c := exec.Command(os.Args[0], "linger")
		c.Stdout = os.Stdout
		if err := c.Start(); err != nil {
			panic(err)
		}
	case "complain":
		_, _ = os.Stderr.Write(bytes.Repeat([]byte("the key is sk-ant-secret\n"), 1<<16))
	case "flood":
		for {
			fmt.Print(strings.Repeat("x", 1<<16))
		}
	case "chatter":
		for {
			fmt.Println(`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"` + strings.Repeat("x", 4096) + `"}}}`)
		}
	default:
		panic("no such action: " + words[0])
	}
}

// writeProgram writes what will be run. Nothing is started meanwhile: a child would hold the file open for writing, and what
// is being written cannot be run.
func writeProgram(tb testing.TB, path, text string) {
	tb.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		tb.Fatal(err)
	}
}

// fake is a client that plays a script, and a folder of runs.
type fake struct {
	bin, dir string
}

// newFake makes a client of this test program.
func newFake(tb testing.TB, script string) fake {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	f := fake{bin: tb.TempDir(), dir: filepath.Join(tb.TempDir(), "runs")}
	if err := os.Symlink(self, f.path()); err != nil {
		tb.Skipf("this system does not link: %v", err)
	}
	f.play(tb, script)
	return f
}

func (f fake) path() string { return filepath.Join(f.bin, "claude") }

// play changes the script.
func (f fake) play(tb testing.TB, script string) {
	tb.Helper()
	if err := os.WriteFile(filepath.Join(f.bin, "play"), []byte(script), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// client asks the fake.
func (f fake) client(tb testing.TB, env ...string) *Client {
	tb.Helper()
	c, err := New(Config{Dir: f.dir, Path: f.path(), Env: append([]string{"HOME=" + f.bin}, env...), Grace: 200 * time.Millisecond})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// marked waits until the fake has said what comes before !mark.
func (f fake) marked(tb testing.TB) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(f.bin, "marked")); err == nil {
			return
		}
	}
	tb.Fatal("the client did not come that far")
}

// asked waits for what the fake was started with.
func (f fake) asked(tb testing.TB) (a asked) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		b, err := os.ReadFile(filepath.Join(f.bin, "asked"))
		if err == nil && json.Unmarshal(b, &a) == nil {
			return a
		}
	}
	tb.Fatal("the client was not started")
	return a
}
