package index

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"
)

// BenchmarkBuild measures documents a second from the log to a searchable index.
func BenchmarkBuild(b *testing.B) {
	const docs = 10_000
	w := newWriter(b)
	w.fill(newCorpus(1), docs)
	b.ResetTimer()
	for range b.N {
		x := w.mustOpen(b.TempDir())
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(docs)*float64(b.N)/b.Elapsed().Seconds(), "docs/s")
}

// BenchmarkSearch measures queries over 100,000 documents.
func BenchmarkSearch(b *testing.B) {
	if testing.Short() {
		b.Skip("builds 100,000 documents")
	}
	const docs = 100_000
	w, c := newWriter(b), newCorpus(1)
	w.fill(c, docs)
	start := time.Now()
	x := w.mustOpen(b.TempDir())
	if err := x.builder.store.sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	st, err := x.Stats()
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("built %d documents at %.0f/s: %d bytes in %d segments", docs, docs/took.Seconds(), st.Bytes, st.Segments)
	for _, kind := range []struct {
		name string
		q    func() Query
	}{
		{"two", func() Query { return Query{Text: c.middle(2)} }},
		{"six", func() Query { return Query{Text: c.middle(6)} }},
		{"two-common", func() Query { return Query{Text: c.words[3] + " " + c.words[7]} }},
		{"six-drawn", func() Query { return Query{Text: c.text(40)} }},
		{"six-project", func() Query { return Query{Text: c.middle(6), Project: "/src/p3"} }},
		{"two-since", func() Query { return Query{Text: c.middle(2), Since: w.at.Add(-240 * time.Hour)} }},
		{"newest", func() Query { return Query{Type: "change"} }},
	} {
		b.Run(kind.name, func(b *testing.B) {
			times := make([]time.Duration, 0, b.N)
			for range b.N {
				q := kind.q()
				start := time.Now()
				if _, err := x.Search(context.Background(), q); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
	runtime.KeepAlive(x)
}
