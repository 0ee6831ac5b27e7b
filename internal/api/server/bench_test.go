package server

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/testkit/socket"
)

// BenchmarkHooks posts tool calls of 1 kB over the unix socket to a whole daemon with a log on disk, whose views, index
// and observer work meanwhile, with all rules of privacy and all redaction, and by turns to the limit. The posters share the
// cores of both. One operation is one event that is accepted, observed and in all views; events/s counts accepting alone. Both
// figures of CPU have the posters in them: their difference is what the daemon takes beyond the limit. A log that leaves syncing to the
// system shows what no other way of writing it can exceed.
func BenchmarkHooks(b *testing.B) {
	for _, c := range []struct {
		name     string
		sessions int
		close    bool
		unsynced bool
	}{
		{name: "sessions=16", sessions: 16},
		{name: "sessions=1", sessions: 1},
		{name: "sessions=16/connection=each", sessions: 16, close: true},
		{name: "sessions=16/log=unsynced", sessions: 16, unsynced: true},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkHooks(b, c.sessions, c.close, eventlog.Config{NoSync: c.unsynced}) })
	}
}

// hooksTurn is how many events are posted before the other server's turn.
const hooksTurn = 2000

func benchmarkHooks(b *testing.B, sessions int, closing bool, cfg eventlog.Config) {
	defer debug.SetGCPercent(debug.SetGCPercent(200)) // as the daemon does
	log, err := eventlog.Open(filepath.Join(b.TempDir(), "log"), cfg)
	if err != nil {
		b.Fatal(err)
	}
	finder := redact.New()
	w := &world{home: socket.Dir(b), log: log, flush: 500 * time.Millisecond} // as the daemon does
	w.open(b)
	w.serve(b, func(c *testConfig) {
		c.capture.Secrets = func(s string, json bool) (string, map[string]int) {
			if json {
				return finder.JSON(s)
			}
			return finder.Text(s)
		}
		c.capture.Rules = privacy.NewRules(c.Home, privacy.Switches{SkipTools: []string{"WebSearch"}, Ignore: []string{"~/letters/", "*.kdbx"}})
	})
	hop := startLimit(b)
	var ours, limit, cpu, limitCPU time.Duration
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; left -= hooksTurn {
		n := min(left, hooksTurn)
		began := cpuTime()
		ours += postAll(b, w.socket, n, sessions, closing)
		for s := range sessions {
			w.post(b, hook("Stop", fmt.Sprint("s", s), map[string]any{"last_assistant_message": "Done.", "prompt_id": newID().String()}))
		}
		w.settled(b)
		b.StopTimer()
		between := cpuTime()
		cpu += between - began
		limit += postAll(b, hop.socket, n, sessions, closing)
		limitCPU += cpuTime() - between
		b.StartTimer()
	}
	b.StopTimer()
	b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "µs-cpu/op")
	b.ReportMetric(float64(limitCPU.Microseconds())/float64(b.N), "limit-µs-cpu/op")
	b.ReportMetric(float64(b.N)/ours.Seconds(), "events/s")
	b.ReportMetric(float64(b.N)/limit.Seconds(), "limit-events/s")
	b.ReportMetric(limit.Seconds()/ours.Seconds(), "of-limit")
	if st, err := log.Stats(b.Context()); err == nil && st.Commits > 0 {
		b.ReportMetric(float64(st.CommitTime.Microseconds())/float64(st.Commits), "µs/commit")
		b.ReportMetric(float64(st.Appends)/float64(st.Commits), "appends/commit")
	}
	w.end()
}

// postAll posts n events to a socket at once from several posters, and returns how long that took.
func postAll(b *testing.B, socket string, n, sessions int, closing bool) time.Duration {
	b.Helper()
	const posters = 16
	var next atomic.Int64
	var group sync.WaitGroup
	began := time.Now()
	for i := range posters {
		p := newPoster(socket, fmt.Sprint("s", i%sessions), closing)
		group.Go(func() {
			defer p.close()
			for next.Add(1) <= int64(n) {
				if err := p.post(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return time.Since(began)
}

// poster posts as the hook program does: raw bytes, and little of the time that is measured.
type poster struct {
	socket       string
	before       []byte // of the payload, up to its tool use id
	after        []byte
	closing      bool
	conn         net.Conn
	in           *bufio.Reader
	request, own []byte
}

func newPoster(socket, session string, closing bool) *poster {
	payload := toolUse(session, "TOOL-USE-ID", "go test ./...", strings.Repeat("some output of a tool ", 36))
	before, after, _ := bytes.Cut(payload, []byte("TOOL-USE-ID"))
	return &poster{socket: socket, before: before, after: after, closing: closing}
}

func (p *poster) close() {
	if p.conn != nil {
		p.conn.Close()
		p.conn = nil
	}
}

func (p *poster) post() (err error) {
	if p.conn == nil {
		if p.conn, err = net.Dial("unix", p.socket); err != nil {
			return err
		}
		p.in = bufio.NewReaderSize(p.conn, 1024)
	}
	id := newID().String()
	head := "POST /v1/hooks/claude-code HTTP/1.1\r\nHost: cmemd\r\nContent-Type: application/json\r\n"
	p.own = time.Now().UTC().AppendFormat(p.own[:0], time.RFC3339Nano)
	p.request = fmt.Appendf(p.request[:0], "%sContent-Length: %d\r\n%s: %s\r\n%s: %s\r\n", head,
		len(p.before)+len(id)+len(p.after), api.DeliveryHeader, id, api.OccurredHeader, p.own)
	if p.closing {
		p.request = append(p.request, "Connection: close\r\n"...)
		defer p.close()
	}
	p.request = append(p.request, "\r\n"...)
	p.request = append(append(append(p.request, p.before...), id...), p.after...)
	if _, err := p.conn.Write(p.request); err != nil {
		return err
	}
	return p.answer()
}

// answer reads a head without a body.
func (p *poster) answer() error {
	for first := true; ; first = false {
		line, err := p.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			return fmt.Errorf("answered %q", line)
		}
		if len(line) == 2 {
			return nil
		}
	}
}
