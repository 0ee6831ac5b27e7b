//go:build unix

package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/programs"
	"github.com/cmemd/cmemd/testkit/socket"
)

const (
	// commandLimit is how long a command may take on a busy machine: the longest wait of any is 30 s.
	commandLimit = 45 * time.Second

	// hookLimit is how long a hook may take on a busy machine: its own limits are 0.3 s, and 3 s for a disk.
	hookLimit = 5 * time.Second

	// outputLimit is how long what a command has printed may take to be read after its end, on a busy machine.
	outputLimit = 15 * time.Second

	// settleLimit is how long a daemon may take to take what waits.
	settleLimit = 40 * time.Second
)

// word is in what is forgotten, and nowhere else.
const word = "wombat"

// A home is a daemon's folder, a person's folder, and what was done there.
type home struct {
	t    *testing.T
	bin  *programs.Set
	dir  string // of all: person, home
	path string // the daemon's

	filled time.Time // when all was recorded that a copy has to know by the same ids; zero: all is

	mu    sync.Mutex // guards the fields below
	sent  []string   // ids of tool uses that a hook was given
	saved []string   // texts that a command was told are saved
}

// newHome makes a home of which nothing is known yet. Its path is short, as that of its socket has to be.
func newHome(t *testing.T, bin *programs.Set) *home {
	t.Helper()
	dir := socket.Dir(t)
	h := &home{t: t, bin: bin, dir: dir, path: filepath.Join(dir, "home")}
	err := errors.Join(os.Mkdir(h.path, 0o700), os.Mkdir(filepath.Join(dir, "person"), 0o700),
		os.WriteFile(filepath.Join(h.path, "config.toml"), []byte("listen = \"\"\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// copyOf is another home with all that is in one that no daemon has.
func (h *home) copyOf(t *testing.T) *home {
	t.Helper()
	c := newHome(t, h.bin)
	c.filled, c.sent, c.saved = h.filled, slices.Clone(h.sent), slices.Clone(h.saved)
	if err := copyTree(h.path, c.path); err != nil {
		t.Fatal(err)
	}
	return c
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case d.Type().IsRegular():
			return copyFile(path, target)
		}
		return nil
	})
}

// copyFile leaves blocks of zeros out: a log is 16 MB of them at first.
func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	const block = 4096
	var zeros [block]byte
	for at := 0; at < len(b) && err == nil; at += block {
		if piece := b[at:min(at+block, len(b))]; !bytes.Equal(piece, zeros[:len(piece)]) {
			_, err = f.WriteAt(piece, int64(at))
		}
	}
	return errors.Join(err, f.Truncate(int64(len(b))), f.Close())
}

// env is what programs are given of an environment.
func (h *home) env() []string {
	return []string{"HOME=" + filepath.Join(h.dir, "person"), "PATH=" + os.Getenv("PATH"), "TZ=UTC"}
}

// ran is what became of a command.
type ran struct {
	command   string // the first word behind the program's name, where it is cmemd
	code      int    // -1: it did not end by itself
	out, errs string
	took      time.Duration
}

func (r ran) String() string {
	return fmt.Sprintf("code %d in %s\n%s%s", r.code, r.took, r.out, r.errs)
}

// run runs a program to its end. One that does not end in time fails the test.
func (h *home) run(limit time.Duration, stdin []byte, path string, args ...string) ran {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, path, args...)
	c.Env, c.Dir, c.WaitDelay = h.env(), filepath.Join(h.dir, "person"), outputLimit
	c.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	began := time.Now()
	err := c.Run()
	r := ran{code: c.ProcessState.ExitCode(), out: out.String(), errs: errs.String(), took: time.Since(began)}
	if ctx.Err() != nil {
		h.t.Errorf("%s %q has not ended after %s", path, args, limit)
	} else if err != nil && c.ProcessState == nil || errors.Is(err, exec.ErrWaitDelay) {
		h.t.Errorf("%s %q: %v", path, args, err)
	}
	return r
}

// cmemd runs a command on the home.
func (h *home) cmemd(args ...string) ran {
	r := h.run(commandLimit, nil, h.bin.Path("cmemd"), append([]string{"--home", h.path}, args...)...)
	r.command = args[0]
	return r
}

// person runs a command on the home as a person does.
func (h *home) person(args ...string) ran {
	r := h.run(commandLimit, nil, h.bin.Path("person"), append([]string{h.bin.Path("cmemd"), "--home", h.path}, args...)...)
	r.command = args[0]
	return r
}

// hook has an agent report. A hook never fails, never takes long, and says nothing that would stop an agent.
func (h *home) hook(payload []byte) {
	r := h.run(hookLimit, payload, h.bin.Hook(), "--home", h.path, "claude-code")
	if r.code != 0 || r.errs != "" {
		h.t.Errorf("a hook failed: %s", r)
	}
}

// use has an agent report that a tool was used, under an id that is remembered.
func (h *home) use(session, id string) {
	h.hook(capturetest.ToolUse(session, id, "make "+id, "built "+id))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, id)
}

// ends has an agent report that it has answered.
func (h *home) ends(session string) {
	h.hook(capturetest.Hook("Stop", session, map[string]any{"stop_hook_active": false, "last_assistant_message": "The cause of " + session + " was the cache."}))
}

// save has text saved; it is remembered if the command says so.
func (h *home) save(text string) ran {
	r := h.cmemd("save", text)
	if r.code == 0 {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.saved = append(h.saved, text)
	}
	return r
}

// forget has all with the word forgotten, as a person.
func (h *home) forget() ran {
	defer h.forgotten()
	return h.person("forget", "--query", word, "--yes")
}

// forgotten takes what has the word out of what has to be there: of a forget that failed it may have gone.
func (h *home) forgotten() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.saved = slices.DeleteFunc(h.saved, func(s string) bool { return strings.Contains(s, word) })
}

// serve is a daemon of the home that is ready.
func (h *home) serve() *exec.Cmd {
	h.t.Helper()
	c := exec.Command(h.bin.Path("cmemd"), "--home", h.path, "serve")
	c.Env = h.env()
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	if err := h.ready(); err != nil {
		h.t.Errorf("a daemon is not ready: %v\n%s%s", err, said.String(), h.said())
	}
	return c
}

// stop has a command end the daemon that c is, in order.
func (h *home) stop(c *exec.Cmd) {
	h.t.Helper()
	if r := h.cmemd("stop"); r.code != 0 {
		h.t.Errorf("stop: %s%s", r, h.said())
	}
	late := time.AfterFunc(commandLimit, func() {
		h.t.Errorf("the daemon has not ended after %s", commandLimit)
		_ = c.Process.Kill()
	})
	defer late.Stop()
	if err := c.Wait(); err != nil {
		h.t.Errorf("the daemon: %v", err)
	}
}

// said is the end of what daemons of the home wrote down.
func (h *home) said() string {
	b, _ := os.ReadFile(filepath.Join(h.path, "logs", "cmemd.log"))
	return string(b[max(0, len(b)-4000):])
}

// ask asks the daemon until it says what is wanted, or the time is over.
func (h *home) ask(limit time.Duration, enough func(ctx context.Context, c *client.Client) error) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := client.Dial(h.path)
	defer c.Close()
	for ctx.Err() == nil {
		if err = enough(ctx, c); err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return err
}

// ready waits until the daemon is.
func (h *home) ready() error {
	return h.ask(settleLimit, func(ctx context.Context, c *client.Client) error {
		r, err := api.ReadyRoute.Call(ctx, c, api.ReadyQuery{Always: true})
		if err == nil && !r.Ready {
			err = errors.New("it is starting")
		}
		return err
	})
}

// settled waits until the daemon has taken what waits, erased what was forgotten, and its views know all of it.
func (h *home) settled() error {
	return h.ask(settleLimit, func(ctx context.Context, c *client.Client) error {
		st, err := api.StatusRoute.Call(ctx, c, api.NoQuery{})
		switch {
		case err != nil:
			return err
		case st.Spool.Waiting > 0:
			return fmt.Errorf("%d payloads wait", st.Spool.Waiting)
		case st.Erasure != nil && st.Erasure.Unfinished:
			return errors.New("something is being erased")
		}
		for _, v := range st.Views {
			if v.Lag > 0 {
				return fmt.Errorf("view %s is %d records behind", v.Name, v.Lag)
			}
		}
		return nil
	})
}

// sound has a daemon without faults take what is left, and holds the home to what must be true of it then.
func (h *home) sound() {
	h.t.Helper()
	h.age()
	c := h.serve()
	if err := h.settled(); err != nil {
		h.t.Errorf("a daemon does not come to rest: %v\n%s", err, h.said())
	}
	h.stop(c)
	h.wellKept()
	h.once()
}

// age lets an hour go by for what is there for a moment only, so that the next daemon removes what was left of it.
func (h *home) age() {
	then := time.Now().Add(-time.Hour)
	for _, path := range h.filesOf(func(inside string) bool {
		return strings.Contains(inside, durable.NewPrefix) || strings.HasPrefix(inside, "spool/tmp/")
	}) {
		if err := os.Chtimes(path, then, then); err != nil {
			h.t.Error(err)
		}
	}
}

// invariants are the checks of doctor that the suite holds homes to.
var invariants = []string{"records", "balance", "rebuilt", "ahead", "forgotten", "entries", "token", "modes", "leftovers", "log", "spool", "home", "settings"}

// A finding is a check of doctor that is not well.
type finding struct{ check, state, says string }

func (f finding) String() string { return fmt.Sprintf("%s: %s: %s", f.check, f.state, f.says) }

// deep is what doctor says of a home: by check, all but what is well.
func (h *home) deep() (unwell []finding, looked int) {
	r := h.cmemd("doctor", "--deep", "--json")
	var found struct {
		Checks []struct{ Name, State, Says string } `json:"checks"`
	}
	if err := json.Unmarshal([]byte(r.out), &found); err != nil {
		return []finding{{"doctor", err.Error(), r.String()}}, 0
	}
	for _, c := range found.Checks {
		if slices.Contains(invariants, c.Name) {
			looked++
			if c.State != "ok" {
				unwell = append(unwell, finding{c.Name, c.State, c.Says})
			}
		}
	}
	return unwell, looked
}

// wellKept holds a home that no daemon has to its invariants.
func (h *home) wellKept() {
	h.t.Helper()
	unwell, looked := h.deep()
	if len(unwell) > 0 || looked < len(invariants) {
		h.t.Errorf("doctor looked at %d things and finds:\n%v", looked, unwell)
	}
}

// once holds that what hooks were given and commands were told is in the log, each once. What hooks counted as lost may be missing.
func (h *home) once() {
	h.t.Helper()
	uses, saved, err := h.recorded()
	if err != nil {
		h.t.Errorf("read the log: %v", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var missing []string
	for _, id := range h.sent {
		if uses[id] == 0 {
			missing = append(missing, id)
		} else if uses[id] > 1 {
			h.t.Errorf("%s is in the log %d times", id, uses[id])
		}
	}
	u, err := relay.ReadUnanswered(h.path)
	if len(missing) > u.Lost {
		h.t.Errorf("%q are not in the log; %d are counted as lost (%s), %v", missing, u.Lost, u.LostReason, err)
	}
	for _, text := range h.saved {
		if saved[text] != 1 {
			h.t.Errorf("%q is in the log %d times", text, saved[text])
		}
	}
}

// recorded is recordedIn of the home's log.
func (h *home) recorded() (uses, saved map[string]int, err error) {
	return recordedIn(filepath.Join(h.path, "log.db"))
}

// recordedIn counts the tool uses, by id, and the saved texts of a log.
func recordedIn(path string) (uses, saved map[string]int, err error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, nil, errors.Join(fmt.Errorf("%s is no file", path), err)
	}
	uses, saved = map[string]int{}, map[string]int{}
	log, err := eventlog.OpenReadOnly(path, eventlog.Config{})
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	for r, err := range log.All(context.Background(), 1) {
		if err != nil {
			return nil, nil, err
		}
		if r.Erased {
			continue
		}
		e, err := r.Event()
		if err != nil {
			return nil, nil, err
		}
		switch e := e.(type) {
		case events.ToolUsed:
			uses[e.ToolUseID]++
		case events.MemorySaved:
			saved[e.Text]++
		}
	}
	return uses, saved, nil
}

// nowhere holds that no file of the home has the word.
func (h *home) nowhere(when string) {
	h.t.Helper()
	err := filepath.WalkDir(h.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // what goes meanwhile
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		if err == nil && bytes.Contains(b, []byte(word)) {
			h.t.Errorf("%s: %s holds what was forgotten", when, path)
		}
		return nil
	})
	if err != nil {
		h.t.Error(err)
	}
}

// filled makes a home in which something happened, which no daemon has.
func filled(t *testing.T, bin *programs.Set) *home {
	t.Helper()
	h := newHome(t, bin)
	c := h.serve()
	for s := range 2 {
		for n := range 5 {
			h.use(fmt.Sprint("s", s), fmt.Sprintf("filled_%d_%d", s, n))
		}
		h.ends(fmt.Sprint("s", s))
	}
	for _, text := range []string{"the first cellar is dry", "the second cellar has a " + word, "the third cellar is locked"} {
		if r := h.save(text); r.code != 0 {
			t.Fatalf("save: %s", r)
		}
	}
	if err := h.settled(); err != nil {
		t.Fatal(err)
	}
	h.stop(c)
	return h
}
