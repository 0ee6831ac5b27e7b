package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
)

// BenchmarkHooks posts tool calls of 1 kB over the unix socket to a whole daemon with a log on disk, whose views, index
// and observer work meanwhile. The posters share its cores. One operation is one accepted event.
func BenchmarkHooks(b *testing.B) {
	for _, c := range []struct {
		name     string
		sessions int
		close    bool
	}{
		{"sessions=16", 16, false},
		{"sessions=1", 1, false},
		{"sessions=16/connection=each", 16, true},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkHooks(b, c.sessions, c.close) })
	}
}

func benchmarkHooks(b *testing.B, sessions int, closing bool) {
	log, err := eventlog.Open(filepath.Join(b.TempDir(), "log"), eventlog.Config{})
	if err != nil {
		b.Fatal(err)
	}
	w := startWorld(b, log, nil)
	const posters = 16
	output := strings.Repeat("some output of a tool ", 36)
	var next atomic.Int64
	var group sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	began := time.Now()
	for p := range posters {
		group.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					return
				}
				body := toolUse(fmt.Sprint("s", p%sessions), fmt.Sprintf("toolu_%d", n), "go test ./...", output)
				if err := postRaw(w.client, body, closing); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "events/s")
	b.StopTimer()
	w.end()
}

// postRaw posts as an agent's hook does, without what a test wants to know.
func postRaw(c *Client, body []byte, closing bool) error {
	req, err := http.NewRequest("POST", "http://cmemd/v1/hooks/claude-code", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Close = closing
	req.Header.Set(deliveryHeader, newID().String())
	req.Header.Set(occurredHeader, time.Now().UTC().Format(time.RFC3339Nano))
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}
