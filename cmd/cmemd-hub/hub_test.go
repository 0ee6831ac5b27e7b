package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/eventlog/share/store/jet"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// The variables say what this test's program is, where it is no test: a hub, or a writer to an address, which is named by its argument.
const (
	isHub    = "HUB_TEST_IS_HUB"
	writerOf = "HUB_TEST_WRITER_OF"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(isHub) != "":
		main()
	case os.Getenv(writerOf) != "":
		s, err := jet.Open(os.Getenv(writerOf), jet.Config{})
		if err == nil {
			err = storetest.Writer(context.Background(), s, os.Args[1], os.Stdout)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	default:
		os.Exit(m.Run())
	}
}

// startHub starts a hub in this process on loopback, and stops it with the test unless it was stopped.
func startHub(t testing.TB, dir, listen string) *hub {
	t.Helper()
	h, err := start(config{dir: dir, listen: listen}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.server.Shutdown()
		h.server.WaitForShutdown()
		_ = h.lock.Close()
	})
	return h
}

// through is the address of a hub by another host and port.
func through(t testing.TB, address, hostPort string) string {
	t.Helper()
	all, err := jet.ParseAddresses(address)
	if err != nil {
		t.Fatal(err)
	}
	all[0].URL.Host = hostPort
	return all[0].String()
}

func openJet(t testing.TB, address string) *jet.Jet {
	t.Helper()
	s, err := jet.Open(address, jet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	place := func(t testing.TB) storetest.Place {
		dir := filepath.Join(t.TempDir(), "hub")
		h := startHub(t, dir, "127.0.0.1:0")
		address, listen := h.joining.Address, h.joining.Listen
		p := storetest.NewProxy(t, listen)
		return storetest.Place{
			Open:   func(t testing.TB) store.Store { return openJet(t, through(t, address, p.Addr())) },
			Steady: func(t testing.TB) store.Store { return openJet(t, address) },
			Fault:  p.Set,
			Restart: func(t testing.TB) {
				if err := h.stop(); err != nil {
					t.Fatal(err)
				}
				if h = startHub(t, dir, listen); h.joining.Address != address {
					t.Errorf("after a restart the hub is at %s, was at %s", h.joining.Address, address)
				}
			},
		}
	}
	storetest.Run(t, place)
	storetest.RunConnected(t, place)
	storetest.RunDurable(t, place)
}

// process is a hub that runs as a program.
type process struct {
	cmd     *exec.Cmd
	joining joining
	stderr  bytes.Buffer
}

func startProcess(t testing.TB, dir, listen string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], "--dir", dir, "--listen", listen, "--json")}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), isHub+"=1"), &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &p.joining)
	}
	if err != nil {
		t.Fatalf("%q, %v\n%s", line, errors.Join(err, p.cmd.Wait()), &p.stderr)
	}
	return p
}

// TestWriterKilled kills a machine that writes.
func TestWriterKilled(t *testing.T) {
	t.Parallel()
	h := startHub(t, filepath.Join(t.TempDir(), "hub"), "127.0.0.1:0")
	place := storetest.Place{Open: func(t testing.TB) store.Store { return openJet(t, h.joining.Address) }}
	storetest.RunKilled(t, place, func(name string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], name)
		cmd.Env = append(os.Environ(), writerOf+"="+h.joining.Address)
		return cmd
	})
}

// TestHubKilled kills a hub with -9 while four machines write to it, and starts it again, three times: nothing that was answered is
// missing, nothing is there twice or half, a watch tells of all of it, and the machines go on by themselves. At last it is stopped in
// order.
func TestHubKilled(t *testing.T) {
	t.Parallel()
	const machines, rounds = 4, 3
	dir := filepath.Join(t.TempDir(), "hub")
	p := startProcess(t, dir, "127.0.0.1:0")
	address, listen := p.joining.Address, p.joining.Listen
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	s := openJet(t, address)
	t.Cleanup(func() { _ = s.Close() })
	told := watchAll(t, ctx, s, "kill/")
	w := newWriters(t, ctx, func() *jet.Jet { return openJet(t, address) }, machines)
	for range rounds {
		w.await(t, ctx, 200)
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = p.cmd.Wait()
		p = startProcess(t, dir, listen)
		if p.joining.Address != address {
			t.Fatalf("the hub is at %s, was at %s", p.joining.Address, address)
		}
	}
	w.await(t, ctx, 200)
	w.stop()
	w.ledger.Check(ctx, t, s)
	created := w.ledger.Created()
	for missing := len(created); missing > 0; {
		select {
		case key := <-told:
			if i := slices.Index(created, key); i >= 0 {
				created[i], missing = "", missing-1
			}
		case <-ctx.Done():
			t.Fatalf("the watch did not tell of %d of %d objects", missing, len(created))
		}
	}
	t.Logf("%d objects, %d kills", len(created), rounds)
	if err := errors.Join(p.cmd.Process.Signal(syscall.SIGTERM), p.cmd.Wait()); err != nil {
		t.Errorf("stopped in order: %v\n%s", err, &p.stderr)
	}
}

// watchAll sends each key that a watch tells of.
func watchAll(t *testing.T, ctx context.Context, s store.Store, prefix string) <-chan store.Key {
	told, done := make(chan store.Key, 1_000_000), make(chan struct{})
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(done)
		for e, err := range s.Watch(ctx, prefix) {
			if err != nil {
				t.Errorf("watch: %v", err)
			}
			told <- e.Key
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return told
}

// writers are machines of one process that write until they are stopped.
type writers struct {
	ledger storetest.Ledger
	lines  chan struct{}
	end    context.CancelFunc
	wg     sync.WaitGroup
}

func newWriters(t *testing.T, ctx context.Context, open func() *jet.Jet, n int) *writers {
	ctx, end := context.WithCancel(ctx)
	w := &writers{lines: make(chan struct{}, 1_000_000), end: end}
	read, write := io.Pipe()
	var running sync.WaitGroup
	for i := range n {
		s := open()
		running.Go(func() {
			if err := storetest.Writer(ctx, s, fmt.Sprint("m", i), write); err != nil && ctx.Err() == nil {
				t.Errorf("machine %d: %v", i, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	w.wg.Go(func() {
		running.Wait()
		_ = write.Close()
	})
	w.wg.Go(func() {
		if err := w.ledger.Read(read, func(int) { w.lines <- struct{}{} }); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.stop)
	return w
}

// await returns when so many more answers came.
func (w *writers) await(t *testing.T, ctx context.Context, answers int) {
	t.Helper()
	for range answers {
		select {
		case <-w.lines:
		case <-ctx.Done():
			t.Fatal("the machines no longer get answers")
		}
	}
}

func (w *writers) stop() {
	w.end()
	w.wg.Wait()
}

// TestEntry: only who has the token comes in, only to the hub that was pinned, and never in the clear.
func TestEntry(t *testing.T) {
	t.Parallel()
	h, other := startHub(t, filepath.Join(t.TempDir(), "hub"), "127.0.0.1:0"), startHub(t, filepath.Join(t.TempDir(), "hub"), "127.0.0.1:0")
	all, err := jet.ParseAddresses(h.joining.Address)
	if err != nil {
		t.Fatal(err)
	}
	good := all[0]
	wrongToken, noToken, wrongPin, clear := good, good, good, good
	wrongToken.URL.User = url.User(strings.Repeat("A", minToken))
	noToken.URL.User = nil
	wrongPin.URL.Host = other.joining.Listen
	clear.Pin = nil
	for name, tc := range map[string]struct {
		address jet.Address
		want    error
		text    string
	}{
		"wrong token": {wrongToken, jet.ErrRefused, "the server refuses this machine"},
		"no token":    {noToken, jet.ErrRefused, "the server refuses this machine"},
		"other hub":   {wrongPin, nil, "another certificate"},
		"in clear":    {clear, nil, "no connection"}, // nats.go turns to TLS as the server demands, and trusts no such certificate
	} {
		s := openJet(t, tc.address.String())
		_, _, err := s.Get(t.Context(), "s/a")
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) ||
			strings.Contains(err.Error(), good.URL.User.Username()) {
			t.Errorf("%s: %v", name, err)
		}
		if name != "in clear" && transient.Is(err) {
			t.Errorf("%s: it will not pass: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	s := openJet(t, good.String())
	defer s.Close()
	if _, _, err := s.Get(t.Context(), "s/a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("with the address: %v", err)
	}
	conn, err := net.Dial("tcp", h.joining.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("CONNECT {\"auth_token\":\"" + good.URL.User.Username() + "\"}\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	said, err := io.ReadAll(conn)
	if err != nil || bytes.Contains(said, []byte("PONG")) {
		t.Errorf("who spoke in the clear was told %q, %v", said, err)
	}
}

// TestFolder: what a hub keeps is its own, and one folder has one hub.
func TestFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub")
	h := startHub(t, dir, "127.0.0.1:0")
	for _, name := range []string{pemName, tokenName, lockName} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	wantErr := func(what, dir, text string) {
		t.Helper()
		var out bytes.Buffer
		err := run(t.Context(), []string{"--dir", dir, "--listen", "127.0.0.1:0"}, &out, io.Discard)
		if err == nil || !strings.Contains(err.Error(), text) || out.Len() > 0 {
			t.Errorf("%s: %v, %q", what, err, out.String())
		}
	}
	wantErr("twice", dir, "another hub runs in "+dir)
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, tokenName)
	for what, tc := range map[string]struct{ name, content, text string }{
		"a short token": {tokenName, "secret\n", path + " is shorter than 26 letters: delete it"},
		"no key":        {pemName, "words\n", "hub.pem holds no key and certificate"},
	} {
		kept, err := os.ReadFile(filepath.Join(dir, tc.name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, tc.name), []byte(tc.content), 0o600); err != nil {
			t.Fatal(err)
		}
		wantErr(what, dir, tc.text)
		if err := os.WriteFile(filepath.Join(dir, tc.name), kept, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	wantErr("others' rights", dir, "others may write there")
}

// TestRefusedHub: one whose address is taken makes no folder.
func TestRefusedHub(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := filepath.Join(t.TempDir(), "hub")
	if h, err := start(config{dir: dir, listen: l.Addr().String()}, t.Output()); err == nil {
		t.Errorf("a second one listens, stopped with %v", h.stop())
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its folder: %v", err)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "say with --dir"},
		{[]string{"--dir", "x", "more"}, `"more" is too much`},
		{[]string{"--dir", "x", "--listen", "4222"}, `--listen "4222" is not HOST:PORT`},
		{[]string{"--dir", "x", "--listen", ":70000"}, "is not HOST:PORT"},
		{[]string{"--port", "1"}, "not defined"},
		{[]string{"--dir", "x", "--dev", "2"}, "--dev 2: it is 3"},
		{[]string{"--dir", "x", "--dev", "3", "--advertise", "desk"}, "those of --dev are on loopback"},
		{[]string{"--dir", "x", "--dev", "3", "--listen", "192.168.1.5:4222"}, "on loopback alone"},
		{[]string{"--dir", "x", "--dev", "3", "--listen", "127.0.0.1:65534"}, "no 3 ports that follow each other"},
	} {
		err := run(t.Context(), tc.args, io.Discard, io.Discard)
		if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v", tc.args, err)
		}
	}
}

// TestJoining: the line names the hosts that were given, or the one that is listened on.
func TestJoining(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var plain, asJSON bytes.Buffer
	dir := filepath.Join(t.TempDir(), "hub")
	args := []string{"--dir", dir, "--listen", "127.0.0.1:0"}
	err := run(ctx, args, &plain, t.Output())
	if err = errors.Join(err, run(ctx, append(args, "--json", "--advertise", "desk, ::1"), &asJSON, t.Output())); err != nil {
		t.Fatal(err)
	}
	var j joining
	if err := json.Unmarshal(asJSON.Bytes(), &j); err != nil || j.Dir != dir || len(j.Pin) != 64 {
		t.Fatalf("%s: %v", &asJSON, err)
	}
	all, err := jet.ParseAddresses(j.Address)
	if err != nil || len(all) != 2 || all[0].URL.Hostname() != "desk" || all[1].URL.Hostname() != "::1" ||
		fmt.Sprintf("%x", all[1].Pin) != j.Pin {
		t.Errorf("%v, %v", all, err)
	}
	for _, want := range []string{"cmemd join 'nats://", "@127.0.0.1:", "?pin=" + j.Pin} {
		if !strings.Contains(plain.String(), want) {
			t.Errorf("%q has no %q", plain.String(), want)
		}
	}
}
