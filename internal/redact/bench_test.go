package redact_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/testkit/secrets"
)

// BenchmarkRedact tells what a kilobyte of real hook payloads and transcripts costs, and what one costs that is full of
// secrets.
func BenchmarkRedact(b *testing.B) {
	r := redact.New()
	for name, text := range texts(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.JSON(text)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(text))*1024, "us/kB")
		})
	}
}

func texts(b *testing.B) map[string]string {
	b.Helper()
	all := map[string]string{}
	for name, pattern := range map[string]string{
		"payloads": "../agents/testdata/claude-code/*.json", "transcripts": "../agents/testdata/claude-code/transcripts/*.jsonl",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			b.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				b.Fatal(err)
			}
			all[name] += string(data)
		}
	}
	var full strings.Builder
	for seed := range uint64(10) {
		for _, s := range secrets.Make(seed) {
			full.WriteString(s.Text + " and some words\n")
		}
	}
	all["secrets"] = full.String()
	return all
}

// BenchmarkNew tells what a program pays before it can redact.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		redact.New()
	}
}
