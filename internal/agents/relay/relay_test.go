package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/testkit/socket"
	"github.com/google/go-cmp/cmp"
)

const (
	toolUse      = `{"session_id":"s","hook_event_name":"PostToolUse","tool_response":"<private>secret</private>ok"}`
	sessionStart = `{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}`
)

// patience is how long hooks, and tests, wait for what comes soon on a machine that is not busy.
const patience = time.Minute

// runHook runs a hook of claude-code with no daemon to be found, and with time for all that it does, unless cfg says
// otherwise.
func runHook(tb testing.TB, cfg Config) Result {
	tb.Helper()
	for _, budget := range []*time.Duration{&cfg.Ordinary, &cfg.InputWait, &cfg.DiskWait} {
		if *budget == 0 {
			*budget = patience
		}
	}
	return runTimed(tb, cfg)
}

// runTimed is runHook with the budgets that hooks have in service. It is for bubbles, in which only waiting takes time.
func runTimed(tb testing.TB, cfg Config) Result {
	tb.Helper()
	if cfg.Agent == "" {
		cfg.Agent = "claude-code"
	}
	return runUntilAbandoned(tb.Context(), cfg)
}

// runUntilAbandoned returns what Run does, or what it abandons the payload with.
func runUntilAbandoned(ctx context.Context, cfg Config) Result {
	done := make(chan Result, 2) // one of them is read
	go func() { done <- Run(ctx, cfg, func(r Result) { done <- r }) }()
	return <-done
}

// A daemon is a fake one: it listens on the socket of a home and keeps the requests it could read.
type daemon struct {
	home string

	mu       sync.Mutex // guards what follows
	requests []*http.Request
	bodies   []string
}

// startDaemon serves the home's socket with one function a connection until the test ends.
func startDaemon(tb testing.TB, home string, serve func(*daemon, net.Conn)) *daemon {
	tb.Helper()
	socket := SocketPath(home)
	if err := MakeSocketDir(socket); err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		tb.Fatal(err)
	}
	d := &daemon{home: home}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				serve(d, conn)
			})
		}
	})
	tb.Cleanup(func() { l.Close(); wg.Wait() })
	return d
}

// take reads one request.
func (d *daemon) take(conn io.Reader) {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	body, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = append(d.requests, r)
	d.bodies = append(d.bodies, string(body))
}

// says serves by reading a request and writing an answer.
func says(answer string) func(*daemon, net.Conn) {
	return func(d *daemon, conn net.Conn) {
		d.take(conn)
		io.WriteString(conn, answer)
	}
}

// shortHome is a home whose socket's path fits everywhere.
func shortHome(tb testing.TB) string {
	tb.Helper()
	dir := socket.Dir(tb)
	keyed(tb, dir)
	return dir
}

func TestDaemonBehaviours(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", maxAnswerBody+1)
	drop := func(d *daemon, conn net.Conn) { d.take(conn) }
	hang := func(d *daemon, conn net.Conn) { d.take(conn); io.Copy(io.Discard, conn) }
	trickle := func(d *daemon, conn net.Conn) {
		d.take(conn)
		for _, b := range []byte("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx") {
			if _, err := conn.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for _, c := range []struct {
		name   string
		serve  func(*daemon, net.Conn)
		want   Outcome
		stdout string
	}{
		{"200", says("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}"), Posted, `{"a":1}`},
		{"200, nothing to say", says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), Posted, ""},
		{"200, chunked", says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{\"a\":1}\r\n0\r\n\r\n"), Posted, `{"a":1}`},
		{"200, huge", says("HTTP/1.1 200 OK\r\n\r\n" + huge), Posted, ""},
		{"204", says("HTTP/1.1 204 No Content\r\n\r\n"), Posted, ""},
		{"202 with a body", says("HTTP/1.1 202 Accepted\r\nContent-Length: 1\r\n\r\nx"), Posted, ""},
		{"400", says("HTTP/1.1 400 Bad Request\r\nContent-Length: 1\r\n\r\nx"), Refused, ""},
		{"413", says("HTTP/1.1 413 Too Large\r\n\r\n"), Refused, ""},
		{"500", says("HTTP/1.1 500 Oh\r\nContent-Length: 1\r\n\r\nx"), Refused, ""},
		{"503", says("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 1\r\n\r\nx"), Spooled, ""},
		{"502", says("HTTP/1.1 502 Oh\r\n\r\n"), Spooled, ""},
		{"302", says("HTTP/1.1 302 There\r\nLocation: /x\r\n\r\n"), Spooled, ""},
		{"closes at once", func(*daemon, net.Conn) {}, Spooled, ""},
		{"closes after reading", drop, Spooled, ""},
		{"closes in the head", says("HTTP/1.1 200 OK\r\nCont"), Spooled, ""},
		{"closes in the body", says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), Spooled, ""},
		{"garbage", says("\x00\x01\x02 nonsense\r\n\r\n"), Spooled, ""},
		{"hangs", hang, Spooled, ""},
		{"trickles", trickle, Spooled, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := shortHome(t)
			d := startDaemon(t, home, c.serve)
			var out bytes.Buffer
			budget := patience
			if c.name == "hangs" || c.name == "trickles" {
				budget = 200 * time.Millisecond
			}
			r := runHook(t, Config{
				Home: home, Stdin: strings.NewReader(toolUse), Stdout: &out, Ordinary: budget,
				Start: func(string) error { t.Error("a daemon was started"); return nil },
			})
			if r.Outcome != c.want || out.String() != c.stdout {
				t.Errorf("got %+v, stdout %.50q; want %s, %q", r, out.String(), c.want, c.stdout)
			}
			if n := len(waiting(t, home)); n != 0 != (c.want == Spooled) {
				t.Errorf("%d entries in the spool after %s", n, r.Outcome)
			}
			d.checkRequest(t, r)
		})
	}
}

// checkRequest checks what was posted, if anything was read.
func (d *daemon) checkRequest(t *testing.T, want Result) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.requests) == 0 {
		return
	}
	r := d.requests[0]
	got := []string{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Cmemd-Delivery"), r.Header.Get("Cmemd-Client"), d.bodies[0]}
	if diff := cmp.Diff([]string{"POST", "/v1/hooks/claude-code", "application/json", want.Delivery, "unknown", toolUse}, got); diff != "" {
		t.Errorf("the request: -want +got\n%s", diff)
	}
	at, err := time.Parse(time.RFC3339Nano, r.Header.Get("Cmemd-Occurred-At"))
	if err != nil || time.Since(at) > 2*patience || at.Location() != time.UTC {
		t.Errorf("Cmemd-Occurred-At: %v, %v", at, err)
	}
	if !r.Close {
		t.Error("the connection is to be kept")
	}
}

// waiting are the entries that wait in the spool of a home, in which a key is laid if there is none.
func waiting(tb testing.TB, home string) []spool.Entry {
	tb.Helper()
	s := keyed(tb, home)
	names, err := s.Names()
	if err != nil {
		tb.Fatal(err)
	}
	entries := make([]spool.Entry, len(names))
	for i, name := range names {
		if entries[i], err = s.Read(name); err != nil {
			tb.Fatal(err)
		}
	}
	return entries
}

// keyed is the spool of a home in which a key was laid.
func keyed(tb testing.TB, home string) *spool.Spool {
	tb.Helper()
	if err := spool.LayKey(home, time.Now()); err != nil {
		tb.Fatal(err)
	}
	return spool.New(home)
}

func TestSpooledAsPostedButWithoutPrivateText(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	d := startDaemon(t, home, says("HTTP/1.1 503 Busy\r\n\r\n"))
	r := runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse), Version: "1.2.3+x"})
	for _, e := range waiting(t, home) {
		want := spool.Entry{
			Name: e.Name, Agent: "claude-code", Delivery: r.Delivery, OccurredAt: e.OccurredAt, Cut: true,
			Body: []byte(`{"session_id":"s","hook_event_name":"PostToolUse","tool_response":"ok"}`),
		}
		if diff := cmp.Diff(want, e); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		header := d.requests[0].Header
		if got := header.Get("Cmemd-Occurred-At"); got != e.OccurredAt.Format(time.RFC3339Nano) {
			t.Errorf("posted as of %s, spooled as of %v", got, e.OccurredAt)
		}
		if got := header.Get("Cmemd-Client"); got != "1.2.3+x" {
			t.Errorf("Cmemd-Client: %s", got)
		}
	}
}

func TestNoDaemonAtAll(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(home string) error{
		"no home":       os.RemoveAll,
		"no socket":     func(string) error { return nil },
		"a dead socket": leaveSocket,
		"a file as a socket": func(home string) error {
			return errors.Join(os.Mkdir(filepath.Join(home, "run"), 0o700), os.WriteFile(SocketPath(home), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := shortHome(t)
			if err := prepare(home); err != nil {
				t.Fatal(err)
			}
			starts := 0
			for range 3 {
				r := runHook(t, Config{
					Home: home, Stdin: strings.NewReader(toolUse),
					Start: func(h string) error { starts++; return nil },
				})
				if r.Outcome != Spooled {
					t.Errorf("got %+v, want Spooled", r)
				}
			}
			if n := len(waiting(t, home)); n != 3 || starts != 1 {
				t.Errorf("%d entries, %d starts; want 3, 1", n, starts)
			}
		})
	}
}

// TestAskingIsNotKept: what only asks for memory of a file is no loss, and nothing that waits for the daemon.
func TestAskingIsNotKept(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	asks := strings.Replace(toolUse, `"PostToolUse"`, `"PreToolUse"`, 1)
	if asks == toolUse {
		t.Fatal("the payload names another event")
	}
	r := runHook(t, Config{Home: home, Stdin: strings.NewReader(asks)})
	if r.Outcome != Nothing || r.Err == nil || len(waiting(t, home)) != 0 {
		t.Errorf("got %+v, and %d entries", r, len(waiting(t, home)))
	}
	if u, _ := ReadUnanswered(home); u.Count != 0 || u.Lost != 0 {
		t.Errorf("it is counted: %+v", u)
	}
}

// leaveSocket leaves what a killed daemon leaves.
func leaveSocket(home string) error {
	if err := MakeSocketDir(SocketPath(home)); err != nil {
		return err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: SocketPath(home), Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}

func TestUnusableHome(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	blocked := func(part string) string {
		home := t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, filepath.Dir(part)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, part), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return home
	}
	for name, home := range map[string]string{
		"a file": file, "below a file": filepath.Join(file, "home"), "the spool is a file": blocked("spool"),
		"new is a file": blocked("spool/new"), "tmp is a file": blocked("spool/tmp"), "run is a file": blocked("run"),
	} {
		var out bytes.Buffer
		r := runHook(t, Config{Home: home, Stdin: strings.NewReader(sessionStart), Stdout: &out, Context: 100 * time.Millisecond})
		want := Lost
		if name == "run is a file" {
			want = Spooled
		}
		if r.Outcome != want || out.Len() != 0 {
			t.Errorf("%s: got %+v, stdout %q; want %s", name, r, out.String(), want)
		}
		if u, err := ReadUnanswered(home); strings.HasPrefix(name, "tmp") && (err != nil || u.Lost != 1) {
			t.Errorf("%s: written down %+v, %v; want one loss", name, u, err)
		}
	}
}

// An entry whose name the disk does not confirm is there nevertheless, and is not counted as lost.
func TestUnsyncedIsNotLost(t *testing.T) {
	t.Parallel()
	h := newHook(Config{Agent: "claude-code", Home: t.TempDir()})
	h.spool.Sync = func(string) error { return os.ErrInvalid }
	h.payload = []byte(toolUse)
	cause := errors.New("no daemon")
	name, lost := h.spoolPayload(cause)
	if lost != nil || h.result.Outcome != Spooled || !errors.Is(h.result.Err, spool.ErrUnsynced) || !errors.Is(h.result.Err, cause) {
		t.Errorf("got %v, %+v; want it spooled, and both errors", lost, h.result)
	}
	if all := waiting(t, h.Home); len(all) != 1 || all[0].Name != name {
		t.Errorf("waiting: %v, want %q", all, name)
	}
}

func TestFullSpoolIsCounted(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	fill := filepath.Join(home, "spool", "new", "x")
	if err := os.MkdirAll(filepath.Dir(fill), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fill, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(fill, 256<<20); err != nil {
		t.Fatal(err)
	}
	startDaemon(t, home, says("HTTP/1.1 503 Busy\r\n\r\n"))
	for name, dial := range map[string]func(context.Context) (Stream, error){"no daemon": nobodyListens, "a busy daemon": nil} {
		if r := runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse), Dial: dial}); r.Outcome != Lost || !errors.Is(r.Err, spool.ErrFull) {
			t.Errorf("%s: %+v, want Lost to a full spool", name, r)
		}
	}
	u, err := ReadUnanswered(home)
	if err != nil || u.Lost != 2 || u.LostReason != "the spool is full" {
		t.Errorf("written down %+v, %v; want 2 lost", u, err)
	}
}

func nobodyListens(context.Context) (Stream, error) { return nil, syscall.ENOENT }

func TestWhatIsNoPayload(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"nothing":            {},
		"blank":              {Stdin: strings.NewReader(" \n")},
		"an unreadable pipe": {Stdin: iotest.ErrReader(io.ErrClosedPipe)},
		"a hostile agent":    {Stdin: strings.NewReader(toolUse), Agent: "x HTTP/1.1\r\n"},
		"a climbing agent":   {Stdin: strings.NewReader(toolUse), Agent: ".."},
	} {
		cfg.Home = t.TempDir()
		if r := runHook(t, cfg); r.Outcome != Nothing {
			t.Errorf("%s: got %+v, want Nothing", name, r)
		}
		if left, _ := os.ReadDir(cfg.Home); len(left) != 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

func TestPanicsAreSwallowed(t *testing.T) {
	t.Parallel()
	r := runHook(t, Config{
		Home: t.TempDir(), Stdin: strings.NewReader(toolUse),
		Dial: func(context.Context) (Stream, error) { panic("on purpose") },
	})
	if r.Outcome != Lost || !strings.Contains(fmt.Sprint(r.Err), "on purpose") {
		t.Errorf("got %+v, want a loss by panic", r)
	}
}

func TestClosedStdoutIsSwallowed(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	startDaemon(t, home, says("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))
	_, w := io.Pipe()
	w.CloseWithError(syscall.EPIPE)
	if r := runHook(t, Config{Home: home, Stdin: strings.NewReader(toolUse), Stdout: w}); r.Outcome != Posted {
		t.Errorf("got %+v, want Posted", r)
	}
}

func TestLongPayloads(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxPayload)
	for _, c := range []struct {
		name, payload string
		want          Outcome
		longest       int
	}{
		{"just bearable", `{"hook_event_name":"Stop","x":"` + long[:maxPayload-40] + `"}`, Posted, maxPayload},
		{"a long string", `{"tool_response":{"a":"` + long + `"},"hook_event_name":"Stop"}`, Posted, keepString + 1000},
		{"endlessly many values", "[" + strings.Repeat("1,", maxPayload) + "1]", Lost, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := shortHome(t)
			d := startDaemon(t, home, says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
			r := runHook(t, Config{
				Home: home, Stdin: strings.NewReader(c.payload),
			})
			if r.Outcome != c.want {
				t.Fatalf("got %+v, want %s", r, c.want)
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			if c.want == Posted && (len(d.bodies[0]) > c.longest || r.Event != "Stop" || !json.Valid([]byte(d.bodies[0]))) {
				t.Errorf("posted %d bytes as %q", len(d.bodies[0]), r.Event)
			}
			if u, err := ReadUnanswered(home); err != nil || u.Lost != 0 != (c.want == Lost) {
				t.Errorf("written down %+v, %v", u, err)
			}
		})
	}
}

// TestEarlyRefusal covers a daemon that answers and closes before it has read a long payload.
func TestEarlyRefusal(t *testing.T) {
	t.Parallel()
	home := shortHome(t)
	startDaemon(t, home, func(_ *daemon, conn net.Conn) {
		bufio.NewReader(conn).ReadString('\n')
		io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\n")
		conn.(*net.UnixConn).CloseWrite()
		io.CopyN(io.Discard, conn, 1<<20)
	})
	payload := `{"x":"` + strings.Repeat("x", 8<<20) + `"}`
	if r := runHook(t, Config{Home: home, Stdin: strings.NewReader(payload)}); r.Outcome != Refused {
		t.Errorf("got %+v, want Refused", r)
	}
}
