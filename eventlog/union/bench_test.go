package union_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// BenchmarkAlone reads an own log by itself and through its union, in turns: all of it, and one record.
func BenchmarkAlone(b *testing.B) {
	const n = 20_000
	own := logtest.Open(b, eventlog.Config{})
	for range n / 1000 {
		texts := make([]string, 1000)
		for i := range texts {
			texts[i] = strings.Repeat("words ", 50)
		}
		mustAppend(b, own, logtest.Session("a"), texts...)
	}
	u := open(b, own, copies(b))
	readers := map[string]eventlog.Reader{"log": own, "union": u}
	for range 3 {
		for _, name := range []string{"log", "union"} {
			b.Run("all/"+name, func(b *testing.B) { readAll(b, readers[name], n) })
		}
	}
	for range 3 {
		for _, name := range []string{"log", "union"} {
			b.Run("get/"+name, func(b *testing.B) {
				at := events.Position(0)
				for b.Loop() {
					at = at%n + 1
					if _, err := readers[name].Get(b.Context(), at); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func readAll(b *testing.B, r eventlog.Reader, want int) {
	for b.Loop() {
		n := 0
		for _, err := range r.All(b.Context(), 1) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != want {
			b.Fatalf("%d records, want %d", n, want)
		}
	}
	b.ReportMetric(float64(want)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkJoined reads two logs of which each run of some records stands between two of the other.
func BenchmarkJoined(b *testing.B) {
	const n, run = 20_000, 10
	own, other := logtest.Open(b, eventlog.Config{}), logtest.Open(b, eventlog.Config{})
	u := open(b, own, copies(b))
	texts := make([]string, run)
	for i := range texts {
		texts[i] = strings.Repeat("words ", 50)
	}
	var id events.LogID
	for range n / run / 2 {
		mustAppend(b, own, logtest.Session("a"), texts...)
		records := mustAppend(b, other, logtest.Session("b"), texts...)
		if id.IsZero() {
			id = events.LogIDOf(records[0])
		}
		if err := u.Add(b.Context(), union.Run{Log: id, Records: records}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("all", func(b *testing.B) { readAll(b, u, n) })
}

// BenchmarkAdd takes runs of 512 records, each on disk before the next, as they come to a machine that was away.
func BenchmarkAdd(b *testing.B) {
	const run = 512
	other := logtest.Open(b, eventlog.Config{})
	texts := make([]string, run)
	for i := range texts {
		texts[i] = strings.Repeat("words ", 100)
	}
	own := logtest.Open(b, eventlog.Config{})
	mustAppend(b, own, events.Daemon, "own")
	u, err := union.Open(own, union.Config{Dir: copies(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer u.Close()
	var id events.LogID
	for b.Loop() {
		b.StopTimer()
		records := mustAppend(b, other, logtest.Session("b"), texts...)
		if id.IsZero() {
			id = events.LogIDOf(records[0])
		}
		b.StartTimer()
		if err := u.Add(b.Context(), union.Run{Log: id, Records: records}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(run*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkOpenSalvaged opens the union of a salvaged log of which another one has every record.
func BenchmarkOpenSalvaged(b *testing.B) {
	const n = 100_000
	own, dir := logtest.Open(b, eventlog.Config{}), copies(b)
	u := open(b, own, dir)
	for range n / 1000 {
		texts := make([]string, 1000)
		for i := range texts {
			texts[i] = strings.Repeat("words ", 50)
		}
		shared := mustAppend(b, own, logtest.Session("a"), texts...)
		mustAdd(b, u, union.Run{Log: events.LogID{1}, Records: shared})
	}
	mustClose(b, u)
	if _, err := eventlog.AppendEnd(b.Context(), own, events.Daemon, events.Draft{
		ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: events.LogSalvaged{Unread: 1},
	}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		mustClose(b, open(b, own, dir))
	}
}
