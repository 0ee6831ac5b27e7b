package growth

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// heard counts the errors that it is told of.
type heard struct {
	testing.TB
	errors []string
}

func (h *heard) Helper() {}

func (h *heard) Errorf(format string, args ...any) {
	h.errors = append(h.errors, fmt.Sprintf(format, args...))
}

func TestLinear(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		takes  func(size, call int) time.Duration
		errors int
	}{
		{"none", func(int, int) time.Duration { return 0 }, 0},
		{"constant", func(int, int) time.Duration { return time.Second }, 0},
		{"linear", func(size, _ int) time.Duration { return time.Duration(size) * time.Millisecond }, 0},
		{"quadratic", func(size, _ int) time.Duration { return time.Duration(size*size) * time.Millisecond }, 1},
		{"disturbed now and then", func(size, call int) time.Duration {
			return time.Duration(size) * time.Millisecond * []time.Duration{1, 50, 20}[call%3]
		}, 0},
		{"disturbed for long", func(size, call int) time.Duration {
			if call >= tries && call < 6*tries {
				return time.Duration(50*size) * time.Millisecond
			}
			return time.Duration(size) * time.Millisecond
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, calls := &heard{TB: t}, 0
				compare(h, c.name, 10, func(size int) {
					time.Sleep(c.takes(size, calls))
					calls++
				}, func(work func()) time.Duration {
					began := time.Now()
					work()
					return time.Since(began)
				})
				if len(h.errors) != c.errors {
					t.Errorf("got %q, want %d", h.errors, c.errors)
				}
			})
		})
	}
}

// TestTook: only that counts which keeps a core busy, on this goroutine.
func TestTook(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system is asked for the time alone")
	}
	const long = 100 * time.Millisecond
	spin := func() {
		for began := time.Now(); time.Since(began) < long; {
		}
	}
	if took := Took(func() { time.Sleep(long) }); took > long/2 {
		t.Errorf("sleeping for %v counts as %v", long, took)
	}
	if took := Took(spin); took == 0 {
		t.Errorf("being busy for %v counts as nothing", long)
	}
	if took := Took(func() {
		var others sync.WaitGroup
		others.Go(spin)
		others.Wait()
	}); took > long/2 {
		t.Errorf("what another goroutine does counts, as %v", took)
	}
}
