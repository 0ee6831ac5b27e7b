//go:build unix

package projections

import (
	"context"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// BenchmarkFollow is what following 7,500 events a second costs, of one core: 30 records every 4 ms for two seconds.
func BenchmarkFollow(b *testing.B) {
	for range b.N {
		w := newWorld(b)
		v := mustOpen(b, b.TempDir(), w.log, engine.Config{})
		ctx, cancel := context.WithCancel(context.Background())
		var run sync.WaitGroup
		run.Go(func() {
			if err := v.Run(ctx); err != nil {
				b.Error(err)
			}
		})
		var s [16]events.SessionID
		for i := range s {
			s[i] = w.open(i)
		}
		body := strings.Repeat("the quick brown fox jumps over the lazy dog 0123456789 ", 16)
		var evs []events.Event
		for range 30 {
			evs = append(evs, events.ToolUsed{Tool: "Edit", Input: `{"file_path":"/home/u/p0/a.go","content":""}`, Output: body})
		}
		var before, after syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &before)
		tick, began := time.NewTicker(4*time.Millisecond), time.Now()
		n := 0
		for ; time.Since(began) < 2*time.Second; n++ {
			<-tick.C
			w.say(s[n%16].Stream(), events.ID{}, evs...)
		}
		last, _ := w.log.Last(ctx)
		if err := v.Wait(ctx, last); err != nil {
			b.Fatal(err)
		}
		syscall.Getrusage(syscall.RUSAGE_SELF, &after)
		cancel()
		run.Wait()
		used := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
		b.ReportMetric(float64(last)/time.Since(began).Seconds(), "events/s")
		b.ReportMetric(100*used.Seconds()/time.Since(began).Seconds(), "%core")
	}
}
