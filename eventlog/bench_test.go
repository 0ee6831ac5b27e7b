package eventlog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// tools makes drafts of tool calls whose outputs are pieces of this package's source: text as agents read it, which
// compresses as that does.
type tools struct{ source string }

func newTools(tb testing.TB) tools {
	tb.Helper()
	var all strings.Builder
	files, err := filepath.Glob("*.go")
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		all.Write(text)
	}
	return tools{source: all.String()}
}

// used is a draft whose payload has about size bytes.
func (t tools) used(i, size int) events.Draft {
	n := max(size-170, 0)
	from := i * 97 % (len(t.source) - n)
	d := logtest.Draft("")
	d.Key = events.KeyOf("bench", strconv.Itoa(i))
	d.Event = events.ToolUsed{
		ToolUseID: "toolu_01" + strconv.Itoa(1_000_000+i), Tool: "Read", DurationMS: int64(i % 997), Cwd: "/home/dev/project",
		Input: `{"file_path":"/home/dev/project/pkg/parser.go"}`, InputSize: 48, OutputSize: n, Prompt: 3,
		Output: t.source[from : from+n],
	}
	return d
}

func reportRate(b *testing.B, records int, began time.Time) {
	b.Helper()
	b.ReportMetric(float64(records)/time.Since(began).Seconds(), "events/s")
}

// passes times one read after the other. The best one says what the machine can do when nothing else runs on it.
func passes(b *testing.B, read func() (records int)) {
	b.Helper()
	best, all, began := 0.0, 0, time.Now()
	for b.Loop() {
		start := time.Now()
		n := read()
		all += n
		best = max(best, float64(n)/time.Since(start).Seconds())
	}
	reportRate(b, all, began)
	b.ReportMetric(best, "best-events/s")
}

// BenchmarkAppend has writers append events of 300 bytes one at a time, each to its own stream.
func BenchmarkAppend(b *testing.B) {
	text := newTools(b)
	for _, writers := range []int{1, 16, 64, 1024} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			l := tempLog(b)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			began := time.Now()
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					stream, d := logtest.Session(fmt.Sprint(w)), text.used(w, 300)
					for v := events.Version(0); left.Add(-1) >= 0; v++ {
						if _, err := l.Append(b.Context(), stream, v, d); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			reportRate(b, b.N, began)
			if s, err := l.Stats(b.Context()); err == nil {
				b.ReportMetric(float64(s.Records)/float64(s.Commits), "events/commit")
			}
		})
	}
}

// benchLog is a log of n tool calls in 50 streams.
func benchLog(b *testing.B, path string, n, size int) *eventlog.Bolt {
	b.Helper()
	l := openLog(b, path)
	const streams, batch = 50, 500
	text := newTools(b)
	for i := 0; i < n; i += batch {
		drafts := make([]events.Draft, min(batch, n-i))
		for k := range drafts {
			drafts[k] = text.used(i+k, size)
		}
		stream := logtest.Session(fmt.Sprint(i / batch % streams))
		if _, err := eventlog.AppendEnd(b.Context(), l, stream, drafts...); err != nil {
			b.Fatal(err)
		}
	}
	return l
}

// BenchmarkReplay reads a whole log: headers only, and with every payload decoded.
func BenchmarkReplay(b *testing.B) {
	for _, size := range []int{300, 1000, 1600} {
		l := benchLog(b, filepath.Join(b.TempDir(), "log"), 50_000, size)
		for _, payloads := range []bool{false, true} {
			b.Run(fmt.Sprintf("bytes=%d/payloads=%t", size, payloads), func(b *testing.B) {
				passes(b, func() (records int) {
					for r, err := range l.All(b.Context(), 1) {
						if err == nil && payloads {
							_, err = r.Event()
						}
						if err != nil {
							b.Fatal(err)
						}
						records++
					}
					return records
				})
			})
		}
		mustClose(b, l)
	}
}

// BenchmarkStream reads one stream of 2,000 records among 100,000.
func BenchmarkStream(b *testing.B) {
	l := benchLog(b, filepath.Join(b.TempDir(), "log"), 100_000, 300)
	passes(b, func() (records int) {
		for _, err := range l.Stream(b.Context(), logtest.Session("7"), 1) {
			if err != nil {
				b.Fatal(err)
			}
			records++
		}
		return records
	})
}

// BenchmarkOpen opens, reads the end of, and closes a log of a million events.
func BenchmarkOpen(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes a million events")
	}
	path := filepath.Join(b.TempDir(), "log")
	mustClose(b, benchLog(b, path, 1_000_000, 300))
	codec := events.NewCodec()
	for b.Loop() {
		l, err := eventlog.Open(path, eventlog.Config{Codec: codec})
		if err != nil {
			b.Fatal(err)
		}
		if last, err := l.Last(b.Context()); last != 1_000_000 || err != nil {
			b.Fatal(last, err)
		}
		mustClose(b, l)
	}
}

// BenchmarkVerify checks every chain and payload of a log.
func BenchmarkVerify(b *testing.B) {
	l := benchLog(b, filepath.Join(b.TempDir(), "log"), 50_000, 300)
	passes(b, func() int {
		mustVerify(b, l)
		return 50_000
	})
}
