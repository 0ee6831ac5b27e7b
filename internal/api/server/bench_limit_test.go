package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/socket"
)

// limit is the fastest server that keeps what hooks promise: it reads a body, answers when the body is on disk, and does nothing
// else. BenchmarkHooks measures the daemon beside it.
type limit struct {
	socket string
	bodies chan body
	pool   sync.Pool // of *bytes.Buffer
}

// body is a body that waits for the disk.
type body struct {
	text []byte
	done chan error
}

// limitFile is the size of the file that bodies are written to, over and over: that it grows is no part of the limit.
const limitFile = 64 << 20

func startLimit(tb testing.TB) *limit {
	tb.Helper()
	dir := socket.Dir(tb)
	l := &limit{socket: filepath.Join(dir, "l.sock"), bodies: make(chan body, 1024)}
	file, err := os.Create(filepath.Join(dir, "bodies"))
	if err != nil {
		tb.Fatal(err)
	}
	for empty, size := make([]byte, 1<<20), 0; size < limitFile; size += len(empty) { // in pieces: the runtime would give one back for seconds
		if _, err := file.Write(empty); err != nil {
			tb.Fatal(err)
		}
	}
	unix, err := net.Listen("unix", l.socket)
	if err != nil {
		tb.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(l.take)}
	var group sync.WaitGroup
	group.Go(func() { l.write(file) })
	group.Go(func() { _ = server.Serve(unix) })
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Error(err)
		}
		close(l.bodies)
		group.Wait()
		if err := file.Close(); err != nil {
			tb.Error(err)
		}
	})
	return l
}

// take answers when the body is on disk.
func (l *limit) take(w http.ResponseWriter, r *http.Request) {
	buf, _ := l.pool.Get().(*bytes.Buffer)
	if buf == nil {
		buf = new(bytes.Buffer)
	}
	defer l.pool.Put(buf)
	buf.Reset()
	_, err := buf.ReadFrom(r.Body)
	if err == nil {
		done := make(chan error, 1)
		l.bodies <- body{buf.Bytes(), done}
		err = <-done
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// write writes what has come in during the write before, and syncs it.
func (l *limit) write(file *os.File) {
	var text []byte
	var waiting []chan error
	at := int64(0)
	for first := range l.bodies {
		text, waiting = append(text[:0], first.text...), append(waiting[:0], first.done)
		for len(l.bodies) > 0 {
			b := <-l.bodies
			text, waiting = append(text, b.text...), append(waiting, b.done)
		}
		if at+int64(len(text)) > limitFile {
			at = 0
		}
		n, err := file.WriteAt(text, at)
		at += int64(n)
		err = errors.Join(err, file.Sync())
		for _, done := range waiting {
			done <- err
		}
	}
}

// BenchmarkFloor posts what BenchmarkHooks posts to what the daemon stands on alone: net/http reads the body, the event log keeps it as
// the output of a tool, each connection in a stream of its own. What it takes no daemon over these can do without.
func BenchmarkFloor(b *testing.B) {
	log := logtest.Open(b, eventlog.Config{})
	type end struct {
		stream  events.StreamID
		version events.Version
	}
	type key struct{}
	var pool sync.Pool // of *bytes.Buffer
	keep := func(w http.ResponseWriter, r *http.Request) {
		buf, _ := pool.Get().(*bytes.Buffer)
		if buf == nil {
			buf = new(bytes.Buffer)
		}
		defer pool.Put(buf)
		buf.Reset()
		_, err := buf.ReadFrom(r.Body)
		if err == nil {
			at := r.Context().Value(key{}).(*end)
			draft := events.Draft{ID: newID(), OccurredAt: time.Now(), Event: events.ToolUsed{Tool: "Bash", Output: buf.String()}}
			_, err = log.Append(r.Context(), at.stream, at.version, draft)
			at.version++
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
	socket := filepath.Join(socket.Dir(b), "f.sock")
	unix, err := net.Listen("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(keep), ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, key{}, &end{stream: events.SessionID(newID()).Stream()})
	}}
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(unix) })
	b.ReportAllocs()
	b.ResetTimer()
	began := cpuTime()
	took := postAll(b, socket, b.N, 16, false)
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-began).Microseconds())/float64(b.N), "µs-cpu/op")
	b.ReportMetric(float64(b.N)/took.Seconds(), "events/s")
	if err := server.Close(); err != nil {
		b.Error(err)
	}
	group.Wait()
}

// TestLimitKeepsBodies: the limit is one of servers that keep what they answer for.
func TestLimitKeepsBodies(t *testing.T) {
	t.Parallel()
	l := startLimit(t)
	p := newPoster(l.socket, "s", false)
	defer p.close()
	for range 3 {
		if err := p.post(); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(filepath.Join(filepath.Dir(l.socket), "bodies"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, p.after); n != 3 {
		t.Errorf("got %d bodies in the file, want 3", n)
	}
}
