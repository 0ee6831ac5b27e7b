//go:build unix

package faults

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/capturetest"
)

// TestKills kills daemons with all commands running. Each daemon comes up, and each command succeeds at least once.
func TestKills(t *testing.T) {
	bin := suite(t)
	random := seed(t)
	h := filled(t, bin)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var busy sync.WaitGroup
	var counts tallies
	for _, w := range h.workers() {
		busy.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				counts.add(w.name, w.do(i))
			}
		})
	}
	kills, began := 0, time.Now()
	for late := false; ; late = time.Since(began) > *killsIn {
		if late && (len(counts.failed()) == 0 || time.Since(began) > *killsIn+lateLimit) {
			break
		}
		life := time.Duration(100+random.IntN(2500)) * time.Millisecond
		if late {
			life += lateLife
		}
		h.killed(life, kills%2 == 1)
		kills++
	}
	stop()
	busy.Wait()
	t.Logf("%d kills, %d reports; ended with 0:\n%s", kills, len(h.sent), &counts)
	for _, name := range counts.failed() {
		t.Errorf("%s never ended with 0; at last: %s", name, counts.of[name].last)
	}
	forgetsAgain(h, 0)
	h.sound()
	uses, _, err := h.recorded()
	if err != nil || !slices.ContainsFunc(slices.Collect(maps.Keys(uses)), func(id string) bool { return strings.HasPrefix(id, "kills_") }) {
		t.Errorf("the log has nothing that was reported while daemons were killed; %v", err)
	}
}

const (
	// lateLife is how much longer daemons live once the time is over and a command has never succeeded: on a busy machine a forget
	// takes longer than the others live.
	lateLife = 5 * time.Second

	// lateLimit is how long such daemons are killed.
	lateLimit = time.Minute
)

// tallies count how often commands were run, and how often they ended with 0.
type tallies struct {
	mu sync.Mutex        // guards of
	of map[string]*tally // by worker and command
}

// A tally is what became of one command.
type tally struct {
	runs, well int
	last       ran // that did not end with 0
}

func (c *tallies) add(worker string, r ran) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := strings.TrimSuffix(worker+": "+r.command, ": ")
	n := c.of[name]
	if n == nil {
		n = &tally{}
		if c.of == nil {
			c.of = map[string]*tally{}
		}
		c.of[name] = n
	}
	if n.runs++; r.code == 0 {
		n.well++
	} else {
		n.last = r
	}
}

// failed are those that never ended with 0.
func (c *tallies) failed() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.of)) {
		if c.of[name].well == 0 {
			names = append(names, name)
		}
	}
	return names
}

func (c *tallies) String() (lines string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.of)) {
		lines += fmt.Sprintf("%s: %d of %d\n", name, c.of[name].well, c.of[name].runs)
	}
	return lines
}

// TestTallies: a command that never succeeds is named, though others of its worker do.
func TestTallies(t *testing.T) {
	t.Parallel()
	var c tallies
	for _, r := range []ran{{command: "save"}, {command: "save", code: 3}, {command: "forget", code: 3}, {command: "forget", code: -1}} {
		c.add("save and forget", r)
	}
	c.add("report", ran{})
	if got, want := c.failed(), []string{"save and forget: forget"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// killed serves the home for a while, which may count from the moment at which it answers, and kills the daemon, which may not end
// before.
func (h *home) killed(life time.Duration, answers bool) {
	s, said := h.living()
	if answers {
		err := h.ask(settleLimit, func(wait context.Context, c *client.Client) error {
			_, err := api.StatusRoute.Call(wait, c, api.NoQuery{})
			return err
		})
		if err != nil {
			h.t.Errorf("a daemon does not answer: %v\n%s", err, h.said())
		}
	}
	select {
	case err := <-s.done:
		h.t.Errorf("a daemon did not come up, or ended: %v %s", err, said.String())
		return
	case <-time.After(life):
	}
	_ = s.cmd.Process.Kill()
	<-s.done
}

// A worker runs one command over and over.
type worker struct {
	name string
	do   func(i int) ran
}

// workers are all that is done to a home while its daemon is killed. What a command says with code 0 has to be so at the end.
func (h *home) workers() []worker {
	plain := func(args ...string) func(int) ran { return func(int) ran { return h.cmemd(args...) } }
	return []worker{
		{"report", func(i int) ran {
			h.use("kills", fmt.Sprint("kills_", i))
			if i%10 == 9 {
				h.ends("kills")
			}
			return ran{}
		}},
		{"save and forget", func(i int) ran {
			if i%4 != 3 {
				return h.save(fmt.Sprintf("the %s %d is told", []string{"bridge", "tower", word}[i%4], i))
			}
			return h.forget()
		}},
		{"read", func(i int) ran {
			return h.cmemd([][]string{{"search", "cellar"}, {"context"}, {"status"}, {"sessions"}, {"outcomes"}}[i%5]...)
		}},
		{"copy", func(i int) ran {
			if i%2 == 0 {
				return h.cmemd("log", "backup", "--force", filepath.Join(h.dir, "person", "copy.db"))
			}
			return h.cmemd("export", "--force", "--out", filepath.Join(h.dir, "person", "export.md"))
		}},
		{"rebuild", plain("projections", "rebuild")},
		{"reobserve", plain("reobserve", "--session", "s0")},
		{"ingest", h.ingest},
		{"token", plain("token", "rotate")},
		{"verify", plain("log", "verify")},
	}
}

// ingest has a transcript ingested, a new one where the last was taken.
func (h *home) ingest(i int) ran {
	session := fmt.Sprint("ingested-", i)
	path := filepath.Join(h.dir, "person", session+".jsonl")
	if err := os.WriteFile(path, capturetest.Transcript(session, 2), 0o600); err != nil {
		h.t.Error(err)
	}
	r := h.cmemd("ingest", path)
	if r.code == 0 {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.sent = append(h.sent, "toolu_"+session+"_0", "toolu_"+session+"_1")
	}
	return r
}
