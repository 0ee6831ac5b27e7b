//go:build unix

package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/capturetest"
)

// TestKills kills daemons with all commands running.
func TestKills(t *testing.T) {
	bin := suite(t)
	random := seed(t)
	h := filled(t, bin)
	ctx, stop := context.WithTimeout(t.Context(), *killsIn)
	defer stop()
	var busy sync.WaitGroup
	ran := map[string]*[2]int{}
	for _, w := range h.workers() {
		n := new([2]int)
		ran[w.name] = n
		busy.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if n[0]++; w.do(i).code == 0 {
					n[1]++
				}
			}
		})
	}
	kills := 0
	for ctx.Err() == nil {
		h.killed(ctx, time.Duration(100+random.IntN(2500))*time.Millisecond, kills%2 == 1)
		kills++
	}
	busy.Wait()
	for name, n := range ran {
		t.Logf("%s: %d of %d ended with 0", name, n[1], n[0])
	}
	t.Logf("%d kills, %d reports", kills, len(h.sent))
	forgetsAgain(h, 0)
	h.sound()
}

// killed serves the home for a while, which may count from the moment at which it answers, and kills the daemon.
func (h *home) killed(ctx context.Context, life time.Duration, answers bool) {
	s, said := h.living()
	if answers {
		_ = h.ask(settleLimit, func(wait context.Context, c *client.Client) error { // one that does not come up is told below
			if ctx.Err() != nil {
				return nil
			}
			_, err := api.StatusRoute.Call(wait, c, api.NoQuery{})
			return err
		})
	}
	select {
	case err := <-s.done:
		h.t.Logf("a daemon did not come up: %v %s", err, said.String())
		return
	case <-time.After(life):
	case <-ctx.Done():
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
			return h.cmemd("export", "--force", filepath.Join(h.dir, "person", "export.json"))
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
