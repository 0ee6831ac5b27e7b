package engine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

func TestFollow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.open()
		for range 24 {
			w.tool()
		}
		ctx, cancel := context.WithCancel(t.Context())
		slices := slicesSeen{next: 1}
		done := make(chan error, 1)
		go func() {
			done <- Follow(ctx, w.log, 1, Pace{Records: 10}, func(records []events.Record) error {
				slices.see(t, records)
				time.Sleep(time.Millisecond) // what applying takes
				return nil
			})
		}()
		time.Sleep(time.Second)
		sizes, next := slices.take()
		for _, n := range sizes {
			if n > 10 {
				t.Errorf("slices of %v, want at most 10 in each", sizes)
			}
		}
		if next != 26 {
			t.Errorf("next: got %d, want 26", next)
		}

		// After a quiet time a record comes at once; what comes while it is worked on comes together, after a rest.
		for range 5 {
			w.tool()
			synctest.Wait()
		}
		if sizes, _ := slices.take(); !cmp.Equal(sizes, []int{1}) {
			t.Errorf("at once: got slices of %v, want one of 1", sizes)
		}
		time.Sleep(5*time.Millisecond - 1)
		if sizes, _ := slices.take(); len(sizes) != 0 {
			t.Errorf("during the rest: got slices of %v", sizes)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if sizes, _ := slices.take(); !cmp.Equal(sizes, []int{4}) {
			t.Errorf("after the rest: got slices of %v, want one of 4", sizes)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("follow: got %v, want nil", err)
		}
	})
}

func TestFollowEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open()
	own := errors.New("own")
	if err := Follow(t.Context(), w.log, 1, Pace{}, func([]events.Record) error { return own }); !errors.Is(err, own) {
		t.Fatalf("error of the slice: got %v", err)
	}
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Follow(t.Context(), w.log, 2, Pace{}, func([]events.Record) error { return nil }); !errors.Is(err, eventlog.ErrClosed) {
		t.Fatalf("closed log: got %v", err)
	}
}

// slicesSeen is what Follow has handed out.
type slicesSeen struct {
	mu    sync.Mutex // guards the fields below
	sizes []int
	next  events.Position
}

func (s *slicesSeen) see(t *testing.T, records []events.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes = append(s.sizes, len(records))
	for _, r := range records {
		if r.Position != s.next {
			t.Errorf("got record %d, want %d", r.Position, s.next)
		}
		s.next++
	}
}

// take returns the sizes of the slices since the last take, and the position that comes next.
func (s *slicesSeen) take() ([]int, events.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sizes := s.sizes
	s.sizes = nil
	return sizes, s.next
}

// TestFollowRestsOnlyWithRoom: where the next slice is as long as slices get, nothing is gained by waiting.
func TestFollowRestsOnlyWithRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.open()
		for range 99 {
			w.tool()
		}
		ctx, cancel := context.WithCancel(t.Context())
		slices := slicesSeen{next: 1}
		done := make(chan error, 1)
		go func() {
			done <- Follow(ctx, w.log, 1, Pace{Records: 10, Rest: time.Minute, Hurry: make(chan struct{})}, func(records []events.Record) error {
				slices.see(t, records)
				return nil
			})
		}()
		time.Sleep(time.Second)
		if sizes, next := slices.take(); next < 91 {
			t.Errorf("after a second: slices of %v, want nine tenths of 100 records", sizes)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("follow: got %v, want nil", err)
		}
	})
}

// TestHurry: a rest ends when somebody waits for what comes next, and is whole where nobody does.
func TestHurry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p Progress
		pace := Pace{Rest: time.Second, Hurry: p.Hurry()}
		rested := func() time.Duration {
			began := time.Now()
			pace.rest(t.Context(), time.Millisecond, nil)
			return time.Since(began)
		}
		if got := rested(); got != time.Second {
			t.Errorf("with nobody waiting: rested %v, want %v", got, time.Second)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _, _ = p.Wait(ctx, 1) }()
		synctest.Wait()
		if got := rested(); got != 0 {
			t.Errorf("with somebody waiting: rested %v", got)
		}
		p.Reach(0)
		synctest.Wait()
		if got := rested(); got != 0 {
			t.Errorf("with somebody who waits on: rested %v", got)
		}
		p.Reach(1)
		synctest.Wait()
		if got := rested(); got != time.Second {
			t.Errorf("when nobody waits any more: rested %v", got)
		}
	})
}
