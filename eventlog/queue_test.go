package eventlog

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestGather: the writer waits for as many as it answered, no longer than it may, and not where the log closes.
func TestGather(t *testing.T) {
	t.Parallel()
	const most = time.Millisecond
	for _, c := range []struct {
		name  string
		queue func(*testing.T, *queue) // while the writer gathers two more
		want  time.Duration
	}{
		{"nobody comes", func(*testing.T, *queue) {}, most},
		{"one comes", func(t *testing.T, q *queue) { pushed(t, q) }, most},
		{"two come", func(t *testing.T, q *queue) { time.Sleep(most / 4); pushed(t, q); time.Sleep(most / 4); pushed(t, q) }, most / 2},
		{"it closes", func(_ *testing.T, q *queue) { time.Sleep(most / 4); q.close(errors.New("closed")) }, most / 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				pushed(t, q) // of before
				go c.queue(t, q)
				began := time.Now()
				q.gather(2, most)
				if got := time.Since(began); got != c.want {
					t.Errorf("waited %v, want %v", got, c.want)
				}
				if len(q.take()) == 0 {
					t.Error("what waited is gone")
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
