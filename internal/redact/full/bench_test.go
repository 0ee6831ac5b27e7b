package full

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// readEntries reads the rules as they are.
func readEntries() []entry {
	var f file
	if err := toml.Unmarshal([]byte(rulesFile), &f); err != nil {
		panic(err) // a test looks at it
	}
	return f.Rules
}

// BenchmarkFull tells what a kilobyte of real transcripts costs, and a megabyte of them.
func BenchmarkFull(b *testing.B) {
	files, err := filepath.Glob("../../agents/testdata/claude-code/transcripts/*.jsonl")
	if err != nil || len(files) == 0 {
		b.Fatal("no transcripts", err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	r := New()
	if err := r.Load(); err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(data), 1+(1<<20)/len(data))
	for name, size := range map[string]int{"48KiB": 48 << 10, "1MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				r.TextOrAll(text[:size])
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(size)*1024, "us/kB")
		})
	}
}

// BenchmarkLoad tells what it costs to make all rules, which nobody has to at once.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if err := New().Load(); err != nil {
			b.Fatal(err)
		}
	}
}
