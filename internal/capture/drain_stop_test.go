package capture

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/transient"
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

func (c countedSpool) Read(name string) (spool.Entry, error) {
	c.reads.Add(1)
	return c.entries.Read(name)
}

// TestAStopWaitsForNoStuckFile: a file that can be neither taken nor moved leads to no pass through the spool at each stop.
func TestAStopWaitsForNoStuckFile(t *testing.T) {
	t.Parallel()
	w, p := notDraining(t)
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

// TestAStopGoesBehindItsWork: an end is refused for now where what waits in the spool is not taken in time: before Drain has begun,
// while it hangs, after it has ended, and where nothing is taken for now.
func TestAStopGoesBehindItsWork(t *testing.T) {
	t.Parallel()
	for name, drain := range map[string]func(t *testing.T, p *Pipeline){
		"not begun": func(*testing.T, *Pipeline) {},
		"ended":     func(_ *testing.T, p *Pipeline) { draining(p)() },
		"hangs": func(t *testing.T, p *Pipeline) {
			go func() { <-p.passes }()
		},
		"takes nothing": func(t *testing.T, p *Pipeline) {
			p.cfg.Sink = fakeSink(func(context.Context, events.SessionID, ...session.Command) (actors.Receipt, error) {
				return actors.Receipt{}, actors.ErrBusy
			})
			t.Cleanup(draining(p))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := notDraining(t)
			w.spool(t, "claude-code", newID(), 1, toolUse("s", "toolu_1", "go test", "ok"))
			drain(t, p)
			_, err := p.Post(t.Context(), Posted{Agent: "claude-code", Came: time.Now(), Body: hook("Stop", "s", nil)})
			if !errors.Is(err, ErrSpoolWaits) || !transient.Is(err) || p.Counts.Recorded.Load() != 0 {
				t.Errorf("the stop led to %v, and %d were recorded; want %v and none", err, p.Counts.Recorded.Load(), ErrSpoolWaits)
			}
			if bad, _, _ := p.cfg.Spool.DeadLetterUsage(); bad != 0 {
				t.Errorf("%d dead letters, want none", bad)
			}
		})
	}
}

// notDraining is a world whose pipeline takes everything and whose Drain does not run.
func notDraining(t *testing.T) (*world, *Pipeline) {
	cfg := config(t)
	cfg.DrainEvery = time.Hour
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
