package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// called is the same program in the same home, as the release of that name; its hooks start a daemon where none runs.
func (p program) called(name string) program {
	p.t.Helper()
	self, err := os.Executable()
	path := filepath.Join(filepath.Dir(p.path), name)
	if err := errors.Join(err, os.Symlink(self, path)); err != nil {
		p.t.Fatal(err)
	}
	p.path, p.env, p.idle = path, []string{"CMEMD_NO_START="}, 400*time.Millisecond
	return p
}

// TestReplacedAmongHooksAndKills has a newer release take an older daemon's place over and over while hooks of both report, while the
// hooks' own program is the older one, and while the older daemon, the command or the newer daemon is killed with SIGKILL at some moment.
// A replacement that nobody killed ends with the newer daemon. Each tool use is in the log once, and each is settled once.
func TestReplacedAmongHooksAndKills(t *testing.T) {
	takesLong(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	p := newProgram(t)
	older, newer := p.called("cmemd-old"), p.called("cmemd-new")
	home := homedir.PathsOf(p.home)
	programs := relay.Programs{Path: os.Getenv("PATH"), Cmemd: older.path, UserHome: p.home}
	if err := errors.Join(home.Make(), writeSettings(p.home, []string{"listen="}), spool.LayKey(p.home, time.Now()), programs.Write(p.home)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endAll(home) })
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	over, done := make(chan struct{}), make(chan map[string]int)
	go func() { done <- replaceOverAndOver(ctx, rand.New(rand.NewPCG(seed, 2)), older, newer, over) }()
	hooks(ctx, 8, 25, older, newer)
	close(over)
	rounds := <-done
	newer.mustSay(ctx, "0.10.0", "start")
	p.awaitSettled(ctx, 208)
	newer.mustSay(ctx, "stopped", "stop")
	endAll(home) // a daemon of a command that was killed may have waited for the log until now
	p.checkOnce(ctx)
	t.Logf("replaced %v", rounds)
	if t.Failed() {
		p.logHooks()
	}
}

// endAll kills the daemon of a home, and those behind it: one that a command started which was killed may have waited for the log, and
// begin once it is free.
func endAll(home homedir.Paths) {
	const look, quiet, limit = 50 * time.Millisecond, 40, 400 // a daemon waits for the log for a second
	for seen, n := 0, 0; n < quiet && seen < limit; seen, n = seen+1, n+1 {
		if d, err := homedir.ReadDaemonFile(home.Daemon); err == nil && d.Signal(syscall.SIGKILL) == nil || home.LogWanted() {
			n = 0
		}
		time.Sleep(look)
	}
}

// replaceOverAndOver has newer replace older until over, once at least with each thing that is killed meanwhile, and counts the
// replacements by that.
func replaceOverAndOver(ctx context.Context, random *rand.Rand, older, newer program, over <-chan struct{}) map[string]int {
	kinds, rounds := []string{"nothing", "the older daemon", "the command", "whichever daemon"}, map[string]int{}
	for i := 0; ; i++ {
		older.mustTakeOver(ctx)
		kind := kinds[i%len(kinds)]
		newer.replaceBeside(ctx, kind, time.Duration(random.IntN(400))*time.Millisecond)
		rounds[kind]++
		select {
		case <-over:
			if len(rounds) == len(kinds) {
				return rounds
			}
		default:
		}
	}
}

// replaceBeside starts p in the place of the daemon that runs. Something is killed after a while; then p is started again.
func (p program) replaceBeside(ctx context.Context, killed string, after time.Duration) {
	d, err := homedir.ReadDaemonFile(homedir.PathsOf(p.home).Daemon)
	if err != nil {
		p.t.Error(err)
	}
	if killed == "nothing" {
		p.mustSay(ctx, "0.10.0", "start")
		p.mustRunAs(ctx, "0.10.0")
		return
	}
	start := p.command(ctx, "start")
	if err := start.Start(); err != nil {
		p.t.Error(err)
		return
	}
	time.Sleep(after)
	switch killed {
	case "the command":
		_ = start.Process.Kill()
	case "whichever daemon":
		d, err = homedir.ReadDaemonFile(homedir.PathsOf(p.home).Daemon)
		fallthrough
	default:
		if err == nil {
			_ = d.Signal(syscall.SIGKILL) // it may have ended by itself
		}
	}
	_ = start.Wait() // what it came to is judged by the next one
	p.mustSay(ctx, "0.10.0", "start")
	p.mustRunAs(ctx, "0.10.0")
}

// mustTakeOver has p run in the place of a newer release, as nobody would do it by will. A newer daemon that a command started which was
// killed since may still wait for the log.
func (p program) mustTakeOver(ctx context.Context) {
	for range 20 {
		p.mustSay(ctx, "", "stop", "--kill")
		if out, err := p.command(ctx, "start").CombinedOutput(); err == nil && strings.Contains(string(out), "cmemd 0.9.1 ") {
			return
		}
	}
	p.t.Error("the older release does not start")
}

// mustSay runs a command, which must end well and say something.
func (p program) mustSay(ctx context.Context, what string, args ...string) {
	out, err := p.command(ctx, args...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), what) {
		p.t.Errorf("%s: %v, want %q: %s", args, err, what, out)
	}
}

// mustRunAs checks which version answers.
func (p program) mustRunAs(ctx context.Context, version string) {
	client := client.Dial(p.home)
	defer client.Close()
	if st, err := api.StatusRoute.Call(ctx, client, api.NoQuery{}); err != nil || st.Version != version {
		p.t.Errorf("version %q answers, %v; want %s", st.Version, err, version)
	}
}
