//go:build unix

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/crash"
)

// An operation is something that is done to a home while calls of one program fail.
type operation struct {
	name string

	// args run the traced program; none means a daemon.
	args    func(h *home) []string
	stdin   []byte
	prepare func(h *home) // before the program starts

	// act is done to a daemon while its calls fail, after it was ready. Without it they fail from its start on.
	act func(h *home)

	// check looks at what is left, while nothing fails any more and no daemon runs. code is the program's exit code.
	check func(h *home, code int)
	below func(h *home) string // whose calls count; nil means those of the home
}

// operations are what is tried, by the names of docs/faults.md.
func operations() []operation {
	return []operation{
		{name: "append", act: func(h *home) { report(h, "append", 4); h.save("a fourth cellar was found") }},
		{name: "forget", act: func(h *home) {
			if r := h.forget(); r.code == 0 {
				h.nowhere("forgotten")
			}
		}, check: forgetsAgain},
		{name: "views", act: func(h *home) { h.cmemd("projections", "rebuild", "sessions", "prompts"); report(h, "views", 2) }},
		{name: "index", act: func(h *home) { h.cmemd("projections", "rebuild", "index"); h.save("a fifth cellar was found") }},
		{name: "start", prepare: func(h *home) { report(h, "start", 3) }},
		{name: "first start", prepare: func(h *home) { h.empty(); report(h, "first", 2) }},
		{name: "spool", args: func(h *home) []string { return []string{h.bin.Hook(), "--home", h.path, "claude-code"} },
			stdin: capturetest.ToolUse("s0", "spooled", "make spooled", "ok"), check: spooled},
		{name: "backup", args: func(h *home) []string { return command("log", "backup", filepath.Join(personsFolder(h), "copy.db"))(h) }, below: personsFolder, check: backedUp},
		{name: "salvage", args: func(h *home) []string {
			return command("log", "salvage", "--out", filepath.Join(personsFolder(h), "copy.db"))(h)
		},
			below: personsFolder, check: backedUp},
		{name: "install", args: command("install", "claude-code", "--yes"), below: personsFolder, prepare: agentThere, check: installed},
		{name: "config", args: command("config", "set", "idle_stop", "10m"), check: configured},
		{name: "token", act: func(h *home) { h.cmemd("token", "rotate") }},
	}
}

func command(args ...string) func(h *home) []string {
	return func(h *home) []string { return append([]string{h.bin.Path("cmemd"), "--home", h.path}, args...) }
}

func personsFolder(h *home) string { return filepath.Join(h.dir, "person") }

// report has two agents use tools, and end.
func report(h *home, name string, n int) {
	var both sync.WaitGroup
	for s := range 2 {
		both.Go(func() {
			for i := range n {
				h.use(fmt.Sprint("s", s), fmt.Sprintf("%s_%d_%d", name, s, i))
			}
			h.ends(fmt.Sprint("s", s))
		})
	}
	both.Wait()
}

// empty makes h a home of which nothing is known.
func (h *home) empty() {
	settings, err := os.ReadFile(filepath.Join(h.path, "config.toml"))
	if err == nil {
		err = os.RemoveAll(h.path)
	}
	if err == nil {
		err = os.Mkdir(h.path, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(h.path, "config.toml"), settings, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.sent, h.saved = nil, nil
}

func forgetsAgain(h *home, _ int) {
	c := h.serve()
	if err := h.settled(); err != nil {
		h.t.Errorf("after a forget: %v\n%s", err, h.said())
	}
	if r := h.forget(); r.code != 0 && !strings.Contains(r.errs, "nothing that could be forgotten") {
		h.t.Errorf("forget, without faults: %s", r)
	}
	h.forgotten()
	h.stop(c)
	h.nowhere("forgotten, without faults")
}

// spooled: a hook ends well, and what it was given is kept or counted.
func spooled(h *home, code int) {
	if code != 0 {
		h.t.Errorf("a hook ended with %d", code)
	}
	h.sent = append(h.sent, "spooled")
}

// backedUp: there is a whole copy, or none.
func backedUp(h *home, code int) {
	path := filepath.Join(personsFolder(h), "copy.db")
	_, err := os.Stat(path)
	if there := err == nil; there != (code == 0) {
		h.t.Errorf("a copy ended with %d, and there is one: %v", code, there)
		return
	}
	if code != 0 {
		return
	}
	c := newHome(h.t, h.bin)
	if err := os.Rename(path, filepath.Join(c.path, "log.db")); err != nil {
		h.t.Fatal(err)
	}
	if r := c.cmemd("log", "verify"); r.code != 0 {
		h.t.Errorf("the copy: %s", r)
	}
}

func agentThere(h *home) {
	dir := filepath.Join(personsFolder(h), ".claude")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(settings), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

const settings = "{\n  \"model\": \"opus\"\n}\n"

// installed: the agent's settings are as they were, or whole; a second try brings them there, and an uninstall back.
func installed(h *home, code int) {
	path := filepath.Join(personsFolder(h), ".claude", "settings.json")
	b, err := os.ReadFile(path)
	if err != nil || code == 0 && !strings.Contains(string(b), "cmemd-hook") || !strings.HasSuffix(string(b), "}\n") || !strings.Contains(string(b), "opus") {
		h.t.Errorf("install ended with %d and left %q, %v", code, b, err)
	}
	if r := h.cmemd("install", "claude-code", "--yes"); r.code != 0 {
		h.t.Errorf("install, without faults: %s", r)
	}
	if r := h.cmemd("uninstall", "claude-code", "--yes"); r.code != 0 {
		h.t.Errorf("uninstall: %s", r)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != settings {
		h.t.Errorf("uninstall left %q, %v", b, err)
	}
}

// configured: the settings are the old ones or the new ones.
func configured(h *home, code int) {
	b, err := os.ReadFile(filepath.Join(h.path, "config.toml"))
	set := strings.Contains(string(b), "idle_stop = \"10m")
	if err != nil || !strings.Contains(string(b), "listen = \"\"") || code == 0 && !set {
		h.t.Errorf("config set ended with %d and left %q, %v", code, b, err)
	}
}

// errnos are what calls of a kind fail with.
func errnos(kind string) []syscall.Errno {
	switch kind {
	case "create":
		return []syscall.Errno{syscall.EMFILE, syscall.ENOSPC, syscall.EROFS, syscall.EIO}
	case "map":
		return []syscall.Errno{syscall.ENOMEM}
	case "rename", "remove", "mkdir", "link":
		return []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EROFS}
	}
	return []syscall.Errno{syscall.EIO, syscall.ENOSPC}
}

// faultsOf are all faults that calls, as they were counted once, may meet, those first that meet each name once.
func faultsOf(calls []string, random *rand.Rand) []crash.Fault {
	var faults []crash.Fault
	seen := map[string]int{}
	for _, name := range calls {
		kind, _, _ := strings.Cut(name, " ")
		for _, e := range errnos(kind) {
			faults = append(faults, crash.Fault{Call: name, Nth: seen[name], Errno: e})
		}
		if kind == "write" || kind == "pwrite" {
			faults = append(faults, crash.Fault{Call: name, Nth: seen[name], Short: true})
		}
		seen[name]++
	}
	for n := range min(len(calls), 8) {
		faults = append(faults, crash.Fault{Full: true, Nth: n * len(calls) / 8})
	}
	random.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	met := map[string]int{}
	round := map[crash.Fault]int{}
	for _, f := range faults {
		round[f] = met[f.Call]
		met[f.Call]++
	}
	slices.SortStableFunc(faults, func(a, b crash.Fault) int { return round[a] - round[b] })
	return faults
}

// TestCalls has calls of each operation fail, one in each trial.
func TestCalls(t *testing.T) {
	bin := suite(t)
	random := seed(t)
	from := filled(t, bin)
	ops := slices.DeleteFunc(operations(), func(op operation) bool { return *only != "" && op.name != *only })
	calls := make([][]string, len(ops))
	atOnce(t, len(ops), func() bool { return true }, 0, func(t *testing.T, i int) {
		calls[i] = from.copyOf(t).try(ops[i], crash.Fault{})
	}, func(i int) string { return ops[i].name + "/without faults" })
	if t.Failed() {
		t.Fatal("an operation fails without faults")
	}
	var plans []trial
	for i, op := range ops {
		faults := faultsOf(calls[i], random)
		t.Logf("%s: %d calls, %d faults", op.name, len(calls[i]), len(faults))
		for i, f := range faults {
			plans = append(plans, trial{op, f, i})
		}
	}
	slices.SortStableFunc(plans, func(a, b trial) int { return a.round - b.round })
	began, tried := time.Now(), atOnce(t, len(plans), func() bool { return *all }, *callsIn, func(t *testing.T, n int) {
		from.copyOf(t).try(plans[n].operation, plans[n].fault)
	}, func(n int) string { return plans[n].String() })
	t.Logf("%d of %d faults in %s", tried, len(plans), time.Since(began).Round(time.Second))
}

// A trial is one fault in one operation.
type trial struct {
	operation
	fault crash.Fault
	round int
}

func (p trial) String() string {
	how := p.fault.Errno.Error()
	switch {
	case p.fault.Full:
		return fmt.Sprintf("%s/disk full behind %d", p.name, p.fault.Nth)
	case p.fault.Short:
		how = "short"
	}
	return fmt.Sprintf("%s/%s #%d %s", p.name, p.fault.Call, p.fault.Nth, how)
}

// atOnce runs trials four at a time, since they wait most of the time, until all are tried or, unless each is wanted, the time is over; it returns how many.
func atOnce(t *testing.T, n int, each func() bool, limit time.Duration, try func(*testing.T, int), name func(int) string) (tried int) {
	began, next := time.Now(), make(chan int)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range next {
				t.Run(name(i), func(t *testing.T) { try(t, i) })
			}
		})
	}
	for i := range n {
		if !each() && time.Since(began) > limit {
			break
		}
		next <- i
		tried++
	}
	close(next)
	workers.Wait()
	return tried
}

// try does an operation to the home while a fault is about, and holds the home to what must be true of it. It returns the calls that
// were counted.
func (h *home) try(op operation, fault crash.Fault) (calls []string) {
	if op.prepare != nil {
		op.prepare(h)
	}
	p := crash.Program{Env: h.env(), Dir: h.path, Fault: fault, Armed: op.act == nil}
	if op.below != nil {
		p.Dir = op.below(h)
	}
	if p.Args = []string{h.bin.Path("cmemd"), "--home", h.path, "serve"}; op.args != nil {
		p.Args = op.args(h)
	}
	if op.stdin != nil {
		p.Stdin = h.file(op.stdin)
		defer p.Stdin.Close()
	}
	traced := crash.Trace(h.t, p)
	if op.args == nil {
		h.whileServing(op, traced)
	}
	code := h.end(traced)
	if op.check != nil {
		op.check(h, code)
	}
	h.sound()
	if h.t.Failed() {
		_, said, err := traced.Wait()
		h.t.Logf("%d calls failed; the program ended with %d, %v: %s", traced.Failed(), code, err, said)
		u, err := relay.ReadUnanswered(h.path)
		h.t.Logf("unanswered %+v, %v", u, err)
	}
	return traced.Calls()
}

// whileServing has calls of a daemon fail while something is done to it, then none, and ends it in order.
func (h *home) whileServing(op operation, daemon *crash.Traced) {
	if op.act != nil {
		if err := h.ready(); err != nil {
			h.t.Fatalf("the traced daemon is not ready: %v", err)
		}
		daemon.Arm()
		op.act(h)
	} else {
		h.readyOr(daemon)
	}
	_ = syscall.Kill(daemon.PID(), syscall.SIGTERM) // it may have ended
	h.end(daemon)
}

// readyOr waits until a daemon is ready, or gone.
func (h *home) readyOr(daemon *crash.Traced) {
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		_ = h.ready() // what it is then is judged without faults
	}()
	select {
	case <-ready:
	case <-daemon.Ended():
	}
}

// end waits for a traced program, which may not hang, and returns its code.
func (h *home) end(p *crash.Traced) int {
	select {
	case <-p.Ended():
	case <-time.After(commandLimit):
		h.t.Errorf("the traced program has not ended after %s", commandLimit)
		p.Kill()
	}
	code, _, err := p.Wait()
	if err != nil {
		return -1
	}
	return code
}

func (h *home) file(content []byte) *os.File {
	path := filepath.Join(h.dir, "stdin")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		h.t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		h.t.Fatal(err)
	}
	return f
}
