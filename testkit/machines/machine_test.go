//go:build unix

package machines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/programs"
)

const (
	// commandLimit is how long a command may take on a busy machine: joining waits for two minutes at most.
	commandLimit = 2 * time.Minute

	// hookLimit is how long a hook may take before it is ended: its own limits are 0.3 s, and 3 s for a disk.
	hookLimit = 10 * time.Second

	// lookEvery is the time between two looks at a daemon.
	lookEvery = 20 * time.Millisecond
)

// machine is a home with a daemon of its own, and what its agents and its person were told is kept.
type machine struct {
	t      *testing.T
	bin    *programs.Set
	name   string
	dir    string // of all: person, home
	path   string // the daemon's
	client *client.Client
	hooks  *times
	joined bool
	cmd    *exec.Cmd     // the daemon; nil: it is off
	begins time.Duration // how long that may take to be ready

	mu      sync.Mutex // guards the fields below
	session string     // that reports now
	sent    []string   // ids of tool uses of which a hook was done
	saved   []string   // ids of memories that were answered
}

// newMachine makes a home whose daemon is on. Its path is short, as that of its socket has to be.
func newMachine(t *testing.T, bin *programs.Set, name string) *machine {
	t.Helper()
	m := homeOf(t, bin, name)
	must(t, errors.Join(os.Mkdir(m.path, 0o700), os.WriteFile(filepath.Join(m.path, "config.toml"), []byte("listen = \"\"\n"), 0o600)))
	m.start()
	return m
}

// homeOf is a machine that has no home yet.
func homeOf(t *testing.T, bin *programs.Set, name string) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "m")
	must(t, err)
	m := &machine{t: t, bin: bin, name: name, dir: dir, path: filepath.Join(dir, "home"), hooks: &times{}, session: name + "-0", begins: time.Minute}
	m.client = client.Dial(m.path)
	must(t, os.Mkdir(filepath.Join(dir, "person"), 0o700))
	t.Cleanup(func() {
		m.client.Close()
		m.kill()
		_ = os.RemoveAll(dir)
	})
	return m
}

func (m *machine) env() []string {
	return []string{"HOME=" + filepath.Join(m.dir, "person"), "PATH=" + os.Getenv("PATH"), "TZ=UTC"}
}

// start starts the daemon, and returns when it is ready.
func (m *machine) start() {
	m.t.Helper()
	c := exec.Command(m.bin.Path("cmemd"), "--home", m.path, "serve")
	c.Env = m.env()
	var said bytes.Buffer
	c.Stderr = &said
	must(m.t, c.Start())
	m.cmd = c
	err := within(m.begins, func() error {
		r, err := api.ReadyRoute.Call(m.t.Context(), m.client, api.ReadyQuery{Always: true})
		if err == nil && !r.Ready {
			err = errors.New("it is starting")
		}
		return err
	})
	if err != nil {
		m.t.Fatalf("%s: the daemon is not ready: %v\n%s", m.name, err, m.log())
	}
}

// kill ends the daemon as the loss of power does.
func (m *machine) kill() {
	if m.cmd == nil {
		return
	}
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait() // that it was killed
	m.cmd = nil
	m.client.Close()
}

// stop ends the daemon in order.
func (m *machine) stop() {
	m.t.Helper()
	m.cmemd("stop")
	if err := m.cmd.Wait(); err != nil {
		m.t.Errorf("%s: the daemon: %v", m.name, err)
	}
	m.cmd = nil
	m.client.Close()
}

// log is the end of what the daemon wrote down.
func (m *machine) log() string {
	b, _ := os.ReadFile(filepath.Join(m.path, "logs", "cmemd.log")) // for a failure's message
	return string(b[max(0, len(b)-4000):])
}

// command is a command on the home, as some program runs it.
func (m *machine) command(program string, args ...string) (stdout string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Env, c.Dir = m.env(), filepath.Join(m.dir, "person")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %q: %w\n%s%s", m.name, args, err, out.String(), errs.String())
	}
	return out.String(), nil
}

// cmemd runs a command on the home as an agent does.
func (m *machine) cmemd(args ...string) string {
	m.t.Helper()
	out, err := m.command(m.bin.Path("cmemd"), append([]string{"--home", m.path}, args...)...)
	must(m.t, err)
	return out
}

// saidOfAll is what status says of the machines, which ends with 1 where something is wrong.
func (m *machine) saidOfAll() string {
	m.t.Helper()
	out, err := m.command(m.bin.Path("cmemd"), "--home", m.path, "status", "--cluster")
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		must(m.t, err)
	}
	return out
}

// person runs a command on the home as a person does.
func (m *machine) person(args ...string) string {
	m.t.Helper()
	out, err := m.command(m.bin.Path("person"), append([]string{m.bin.Path("cmemd"), "--home", m.path}, args...)...)
	must(m.t, err)
	return out
}

// join has the machine join, and returns a code for the next one where it made a space.
func (m *machine) join(where ...string) (code string) {
	m.t.Helper()
	var said api.ClusterJoined
	out := m.person(append([]string{"join", "--json", "--name", m.name}, where...)...)
	must(m.t, json.Unmarshal([]byte(out), &said))
	m.joined = true
	if said.Invitation != nil {
		code = said.Invitation.Code
	}
	return code
}

// hook has an agent report by the real program, which never fails, and says nothing on standard error.
func (m *machine) hook(payload []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), hookLimit)
	defer cancel()
	c := exec.CommandContext(ctx, m.bin.Hook(), "--home", m.path, "claude-code")
	c.Env, c.Dir, c.Stdin = m.env(), filepath.Join(m.dir, "person"), bytes.NewReader(payload)
	var errs bytes.Buffer
	c.Stderr = &errs
	began := time.Now()
	err := c.Run()
	took := time.Since(began)
	if err != nil || errs.Len() > 0 {
		m.t.Errorf("%s: a hook failed: %v %s", m.name, err, errs.String())
	}
	m.hooks.add(m.joined, took)
	allHooks.add(m.joined, took)
}

// use has an agent report that a tool was used.
func (m *machine) use(output string) {
	id := "toolu_" + uuid.NewString()
	m.mu.Lock()
	session := m.session
	m.mu.Unlock()
	m.hook(capturetest.ToolUse(session, id, "make "+id, output))
	m.acknowledged(id)
}

func (m *machine) acknowledged(ids ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, ids...)
}

// ends has an agent report that it has answered; the next report is of another session.
func (m *machine) ends() {
	m.mu.Lock()
	session := m.session
	m.session = m.name + "-" + uuid.NewString()
	m.mu.Unlock()
	m.hook(stopOf(session))
}

// stopOf is what an agent reports that has answered.
func stopOf(session string) []byte {
	return capturetest.Hook("Stop", session, map[string]any{
		"stop_hook_active": false, "last_assistant_message": "Found that the cause in " + session + " was the cache, and fixed it.",
	})
}

// save has a memory saved. It is remembered if the daemon says so.
func (m *machine) save(text string) error {
	ctx, cancel := context.WithTimeout(m.t.Context(), hookLimit)
	defer cancel()
	s, err := api.SaveRoute.Call(ctx, m.client, api.Memory{Project: "shop", Text: text})
	if err == nil {
		m.mu.Lock()
		m.saved = append(m.saved, s.ID.String())
		m.mu.Unlock()
	}
	return err
}

// mustSave is save of what must be saved.
func (m *machine) mustSave(text string) {
	m.t.Helper()
	must(m.t, m.save(text))
}

// report has one thing reported, the i-th of a load.
func (m *machine) report(i int) {
	switch i % 12 {
	case 5:
		_ = m.save(fmt.Sprintf("The %s of %s is number %d, and its key is %s", [...]string{"bridge", "tower", "cellar"}[i%3], m.name, i, uuid.NewString())) // a daemon may be off
	case 11:
		m.ends()
	default:
		m.use(fmt.Sprintf("built number %d", i))
	}
}

// post has tool uses of some bytes reported as fast as the daemon takes them, without the program, in sessions that then end.
func (m *machine) post(n, bytes int) {
	m.t.Helper()
	var posting sync.WaitGroup
	const posters = 8
	for p := range posters {
		posting.Go(func() {
			session := fmt.Sprintf("%s-posts-%d", m.name, p)
			for range n / posters {
				id := "toolu_" + uuid.NewString()
				payload := capturetest.ToolUse(session, id, "make "+id, words(bytes))
				if _, err := m.client.Hook(m.t.Context(), "claude-code", payload, uuid.Must(uuid.NewV7()), time.Now()); err != nil {
					m.t.Errorf("%s: post: %v", m.name, err)
					return
				}
				m.acknowledged(id)
			}
			if _, err := m.client.Hook(m.t.Context(), "claude-code", stopOf(session), uuid.Must(uuid.NewV7()), time.Now()); err != nil {
				m.t.Errorf("%s: post: %v", m.name, err)
			}
		})
	}
	posting.Wait()
}

// words are about n bytes that no compression shortens much.
func words(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(uuid.NewString()[:8] + " ")
	}
	return b.String()
}

// cluster is how the machine says that all machines are.
func (m *machine) cluster() (api.Cluster, error) {
	c, err := api.ClusterRoute.Call(m.t.Context(), m.client, api.NoQuery{})
	if err == nil && c.Status == nil {
		err = fmt.Errorf("%s shares nothing: %s", m.name, c.Problem)
	}
	return c, err
}

// finds is how many rows a search finds.
func (m *machine) finds(text string) int {
	r, err := api.SearchRoute.Call(m.t.Context(), m.client, api.SearchQuery{Text: text, Limit: 100})
	if err != nil {
		return -1
	}
	return len(slices.Compact(slices.Collect(func(yield func(events.ID) bool) {
		for _, row := range r.Results {
			if !yield(row.ID) {
				return
			}
		}
	})))
}

// flush returns once all is in the store.
func (m *machine) flush() {
	m.t.Helper()
	m.cmemd("flush", "--wait", "60s")
}

// within calls ok until it returns nil, for so long at most, and returns its last error.
func within(limit time.Duration, ok func() error) (err error) {
	for until := time.Now().Add(limit); ; time.Sleep(lookEvery) {
		if err = ok(); err == nil || time.Now().After(until) {
			return err
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
