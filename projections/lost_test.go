package projections

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/follow"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// lose makes the log that a salvage makes of w's, where some records are lost and some have nothing but their headers.
func (w *world) lose(t *rapid.T) {
	to := logtest.Open(t, eventlog.Config{NoSync: true})
	codec := events.NewCodec()
	relay := eventlog.NewRelay(codec)
	for r, err := range w.log.All(context.Background(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		fate := rapid.IntRange(0, 9).Draw(t, "fate")
		switch {
		case fate == 0:
			r, err = relay.Lost(r.Stream, r.Version)
		case fate == 1:
			r, err = relay.Lost(events.Lost, 0)
		case fate == 2:
			r, _ = relay.Add(r.Erase())
		default:
			r, _ = relay.Add(r)
		}
		if err == nil {
			err = to.Restore(context.Background(), r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.log = to
}

// TestLostRecords: views over a log with placeholders stand, and count what sessions' own folds count.
func TestLostRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step(t)
		}
		w.lose(t)
		v := openIn(t, tempDir(t), w, 7)
		defer func() { v.Close() }()
		follow.MustCatchUp(t, v)
		checkBalance(t, w, v)
	})
}
