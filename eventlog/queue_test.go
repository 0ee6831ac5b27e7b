package eventlog

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestTakeWaitsForCallers: the writer waits for those who came with the last commit, but for one commit's time at most.
func TestTakeWaitsForCallers(t *testing.T) {
	t.Parallel()
	const patience = 10 * time.Millisecond
	for name, c := range map[string]struct {
		n      int
		pushes []time.Duration // when each comes
		took   time.Duration   // until take returns
		group  int
	}{
		"a single caller never waits":            {1, []time.Duration{0}, 0, 1},
		"all are there":                          {3, []time.Duration{0, 0, 0}, 0, 3},
		"more are there":                         {2, []time.Duration{0, 0, 0}, 0, 3},
		"the last comes in time":                 {3, []time.Duration{0, 2, 6}, 6, 3},
		"one does not come":                      {3, []time.Duration{0, 2}, 10, 2},
		"nobody comes, and one much later":       {3, []time.Duration{50, 51}, 50, 1},
		"one comes too late":                     {2, []time.Duration{0, 11}, 10, 1},
		"what came before patience goes with it": {4, []time.Duration{9, 9, 9}, 10, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q, began := newQueue(), time.Now()
				var callers sync.WaitGroup
				defer callers.Wait()
				for _, at := range c.pushes {
					callers.Go(func() {
						time.Sleep(at * time.Millisecond)
						if err := q.push(t.Context(), &request{}); err != nil {
							t.Error(err)
						}
					})
				}
				synctest.Wait() // those of the beginning are there
				group := q.take(c.n, patience)
				if took := time.Since(began); took != c.took*time.Millisecond || len(group) != c.group {
					t.Errorf("got %d after %v, want %d after %v", len(group), took, c.group, c.took*time.Millisecond)
				}
			})
		})
	}
}

// TestTakeEndsWithItsQueue: a writer that waits for callers hears at once that its log is closed.
func TestTakeEndsWithItsQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, began := newQueue(), time.Now()
		time.AfterFunc(time.Millisecond, func() { q.close(errors.New("closed")) })
		if err := q.push(t.Context(), &request{}); err != nil {
			t.Fatal(err)
		}
		if group, took := q.take(2, time.Hour), time.Since(began); len(group) != 1 || took != time.Millisecond {
			t.Errorf("got %d after %v, want 1 when it was closed", len(group), took)
		}
		if group := q.take(2, time.Hour); len(group) != 0 {
			t.Errorf("got %d of an empty queue that is closed", len(group))
		}
	})
}
