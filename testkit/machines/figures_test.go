//go:build unix

package machines

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/capturetest"
)

// measured skips the test unless figures are wanted.
func measured(t *testing.T) {
	t.Helper()
	if !*figures {
		t.Skip("the figures are measured with -machines -figures")
	}
}

const (
	foundEvery  = 50 // events a second while memories are looked for
	foundRounds = 15 // memories that are looked for
	bigRows     = 100_000
)

// TestFigureFound measures how long a memory takes to be found on the other machine while 50 events a second are reported.
func TestFigureFound(t *testing.T) {
	measured(t)
	over(t, func(t *testing.T, over string) {
		w := newWorld(t, over, "desktop", "laptop")
		asked := map[string]time.Duration{"hub": 5 * time.Second, "folder": 15 * time.Second}[over]
		ctx, stop := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		busy.Go(func() { w.machines[0].trickles(ctx, foundEvery) })
		var took []time.Duration
		for range foundRounds {
			word := "quokka" + strings.ReplaceAll(uuid.NewString(), "-", "")
			began := time.Now()
			w.machines[0].mustSave("The shed has a " + word)
			must(t, within(time.Minute, func() error { return w.machines[1].findsAll(word) }))
			took = append(took, time.Since(began))
			time.Sleep(700 * time.Millisecond)
		}
		stop()
		busy.Wait()
		t.Logf("found on the other machine after: median %v, most %v (%v asked)",
			quantile(took, .5).Round(time.Millisecond), quantile(took, 1).Round(time.Millisecond), asked)
		w.balances()
	})
}

// trickles reports so many tool uses a second, in sessions of 200, until ctx is done.
func (m *machine) trickles(ctx context.Context, perSecond int) {
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for i := 0; ; i++ {
		session, id, ends := fmt.Sprint(m.name, "-trickles-", i/200), "toolu_"+uuid.NewString(), i%200 == 199 || ctx.Err() != nil
		payload := capturetest.ToolUse(session, id, "make "+id, words(300))
		if ends {
			payload = stopOf(session)
		}
		if _, err := m.client.Hook(m.t.Context(), "claude-code", payload, uuid.Must(uuid.NewV7()), time.Now()); err != nil {
			m.t.Errorf("%s: %v", m.name, err)
		} else if !ends {
			m.acknowledged(id)
		}
		if ends && ctx.Err() != nil {
			return
		}
		<-tick.C
	}
}

// TestFigureBig measures a home of 100,000 rows that joins: how fast its log goes out, and how long a new machine takes to have all of
// it and to find it.
func TestFigureBig(t *testing.T) {
	measured(t)
	over(t, func(t *testing.T, over string) {
		w := newWorld(t, over)
		m := w.adds(homeOf(t, w.bin, "desktop"))
		_, err := m.command(w.bin.Path("load"), "seed", "-home", m.path, "-n", fmt.Sprint(bigRows))
		must(t, err)
		must(t, os.WriteFile(m.path+"/config.toml", []byte("listen = \"\"\n"), 0o600))
		m.begins = 5 * time.Minute // its views are made first
		began := time.Now()
		m.start()
		must(t, within(5*time.Minute, m.rests))
		t.Logf("the views of its own %d rows were made in %v", bigRows, time.Since(began).Round(time.Millisecond))
		w.machines = append(w.machines, m)
		where := w.folder
		if w.hub != nil {
			where = w.hub.address
		}
		began = time.Now()
		code := m.join(where)
		m.cmemd("flush", "--wait", "10m")
		c, err := m.cluster()
		must(t, err)
		took := time.Since(began)
		t.Logf("%d records went out in %v: %.0f a second (20,000 asked)", c.Status.Own.Last, took.Round(time.Millisecond), float64(c.Status.Own.Last)/took.Seconds())

		second := w.adds(newMachine(t, w.bin, "laptop"))
		began = time.Now()
		second.join(where, code)
		w.machines = append(w.machines, second)
		var copied time.Duration
		must(t, within(10*time.Minute, func() error {
			err := second.has(map[string]uint64{"desktop": uint64(c.Status.Own.Last)})
			if err == nil && copied == 0 {
				copied = time.Since(began)
			}
			if err == nil {
				err = second.rests()
			}
			if err == nil {
				err = second.countsRows(bigRows)
			}
			return err
		}))
		t.Logf("%d rows restored onto a new machine: copied after %v, all found after %v (1m0s asked)",
			bigRows, copied.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	})
}

// countsRows says whether the machine has fewer rows.
func (m *machine) countsRows(want int) error {
	views, err := api.ProjectionsRoute.Call(m.t.Context(), m.client, api.NoQuery{})
	if err != nil {
		return err
	}
	most := 0
	for _, v := range views {
		most = max(most, v.Rows)
	}
	if most < want {
		return fmt.Errorf("the largest view has %d rows of %d: %+v", most, want, views)
	}
	return nil
}

// TestFigureHooks measures hooks of a home that has joined and of one that has not, by turns, and what their daemons take of memory, after
// the same work.
func TestFigureHooks(t *testing.T) {
	measured(t)
	w := newWorld(t, "hub", "desktop", "laptop")
	desktop := w.machines[0]
	for _, m := range []*machine{desktop, w.beside} {
		m.post(8000, 1000)
	}
	must(t, within(settleLimit, w.even))
	for i := range 1000 {
		w.beside.use(fmt.Sprint("built number ", i))
		desktop.use(fmt.Sprint("built number ", i))
	}
	t.Logf("by turns: %s", &w.hooks)
	desktop.ends()
	w.beside.ends()
	must(t, within(settleLimit, w.even))
	time.Sleep(10 * time.Second)
	joined, alone := desktop.resident(), w.beside.resident()
	t.Logf("anonymous memory of the daemons: joined %.1f MB, not joined %.1f MB: %+.1f MB (20 asked)",
		float64(joined)/1e6, float64(alone)/1e6, float64(joined-alone)/1e6)
	for _, name := range []string{"cmemd", "cmemd-hook", "cmemd-hub"} {
		info, err := os.Stat(w.bin.Path(name))
		must(t, err)
		t.Logf("%s: %.1f MB", name, float64(info.Size())/1e6)
	}
}

// resident is how many bytes of the daemon's own are in memory; 0 where the system does not tell.
func (m *machine) resident() (bytes int64) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if text, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, err := strconv.ParseInt(slices.Concat(strings.Fields(text), []string{"0"})[0], 10, 64)
			must(m.t, err)
			bytes = kb << 10
		}
	}
	return bytes
}
