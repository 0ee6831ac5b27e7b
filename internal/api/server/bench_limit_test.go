package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
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
	dir := shortDir(tb)
	l := &limit{socket: filepath.Join(dir, "l.sock"), bodies: make(chan body, 1024)}
	file, err := os.Create(filepath.Join(dir, "bodies"))
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := file.Write(make([]byte, limitFile)); err != nil {
		tb.Fatal(err)
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
