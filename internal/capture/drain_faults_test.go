package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/race"
)

// TestDamagedEntries: a sealed entry that was changed, cut, or whose key is lost becomes a dead letter with its reason, is counted,
// is not tried again, and holds up no other.
func TestDamagedEntries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil  func(home, path string) error
		reason string
	}{
		"a bit of its text":   {flipByte(-20), "was changed since it was sealed"},
		"a bit of its time":   {flipByte(100), "was changed since it was sealed"},
		"a bit of its key id": {flipByte(15), "sealed to a key that is gone"},
		"cut":                 {func(_, path string) error { return os.Truncate(path, 250) }, "bytes"},
		"empty":               {func(_, path string) error { return os.Truncate(path, 0) }, "no header line"},
		"its key is gone":     {func(home, _ string) error { return os.RemoveAll(filepath.Join(home, "keys")) }, "sealed to a key that is gone"},
		"its key is cut":      {eachKey(func(path string) error { return os.Truncate(path, 20) }), "sealed to a key that is gone"},
		"its key is a link": {eachKey(func(path string) error {
			return errors.Join(os.Rename(path, path+".2"), os.Symlink(path+".2", path))
		}), "sealed to a key that is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" {
				t.Skip("no Unix rights")
			}
			w, p := notDraining(t)
			path := filepath.Join(w.home, "spool", "new", w.spool(t, "claude-code", newID(), 1, toolUse("s", "a", "ls", "")))
			if err := c.spoil(w.home, path); err != nil {
				t.Fatal(err)
			}
			if _, err := p.cfg.Spool.RenewKeys(time.Now()); err != nil {
				t.Fatal(err)
			}
			w.spool(t, "claude-code", newID(), 2, toolUse("s", "b", "ls", ""))
			var reads atomic.Int64
			p.spool = countedSpool{p.spool, &reads}
			for range 3 {
				if !p.drainOnce(t.Context()) {
					t.Error("the pass stopped")
				}
			}
			_, reasons := badFiles(t, w.home)
			if len(reasons) != 1 || !strings.Contains(reasons[0], c.reason) {
				t.Errorf("the reasons are %q, want %q", reasons, c.reason)
			}
			if n := p.Counts.DeadLetters.Load(); n != 1 || p.Counts.Drained.Load() != 1 || reads.Load() != 2 || w.waiting(t) != 0 {
				t.Errorf("%d dead letters, %d drained in %d readings, %d wait; want one of each, read once",
					n, p.Counts.Drained.Load(), reads.Load(), w.waiting(t))
			}
		})
	}
}

// flipByte changes a byte of the entry, counted from its end if at is below 0.
func flipByte(at int) func(home, path string) error {
	return func(_, path string) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data[(at+len(data))%len(data)] ^= 1
		return os.WriteFile(path, data, 0o600)
	}
}

func eachKey(spoil func(path string) error) func(home, path string) error {
	return func(home, _ string) error {
		files, err := filepath.Glob(filepath.Join(home, "keys", "*.key"))
		for _, f := range files {
			err = errors.Join(err, spoil(f))
		}
		return err
	}
}

// TestASessionThatBeganWithoutAKey is in no project until a hook that has a key says where it is.
func TestASessionThatBeganWithoutAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.DrainEvery = time.Hour })
	<-w.pipeline.Drained()
	keys := filepath.Join(w.home, "keys")
	keep := func(n int, payload []byte) {
		t.Helper()
		at := time.Date(2026, 11, 20, 10, 0, n, 0, time.UTC)
		if _, err := w.pipeline.cfg.Spool.Put(spool.Entry{Agent: "claude-code", Delivery: newID().String(), OccurredAt: at, Body: payload}); err != nil {
			t.Fatal(err)
		}
	}
	for n, withKey := range []bool{false, false, true, false, true} {
		if withKey {
			if err := spool.LayKey(w.home, time.Now()); err != nil {
				t.Fatal(err)
			}
		} else if err := os.RemoveAll(keys); err != nil {
			t.Fatal(err)
		}
		keep(n, toolUse("s", fmt.Sprint("t", n), "ls", ""))
		if err := w.pipeline.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range w.records(t) {
		switch e := logtest.Event(t, r).(type) {
		case events.SessionOpened:
			got = append(got, fmt.Sprintf("opened in %q, project %q, transcript %q", e.Cwd, e.Project, e.Transcript))
		case events.ToolUsed:
			got = append(got, fmt.Sprintf("%s in %q", e.ToolUseID, e.Cwd))
		}
	}
	want := []string{
		`opened in "", project "", transcript ""`, `t0 in ""`, `t1 in ""`,
		`opened in "/src/shop", project "shop", transcript "/t.jsonl"`, `t2 in "/src/shop"`, `t3 in ""`, `t4 in "/src/shop"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// TestClockOfAHook: what a hook kept whose clock is a year behind is recorded at its time, and a year ahead at the time of the drain.
func TestClockOfAHook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.DrainEvery = time.Hour })
	<-w.pipeline.Drained()
	const year = 365 * 24 * time.Hour
	now := time.Now()
	for _, after := range []time.Duration{year, -year, 0} {
		_, err := w.pipeline.cfg.Spool.Put(spool.Entry{
			Agent: "claude-code", Delivery: newID().String(), OccurredAt: now.Add(after), Body: toolUse(fmt.Sprint("s", after), "t", "ls", ""),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.pipeline.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ages []time.Duration
	for _, r := range w.records(t) {
		if r.Kind == events.KindToolUsed {
			ages = append(ages, now.Sub(r.OccurredAt).Round(time.Hour))
		}
	}
	if !slices.Equal(ages, []time.Duration{year, 0, 0}) {
		t.Errorf("recorded %v ago, want a year, and twice just now", ages)
	}
}

// TestClockOfTheDaemon: a clock that is set back by a year keeps nothing from being rescued, nor keys from being renewed.
func TestClockOfTheDaemon(t *testing.T) {
	t.Parallel()
	now := time.Now().Add(365 * 24 * time.Hour)
	cfg := config(t)
	cfg.Now = func() time.Time { return now.Round(0) } // no monotonic clock helps
	cfg.Sink = fakeSink(func(context.Context, events.SessionID, ...session.Command) (actors.Receipt, error) {
		return actors.Receipt{}, nil
	})
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{home: cfg.Home}
	rescued, renewed := p.rescue(time.Time{}), p.renewKeys(time.Time{})
	ahead, err := spool.Keys(cfg.Home).Current()
	if err != nil {
		t.Fatal(err)
	}
	now = time.Now()
	leaveInTmp(t, cfg.Home, w.spool(t, "claude-code", newID(), 1, toolUse("s", "a", "ls", "")))
	if got := p.rescue(rescued); got.After(now) || w.waiting(t) != 1 {
		t.Errorf("rescued at %v, %d wait; want one, now", got, w.waiting(t))
	}
	if p.renewKeys(renewed); err != nil {
		t.Fatal(err)
	}
	if key, err := spool.Keys(cfg.Home).Current(); err != nil || key.ID() == ahead.ID() {
		t.Errorf("the present key is %v, %v; want one of this year", key, err)
	}
	p.drainOnce(t.Context())
	if n := p.Counts.Drained.Load(); n != 1 || w.waiting(t) != 0 {
		t.Errorf("%d were drained, %d wait; want what was sealed to the key of next year", n, w.waiting(t))
	}
}

// TestAFullSpool of 256 MiB is drained in memory that does not grow with it.
func TestAFullSpool(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("writes 256 MiB")
	}
	w, p := notDraining(t)
	const size, most = 4 << 20, 100 << 20
	n := 0
	for ; ; n++ {
		body := toolUse("s", fmt.Sprint("t", n), "ls", strings.Repeat("word ", size/5))
		_, err := p.cfg.Spool.Put(spool.Entry{Agent: "claude-code", Delivery: newID().String(), OccurredAt: time.Now(), Body: body})
		if errors.Is(err, spool.ErrFull) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 60 {
		t.Fatalf("%d entries fill the spool", n)
	}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	real := p.cfg.Sink
	p.cfg.Sink = fakeSink(func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
		return real.Do(ctx, id, cmds...)
	})
	if !p.drainOnce(t.Context()) || w.waiting(t) != 0 || int(p.Counts.Drained.Load()) != n {
		t.Errorf("%d of %d were drained, %d wait", p.Counts.Drained.Load(), n, w.waiting(t))
	}
	if t.Logf("%d entries, at most %d MiB more on the heap", n, peak>>20); peak > most {
		t.Errorf("%d MiB more on the heap, want at most %d", peak>>20, most>>20)
	}
	if _, err := p.cfg.Spool.Put(spool.Entry{Agent: "claude-code", Delivery: newID().String(), OccurredAt: time.Now(), Body: bytes.Repeat([]byte("x"), size)}); err != nil {
		t.Errorf("a hook after that: %v", err)
	}
}
