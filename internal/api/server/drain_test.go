package server

import (
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
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

// A payload that was posted, and spooled because the answer came too late, is on record once; what is drained is given
// no memory, for nobody is there to take it.
func TestDrainOfWhatWasPosted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "first", "make the cart faster", "/src/shop/cart.go")
	w.settled(t)
	end, start := hook("SessionEnd", "s", map[string]any{"reason": "other"}), hook("SessionStart", "t", map[string]any{"source": "startup"})
	id := newID()
	if _, err := w.client.Hook(t.Context(), "claude-code", end, id, time.Time{}); err != nil {
		t.Fatal(err)
	}
	w.spool(t, "claude-code", id, 0, end)
	w.spool(t, "claude-code", newID(), 1, start)
	eventually(t, "the spool is empty", func() bool { return w.waiting(t) == 0 })
	if n := w.count(t, events.KindSessionClosed); n != 1 {
		t.Errorf("got %d ends, want 1", n)
	}
	if w.count(t, events.KindSessionOpened) != 3 || len(w.injections(t)) != 0 {
		t.Errorf("got %d starts and %d injections, want 3 and none", w.count(t, events.KindSessionOpened), len(w.injections(t)))
	}
}

// TestCountsOfReports: each count of what became of reports stands under its own name.
func TestCountsOfReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := &w.capture.Counts
	for i, c := range []struct {
		name  string
		count *atomic.Int64
	}{
		{"cmemd_hook_captured_total", &n.Recorded}, {"cmemd_hook_duplicates_total", &n.Duplicates},
		{"cmemd_hook_ignored_total", &n.Ignored}, {"cmemd_hook_aside_total", &n.DeadLetters},
		{"cmemd_hook_lost_total", &n.Lost}, {"cmemd_spool_drained_total", &n.Drained},
	} {
		c.count.Store(int64(i) + 2)
		if got, want := metric(t, w, c.name), strconv.Itoa(i+2); got != want {
			t.Errorf("%s is %s, want %s", c.name, got, want)
		}
	}
}

// metric reads one line of /metrics.
func metric(tb testing.TB, w *world, name string) string {
	tb.Helper()
	var page strings.Builder
	res, err := w.client.Do(tb.Context(), "GET", "/metrics", nil, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(&page, res.Body); err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(page.String()) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return v
		}
	}
	return ""
}
