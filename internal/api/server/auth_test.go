package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestRotate: with another token the old one is refused at once, and what it is connected with ends.
func TestRotate(t *testing.T) {
	t.Parallel()
	n := 0
	w := newWorld(t, func(c *testConfig) {
		c.NewToken = func() (string, error) { n++; return fmt.Sprint("another token ", n), nil }
	})
	stream := w.remote(t, func(r *http.Request) { r.URL.Path = "/v1/events" })
	if stream.StatusCode != 200 {
		t.Fatalf("the stream: %s", stream.Status)
	}
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, stream.Body); ended <- err }()
	if err := w.client.RotateToken(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the stream goes on")
	}
	if res := w.remote(t, nil); res.StatusCode != 401 {
		t.Errorf("the old token: %s", res.Status)
	}
	with := func(r *http.Request) { r.Header.Set("Authorization", "Bearer another token 1") }
	if res := w.remote(t, with); res.StatusCode != 200 {
		t.Errorf("the new token: %s", res.Status)
	}
	res := w.remote(t, func(r *http.Request) { with(r); r.Method, r.URL.Path = "POST", "/v1/token/rotate" })
	if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 403 || n != 1 || !strings.Contains(string(body), "the token is changed over the socket only") {
		t.Errorf("over the loopback address: %s %s, %d tokens", res.Status, body, n)
	}
}

// TestRotatesAtOnce: of tokens that are made at once the daemon and the file keep the same one.
func TestRotatesAtOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // guards the fields below
	n, kept := 0, ""
	first, second := make(chan struct{}), make(chan struct{})
	w := newWorld(t, func(c *testConfig) {
		c.NewToken = func() (string, error) {
			mu.Lock()
			n++
			mine := fmt.Sprint("another token ", n)
			kept = mine
			mu.Unlock()
			if mine == "another token 1" {
				close(first)
				select { // hold the answer back until another token is kept, if one can be
				case <-second:
				case <-time.After(300 * time.Millisecond):
				}
				return mine, nil
			}
			defer close(second)
			return mine, nil
		}
	})
	var all sync.WaitGroup
	rotate := func() {
		if err := w.client.RotateToken(t.Context()); err != nil {
			t.Error(err)
		}
	}
	all.Go(rotate)
	<-first
	all.Go(rotate)
	all.Wait()
	with := func(token string) int {
		return w.remote(t, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }).StatusCode
	}
	if n != 2 || kept != "another token 2" || with(kept) != 200 || with("another token 1") != 401 {
		t.Errorf("%d tokens, %q is kept and answered by %d", n, kept, with(kept))
	}
}

func TestRotateIsRefused(t *testing.T) {
	t.Parallel()
	broken := errors.New("no room")
	w := newWorld(t, func(c *testConfig) { c.NewToken = func() (string, error) { return "", broken } })
	if p := problem(t, w.client.RotateToken(t.Context())); p.Status != 500 {
		t.Errorf("got %v", p)
	}
	if res := w.remote(t, nil); res.StatusCode != 200 {
		t.Errorf("the token that stays: %s", res.Status)
	}
}

// TestGuessesAreBounded: who has no token is told so a few times, and who has it is served all the while.
func TestGuessesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	count := map[int]int{}
	for range 3 * guessBurst {
		count[w.remote(t, func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }).StatusCode]++
	}
	if count[401] < guessBurst || count[429] == 0 || len(count) != 2 {
		t.Errorf("answers by status: %v", count)
	}
	if res := w.remote(t, nil); res.StatusCode != 200 {
		t.Errorf("with the token: %s", res.Status)
	}
}

func TestBucket(t *testing.T) {
	t.Parallel()
	var b bucket
	now := time.Now()
	take := func() (n int) {
		for b.take(now) {
			n++
		}
		return n
	}
	if n := take(); n != guessBurst {
		t.Errorf("%d at first", n)
	}
	now = now.Add(2 * time.Second)
	if n := take(); n != 2*guessRate {
		t.Errorf("%d after two seconds", n)
	}
	now = now.Add(-time.Hour)
	if n := take(); n != 0 {
		t.Errorf("%d with a clock that goes back", n)
	}
}

// TestConnectionsAreBounded: one too many is closed at once, and there is room again when another one goes.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &bounded{Listener: inner}
	accepted := make(chan net.Conn, maxConnections+1)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	})
	t.Cleanup(func() { inner.Close(); all.Wait() })
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	var served []net.Conn
	for range maxConnections {
		dial()
		served = append(served, <-accepted)
	}
	refused := dial()
	if err := refused.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := refused.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one too many: %v", err)
	}
	served[0].Close()
	served[0].Close() // counts once
	dial()
	select {
	case <-accepted:
	case <-time.After(patience):
		t.Error("there is no room again")
	}
}

// TestEveryAnswerHasItsHeaders, be it over the socket, a refusal, or a path that is none.
func TestEveryAnswerHasItsHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	over := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", w.socket)
	}}}
	for _, path := range []string{"/healthz", "/v1/sessions", "/none", "/metrics"} {
		res, err := over.Get("http://cmemd" + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		for _, r := range []*http.Response{
			res, w.remote(t, func(r *http.Request) { r.URL.Path = path }),
			w.remote(t, func(r *http.Request) { r.URL.Path = path; r.Header.Del("Authorization") }),
			w.remote(t, func(r *http.Request) { r.URL.Path = path; r.Host = "evil.example" }),
		} {
			h := r.Header
			if h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") ||
				h.Get("X-Frame-Options") != "DENY" || h.Get("Access-Control-Allow-Origin") != "" || h.Get("Content-Type") == "" && r.ContentLength != 0 {
				t.Errorf("%s, %s: %v", path, r.Status, h)
			}
		}
	}
}
