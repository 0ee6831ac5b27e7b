package capture

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
)

// TestAStopWaitsForTheSpool: the tool uses of an answer that wait in the spool are recorded before the answer's end, which
// otherwise would have no work behind it and lead to no summary.
func TestAStopWaitsForTheSpool(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"Stop", "SessionEnd"} {
		w := newWorld(t, func(c *Config) { c.DrainEvery = time.Hour })
		<-w.pipeline.Drained()
		w.spool(t, "claude-code", newID(), 1, toolUse("s", "toolu_1", "go test", "ok"))
		w.spool(t, "claude-code", newID(), 2, toolUse("other", "toolu_2", "go vet", "ok"))
		w.post(t, hook(event, "s", map[string]any{"last_assistant_message": "Done."}))
		var kinds []events.Kind
		for _, r := range w.records(t) {
			e, err := r.Event()
			if err != nil {
				t.Fatal(err)
			}
			if stop, ok := e.(events.AgentStopped); ok && stop.Work != 1 {
				t.Errorf("%s: the stop has %d tool uses behind it, want 1", event, stop.Work)
			}
			if r.Stream == events.SessionIDOf("claude-code", "s").Stream() && r.Kind != events.KindSessionOpened {
				kinds = append(kinds, r.Kind)
			}
		}
		if len(kinds) < 2 || kinds[0] != events.KindToolUsed {
			t.Errorf("%s: recorded %v, want the tool use first", event, kinds)
		}
	}
}

// countedSpool counts the files that are read of a spool.
type countedSpool struct {
	entries
	reads *atomic.Int64
}

func (c countedSpool) Read(name string) (relay.Entry, error) {
	c.reads.Add(1)
	return c.entries.Read(name)
}

// TestAStopWaitsForNoStuckFile: a file that can be neither taken nor moved leads to no pass through the spool at each stop.
func TestAStopWaitsForNoStuckFile(t *testing.T) {
	t.Parallel()
	w, p := notDraining(t, nil)
	stuck := newID()
	w.spool(t, "claude-code", stuck, 1, toolUse("s", "toolu_1", "go test", "ok"))
	var reads atomic.Int64
	p.spool = countedSpool{brokenSpool{Spool: p.cfg.Spool, read: map[string]error{stuck.String(): syscall.EIO}}, &reads}
	end := draining(p)
	defer end()
	<-p.Drained()
	w.post(t, hook("Stop", "s", nil))
	if n := reads.Load(); n != 1 {
		t.Errorf("the stuck file was read %d times, want once: before the stop", n)
	}
	w.spool(t, "claude-code", newID(), 2, toolUse("s", "toolu_2", "go vet", "ok"))
	w.post(t, hook("Stop", "s", nil))
	if n := p.Counts.Drained.Load(); n != 1 {
		t.Errorf("%d entries were taken before the stop, want the one that is not stuck", n)
	}
}

// TestAStopWaitsForNoDrain: before Drain has begun and after it has ended nobody takes what waits in the spool.
func TestAStopWaitsForNoDrain(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		var logged bytes.Buffer
		w, p := notDraining(t, &logged)
		if ended {
			draining(p)()
		}
		w.spool(t, "claude-code", newID(), 1, toolUse("s", "toolu_1", "go test", "ok"))
		began := time.Now()
		w.post(t, hook("Stop", "s", nil))
		if took := time.Since(began); took >= stopWait {
			t.Errorf("drain ended %v: the stop took %v", ended, took)
		}
		if !strings.Contains(logged.String(), errNotDraining.Error()) {
			t.Errorf("drain ended %v: the log does not say that the stop went first:\n%s", ended, &logged)
		}
	}
}

// TestAStopGoesFirstWhenItsTimeIsUp: and the log says so.
func TestAStopGoesFirstWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	w, p := notDraining(t, &logged)
	w.spool(t, "claude-code", newID(), 1, toolUse("s", "toolu_1", "go test", "ok"))
	close(p.drainBegan) // by a Drain that hangs
	w.post(t, hook("Stop", "s", nil))
	if p.Counts.Recorded.Load() != 1 || !strings.Contains(logged.String(), context.DeadlineExceeded.Error()) {
		t.Errorf("the log does not say that the stop went first:\n%s", &logged)
	}
}

// notDraining is a world whose pipeline takes everything and whose Drain does not run.
func notDraining(t *testing.T, logged *bytes.Buffer) (*world, *Pipeline) {
	cfg := config(t)
	cfg.DrainEvery = time.Hour
	if logged != nil {
		cfg.Logger = testLogger(logged)
	}
	cfg.Sink = fakeSink(func(context.Context, events.SessionID, ...session.Command) (actors.Receipt, error) {
		return actors.Receipt{}, nil
	})
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &world{home: cfg.Home, pipeline: p, client: client{p}}, p
}

// draining runs Drain; end ends it.
func draining(p *Pipeline) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- p.Drain(ctx) }()
	return func() {
		cancel()
		<-done
	}
}
