package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/testkit/capturetest"
)

// spool keeps a payload as a hook does, at second n.
func (w *world) spool(tb testing.TB, agent string, id events.ID, n int, payload []byte) string {
	tb.Helper()
	return capturetest.Spool(tb, w.home, agent, id, n, payload)
}

func (w *world) waiting(tb testing.TB) int {
	tb.Helper()
	return capturetest.Waiting(tb, w.home)
}

// closed is a world whose server does nothing until open is called.
func gated(tb testing.TB, change func(*Config)) (w *world, open func()) {
	var shut atomic.Bool
	shut.Store(true)
	w = newWorld(tb, func(c *Config) {
		if change != nil {
			change(c)
		}
		real := c.Sink
		c.Sink = fakeSink(func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
			if shut.Load() {
				return actors.Receipt{}, actors.ErrStopped
			}
			return real.Do(ctx, id, cmds...)
		})
	})
	return w, func() { shut.Store(false) }
}

// tools lists the ids of the tool uses on record, in the log's order.
func (w *world) tools(tb testing.TB) (ids []string) {
	tb.Helper()
	for _, r := range w.records(tb) {
		if r.Kind != events.KindToolUsed {
			continue
		}
		e, err := r.Event()
		if err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, e.(events.ToolUsed).ToolUseID)
	}
	return ids
}

func TestDrainKeepsTheOrder(t *testing.T) {
	t.Parallel()
	w, open := gated(t, nil)
	var want []string
	for n := range 40 {
		id := fmt.Sprintf("t%02d", n)
		want = append(want, id)
	}
	for _, n := range []int{3, 1, 2, 0} { // written in no order
		for i := n * 10; i < n*10+10; i++ {
			w.spool(t, "claude-code", newID(), i, toolUse(fmt.Sprint("s", i/7), want[i], "ls", ""))
		}
	}
	if err := w.pipeline.pass(t.Context()); !errors.Is(err, ErrSpoolWaits) { // one that began before the last was written has ended then
		t.Fatalf("a pass while nothing is taken: %v, want ErrSpoolWaits", err)
	}
	if n := w.waiting(t); n != 40 {
		t.Fatalf("got %d entries while nothing is taken, want all 40", n)
	}
	open()
	eventually(t, "the spool is empty", func() bool { return w.waiting(t) == 0 })
	if diff := cmp.Diff(want, w.tools(t)); diff != "" {
		t.Errorf("order in the log (-want +got):\n%s", diff)
	}
	if at := w.records(t)[0].OccurredAt; at.Hour() != 10 {
		t.Errorf("recorded as of %v, want when its hook was called", at)
	}
}

func TestDrainMakesDeadLetters(t *testing.T) {
	t.Parallel()
	w, open := gated(t, func(c *Config) {
		c.Sink = failing(c.Sink, fmt.Errorf("%w: secret", actors.ErrFaulted))
		c.Secrets = func(s string, _ bool) (string, map[string]int) {
			if strings.Contains(s, "bomb") {
				panic("secret")
			}
			return s, nil
		}
	})
	good := func(n int) { w.spool(t, "claude-code", newID(), n, toolUse("s", fmt.Sprint("t", n), "ls", "")) }
	good(0)
	w.spool(t, "claude-code", newID(), 1, []byte("{secret"))
	good(2)
	w.spool(t, "nobody", newID(), 3, []byte("{}"))
	w.spool(t, "claude-code", newID(), 4, toolUse("bad-1", "x", "secret", ""))
	w.spool(t, "claude-code", newID(), 5, toolUse("s", "bomb", "bomb secret", ""))
	good(6)
	w.spool(t, "claude-code", newID(), 7, hook("Unheard", "s", nil))
	capturetest.WriteFile(t, filepath.Join(w.home, "spool", "new", "0-hostile"), []byte("no header"))
	good(8)
	open()
	eventually(t, "the spool is empty", func() bool { return w.waiting(t) == 0 })
	if diff := cmp.Diff([]string{"t0", "t2", "t6", "t8"}, w.tools(t)); diff != "" {
		t.Errorf("in the log (-want +got):\n%s", diff)
	}
	files, reasons := badFiles(t, w.home)
	if len(files) != 5 || len(reasons) != 5 {
		t.Errorf("put aside %d files with %d reasons, want 5", len(files), len(reasons))
	}
	if all := strings.Join(reasons, ""); strings.Contains(all, "secret") || !strings.Contains(all, "not JSON") || !strings.Contains(all, "no header line") {
		t.Errorf("got reasons %q, want the causes and no payload", reasons)
	}
}

// A payload in a batch that crashes the session does not take its neighbours with it.
func TestDrainIsolatesWithinABatch(t *testing.T) {
	t.Parallel()
	w, open := gated(t, func(c *Config) {
		real := c.Sink
		c.Sink = fakeSink(func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
			for _, cmd := range cmds {
				if tool, ok := cmd.(session.Capture).Event.(events.ToolUsed); ok && tool.ToolUseID == "t3" {
					return actors.Receipt{}, actors.ErrFaulted
				}
			}
			return real.Do(ctx, id, cmds...)
		})
	})
	for n := range 6 {
		w.spool(t, "claude-code", newID(), n, toolUse("s", fmt.Sprint("t", n), "ls", ""))
	}
	open()
	eventually(t, "the spool is empty", func() bool { return w.waiting(t) == 0 })
	if diff := cmp.Diff([]string{"t0", "t1", "t2", "t4", "t5"}, w.tools(t)); diff != "" {
		t.Errorf("in the log (-want +got):\n%s", diff)
	}
	if files, _ := badFiles(t, w.home); len(files) != 1 {
		t.Errorf("put aside %d, want the one", len(files))
	}
}

// A disk that is full for a while costs nothing but time.
func TestDrainWaits(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	full.Store(true)
	w := newWorld(t, func(c *Config) {
		real := c.Sink
		c.Sink = fakeSink(func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
			if full.Load() {
				return actors.Receipt{}, eventlog.ErrDiskFull
			}
			return real.Do(ctx, id, cmds...)
		})
	})
	w.spool(t, "claude-code", newID(), 0, toolUse("s", "t0", "ls", ""))
	w.spool(t, "claude-code", newID(), 1, []byte("{bad"))
	time.Sleep(5 * drainEvery)
	if files, _ := badFiles(t, w.home); w.waiting(t) != 2 || len(files) != 0 {
		t.Errorf("got %d waiting, %d aside, want both to wait in order", w.waiting(t), len(files))
	}
	full.Store(false)
	eventually(t, "the spool is empty", func() bool { return w.waiting(t) == 0 })
	if len(w.tools(t)) != 1 {
		t.Errorf("got %v, want the one", w.tools(t))
	}
}

// The bad folder does not grow without bound.
func TestDeadLettersAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	bad := filepath.Join(w.home, "spool", "bad")
	if err := os.MkdirAll(bad, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(bad, "large"))
	if err == nil {
		err = errors.Join(f.Truncate(maxDeadLetterBytes), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.client.Hook(t.Context(), "claude-code", []byte("{"), newID(), time.Time{})
	if r := refusal.Of(err); r == nil || r.Kind != refusal.Invalid {
		t.Errorf("got %v, want that it is not valid", err)
	}
	if files, _ := badFiles(t, w.home); len(files) != 1 {
		t.Errorf("got %d files, want none beside the large one", len(files))
	}
	if got := w.pipeline.Counts.Lost.Load(); got != 1 {
		t.Errorf("counted %d lost payloads, want 1", got)
	}
}

// TestErrorsSayWhatPasses: the spool being drained passes by itself. A file that the disk does not give, a full bad folder and a
// body that was cut do not: each is decided where it is met.
func TestErrorsSayWhatPasses(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{ErrSpoolWaits: true, errSpoolDisk: false, errBadFull: false, ErrBodyCut: false} {
		if got := transient.Is(fmt.Errorf("capture: %w", err)); got != want {
			t.Errorf("%v: transient is %v, want %v", err, got, want)
		}
	}
}

// What the drain makes dead letters of is bounded too; the rest is lost, and counted.
func TestDeadLettersOfTheDrainAreBounded(t *testing.T) {
	t.Parallel()
	w, open := gated(t, nil)
	for n := range maxDeadLetters - 2 {
		capturetest.WriteFile(t, filepath.Join(w.home, "spool", "bad", fmt.Sprint(n)), nil)
	}
	for n := range 5 {
		w.spool(t, "claude-code", newID(), n, []byte("{bad"))
	}
	w.spool(t, "claude-code", newID(), 6, toolUse("s", "good", "ls", ""))
	open()
	eventually(t, "the spool is empty", func() bool { return w.waiting(t) == 0 })
	if files, _ := badFiles(t, w.home); len(files) != maxDeadLetters {
		t.Errorf("got %d files put aside, want %d", len(files), maxDeadLetters)
	}
	if got := w.pipeline.Counts.Lost.Load(); got != 3 {
		t.Errorf("counted %d lost payloads, want 3", got)
	}
	if len(w.tools(t)) != 1 {
		t.Errorf("recorded %v, want the good one", w.tools(t))
	}
}

// brokenSpool fails for the files whose names end with what is listed.
type brokenSpool struct {
	*spool.Spool
	read, remove, deadLetter map[string]error // by the end of a name
}

func failingFor(name string, by map[string]error) error {
	for end, err := range by {
		if strings.HasSuffix(name, end) {
			return &os.PathError{Op: "spool", Path: name, Err: err}
		}
	}
	return nil
}

func (b brokenSpool) Read(name string) (spool.Entry, error) {
	if err := failingFor(name, b.read); err != nil {
		return spool.Entry{Name: name}, err
	}
	return b.Spool.Read(name)
}

func (b brokenSpool) Remove(name string) error {
	if err := failingFor(name, b.remove); err != nil {
		return err
	}
	return b.Spool.Remove(name)
}

func (b brokenSpool) DeadLetter(name, reason string) error {
	if err := failingFor(name, b.deadLetter); err != nil {
		return err
	}
	return b.Spool.DeadLetter(name, reason)
}

// A single file that the disk does not give, or that does not move, holds up no other, and is told of once.
func TestDrainPassesOverASingleFile(t *testing.T) {
	t.Parallel()
	var recorded []session.Command
	var logged bytes.Buffer
	cfg := config(t)
	w := &world{home: cfg.Home}
	cfg.Logger = testLogger(&logged)
	cfg.Sink = fakeSink(func(_ context.Context, _ events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
		recorded = append(recorded, cmds...)
		return actors.Receipt{}, nil
	})
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	sick, shut, tied, stays := newID(), newID(), newID(), newID()
	w.spool(t, "claude-code", sick, 0, toolUse("s", "sick", "ls", ""))
	w.spool(t, "claude-code", shut, 1, toolUse("s", "shut", "ls", ""))
	w.spool(t, "claude-code", tied, 2, []byte("{bad"))
	w.spool(t, "claude-code", stays, 3, toolUse("s", "stays", "ls", ""))
	w.spool(t, "claude-code", newID(), 4, toolUse("s", "fine", "ls", ""))
	p.spool = brokenSpool{
		Spool:      cfg.Spool,
		read:       map[string]error{sick.String(): syscall.EIO, shut.String(): syscall.EACCES},
		deadLetter: map[string]error{tied.String(): syscall.EIO},
		remove:     map[string]error{stays.String(): syscall.EIO},
	}
	for range 3 {
		p.drainOnce(t.Context())
	}
	if len(recorded) != 4 || w.waiting(t) != 3 { // what cannot be removed is brought each time, and known by its key
		t.Errorf("recorded %d and left %d, want 4 and 3", len(recorded), w.waiting(t))
	}
	files, reasons := badFiles(t, w.home)
	if len(files) != 1 || !strings.HasSuffix(files[0], shut.String()) || !strings.Contains(reasons[0], "may not be read") {
		t.Errorf("put aside %v for %q, want what may not be read", files, reasons)
	}
	if n := strings.Count(logged.String(), "a spool file stays"); n != 3 {
		t.Errorf("told %d times of files that stay, want once of each of 3:\n%s", n, &logged)
	}
	p.spool = cfg.Spool
	for range 2 {
		p.drainOnce(t.Context())
	}
	if w.waiting(t) != 0 || len(p.stuck.names) != 0 || len(recorded) != 6 {
		t.Errorf("mended: %d wait, %v stuck, %d recorded; want none, none and 6", w.waiting(t), p.stuck.names, len(recorded))
	}
}
