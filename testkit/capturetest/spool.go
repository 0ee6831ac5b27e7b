package capturetest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
)

// Spool keeps a payload in a home as a hook does that finds no daemon, at second n, and returns the name of its file.
func Spool(tb testing.TB, home, agent string, id events.ID, n int, payload []byte) string {
	tb.Helper()
	if err := spool.LayKey(home, time.Now()); err != nil {
		tb.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 10, 0, n, 0, time.UTC)
	name, err := spool.New(home).Put(spool.Entry{Agent: agent, Delivery: id.String(), OccurredAt: at, Body: payload})
	if err != nil {
		tb.Fatal(err)
	}
	return name
}

// Waiting is how many payloads wait in the spool of a home.
func Waiting(tb testing.TB, home string) int {
	tb.Helper()
	names, err := spool.New(home).Names()
	if err != nil {
		tb.Fatal(err)
	}
	return len(names)
}

// BadFiles are the payloads in the spool of a home that were refused, by their paths, and the reasons.
func BadFiles(tb testing.TB, home string) (payloads, reasons []string) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(home, "spool", "bad", "*"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		if filepath.Ext(f) != ".reason" {
			payloads = append(payloads, f)
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		reasons = append(reasons, string(b))
	}
	return payloads, reasons
}

// WriteFile writes a file of a home, and makes the folders above it.
func WriteFile(tb testing.TB, path string, data []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
}
