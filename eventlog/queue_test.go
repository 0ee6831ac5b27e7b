package eventlog

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTakeWaitsForTheAnswered: the writer takes those who come back behind a commit together with who waits already, waits no longer than
// half of what the commit took and than maxGather, and not where the log closes.
func TestTakeWaitsForTheAnswered(t *testing.T) {
	t.Parallel()
	const most = time.Millisecond
	for _, c := range []struct {
		name  string
		queue func(*testing.T, *queue) // while the writer takes
		took  time.Duration
		want  time.Duration
		group int
	}{
		{"nobody comes", func(*testing.T, *queue) {}, 2 * most, most, 1},
		{"nobody comes behind a slow commit", func(*testing.T, *queue) {}, time.Minute, maxGather, 1},
		{"one comes", func(t *testing.T, q *queue) { pushed(t, q) }, 2 * most, most, 2},
		{"two come", func(t *testing.T, q *queue) { time.Sleep(most / 4); pushed(t, q); time.Sleep(most / 4); pushed(t, q) }, 2 * most, most / 2, 3},
		{"it closes", func(_ *testing.T, q *queue) { time.Sleep(most / 4); q.close(errors.New("closed")) }, 2 * most, most / 4, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				pushed(t, q) // of before
				go c.queue(t, q)
				began := time.Now()
				group := q.take(2, c.took)
				if got := time.Since(began); got != c.want || len(group) != c.group {
					t.Errorf("waited %v for %d, want %v for %d", got, len(group), c.want, c.group)
				}
			})
		})
	}
}

func pushed(t *testing.T, q *queue) {
	t.Helper()
	if err := q.push(t.Context(), &request{}); err != nil {
		t.Error(err)
	}
}
