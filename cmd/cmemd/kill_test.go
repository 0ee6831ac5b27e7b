package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/race"
)

// program is this test binary under the command's name, in a home of its own.
type program struct {
	t    *testing.T
	path string
	home string
	env  []string      // of commands, beside what each is given
	idle time.Duration // between two hooks of a session
}

func newProgram(t *testing.T) program {
	t.Helper()
	race.SkipProcesses(t)
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cmemd")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return program{t: t, path: path, home: filepath.Join(dir, "home")}
}

func (p program) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.path, args...)
	c.Env = append([]string{
		"CMEMD_HOME=" + p.home, "CMEMD_LISTEN=", "CMEMD_NO_START=1", "PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "GORACE=" + os.Getenv("GORACE"),
	}, p.env...)
	return c
}

// serve starts a daemon and waits until it is ready.
func (p program) serve(ctx context.Context) *exec.Cmd {
	p.t.Helper()
	c := p.command(ctx, "serve")
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	client := client.Dial(p.home)
	defer client.Close()
	for limit := time.Now().Add(clitest.Timeout); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		if r, err := api.ReadyRoute.Call(ctx, client, api.ReadyQuery{Always: true}); err == nil && r.Ready {
			return c
		}
	}
	p.t.Fatal("the daemon does not become ready")
	return nil
}

// TestTheDaemonIsKilledAtEveryMoment sends 200 tool uses from eight hooks at once while the daemon is killed with SIGKILL
// again and again. Whatever a hook met, each tool use is in the log exactly once, and each is settled once.
func TestTheDaemonIsKilledAtEveryMoment(t *testing.T) {
	takesLong(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	p := newProgram(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	over, killed := make(chan struct{}), make(chan int)
	go func() { killed <- p.killOverAndOver(ctx, seed, over) }()
	hooks(ctx, 8, 25, p)
	close(over)
	kills := <-killed
	last := p.serve(ctx)
	p.awaitSettled(ctx, 208)
	if err := p.command(ctx, "stop").Run(); err != nil {
		t.Errorf("stop: %v", err)
	}
	_ = last.Wait()
	p.checkOnce(ctx)
	if kills < 5 {
		t.Errorf("the daemon was killed %d times, want at least 5 for this to mean anything", kills)
	}
	t.Logf("killed %d times", kills)
	if t.Failed() {
		p.logHooks()
	}
}

// logHooks tells what the hooks themselves know of payloads that are missing.
func (p program) logHooks() {
	u, err := relay.ReadUnanswered(p.home)
	p.t.Logf("unanswered hooks: %+v, %v", u, err)
	files, _ := filepath.Glob(filepath.Join(p.home, "spool", "*", "*"))
	p.t.Logf("in the spool: %q", files)
}

// killOverAndOver gives each daemon a short and random life.
func (p program) killOverAndOver(ctx context.Context, seed uint64, over <-chan struct{}) (kills int) {
	random := rand.New(rand.NewPCG(seed, 1))
	for {
		c := p.command(ctx, "serve")
		if err := c.Start(); err != nil {
			p.t.Error(err)
			return kills
		}
		select {
		case <-time.After(time.Duration(20+random.IntN(300)) * time.Millisecond):
		case <-over:
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		kills++
		select {
		case <-over:
			return kills
		default:
		}
	}
}

// hooks runs n hooks at once, each over and over: each tool uses, and a stop at the end. Each has a session of its own; the programs
// take turns.
func hooks(ctx context.Context, n, each int, by ...program) {
	var wg sync.WaitGroup
	for s := range n {
		p := by[s%len(by)]
		wg.Go(func() {
			for i := range each {
				time.Sleep(p.idle)
				p.hook(ctx, fmt.Sprintf(`{"session_id":"kill-%d","transcript_path":"/x","cwd":"/tmp","hook_event_name":"PostToolUse",`+
					`"tool_name":"Edit","tool_use_id":"toolu_%d_%d","tool_input":{"file_path":"/tmp/a.go"},"tool_response":{"filePath":"/tmp/a.go"}}`, s, s, i))
			}
			p.hook(ctx, fmt.Sprintf(`{"session_id":"kill-%d","transcript_path":"/x","cwd":"/tmp","hook_event_name":"Stop",`+
				`"stop_hook_active":false,"last_assistant_message":"Done with part %d."}`, s, s))
		})
	}
	wg.Wait()
}

func (p program) hook(ctx context.Context, payload string) {
	c := p.command(ctx, "hook", "claude-code")
	c.Stdin = strings.NewReader(payload)
	if out, err := c.CombinedOutput(); err != nil || len(out) != 0 {
		p.t.Errorf("a hook must neither fail nor speak: %v, %q", err, out)
	}
}

// awaitSettled waits until n inputs are captured and none is pending.
func (p program) awaitSettled(ctx context.Context, n int) {
	p.t.Helper()
	client := client.Dial(p.home)
	defer client.Close()
	var in api.Balance
	for range 1500 {
		st, err := api.StatusRoute.Call(ctx, client, api.NoQuery{})
		if in = st.Inputs; err == nil && in.Captured >= n && in.Pending == 0 && st.Spool.Waiting == 0 {
			break
		}
		time.Sleep(40 * time.Millisecond)
	}
	if in.Captured != n || in.Pending != 0 || in.Dropped != 0 {
		p.t.Errorf("inputs %+v, want %d captured, none pending and none dropped", in, n)
	}
}

// checkOnce reads the log: every tool use stands in it once, no input was kept or skipped by two turns, all chains hold.
func (p program) checkOnce(ctx context.Context) {
	p.t.Helper()
	log, err := eventlog.OpenReadOnly(homedir.PathsOf(p.home).Log, eventlog.Config{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	if err := eventlog.Verify(ctx, log, nil); err != nil {
		p.t.Error(err)
	}
	uses, settles, ended := map[string]int{}, map[events.ID][]events.Position{}, map[events.ID]bool{}
	for r, err := range log.All(ctx, 0) {
		if err != nil {
			p.t.Fatal(err)
		}
		e, err := r.Event()
		if err != nil {
			p.t.Fatal(err)
		}
		switch e := e.(type) {
		case events.ToolUsed:
			uses[e.ToolUseID]++
		case events.TurnStarted:
			settles[e.Turn] = e.Settles
		case events.TurnReceived:
			ended[e.Turn] = true
		}
	}
	if len(uses) != 200 {
		p.t.Errorf("%d tool uses in the log, want 200", len(uses))
	}
	for id, n := range uses {
		if n != 1 {
			p.t.Errorf("%s is in the log %d times", id, n)
		}
	}
	settled := map[events.Position]int{}
	for turn := range ended {
		for _, at := range settles[turn] {
			if settled[at]++; settled[at] > 1 {
				p.t.Errorf("input %d was settled by more than one turn", at)
			}
		}
	}
}
