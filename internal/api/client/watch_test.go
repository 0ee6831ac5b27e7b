package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/socket"
)

// listening is a client of the daemon that answer plays.
func listening(t *testing.T, p timeouts, answer http.HandlerFunc) *Client {
	t.Helper()
	return serving(t, p, &http.Server{Handler: answer})
}

func serving(t *testing.T, p timeouts, s *http.Server) *Client {
	t.Helper()
	path := filepath.Join(socket.Dir(t), "s.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	c := DialSocket(path)
	c.timeouts = p
	t.Cleanup(func() { c.Close(); s.Close() })
	return c
}

// TestHangingDaemon: a daemon that does not even say that it is there is an error, before its answer begins and in the middle
// of it; one that says so is waited for.
func TestHangingDaemon(t *testing.T) {
	t.Parallel()
	never := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	begins := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.HealthRoute.Path {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	short := timeouts{silence: 5 * time.Millisecond, answer: 20 * time.Millisecond}
	ask := map[string]func(context.Context, *Client) error{
		"a question": func(ctx context.Context, c *Client) error {
			_, err := api.StatusRoute.Call(ctx, c, api.NoQuery{})
			return err
		},
		"whether it is alive": func(ctx context.Context, c *Client) error { return c.Alive(ctx) },
		"work": func(ctx context.Context, c *Client) error {
			_, err := api.VerifyRoute.Call(ctx, c, api.NoQuery{}, nil)
			return err
		},
		"a copy": func(ctx context.Context, c *Client) error { return c.Backup(ctx, new(bytes.Buffer)) },
		"an upload": func(ctx context.Context, c *Client) error {
			_, err := c.Ingest(ctx, "claude-code", "/x.jsonl", bytes.NewReader(nil))
			return err
		},
		"records": func(ctx context.Context, c *Client) error {
			return c.Events(ctx, api.EventsQuery{}, func(api.LogRecord) error { return nil })
		},
	}
	for name, do := range ask {
		for daemon, answer := range map[string]http.HandlerFunc{"accepts": never, "begins": begins} {
			t.Run(name+"/"+daemon, func(t *testing.T) {
				t.Parallel()
				if err := do(t.Context(), listening(t, short, answer)); !errors.Is(err, api.ErrNoAnswer) || errors.Is(err, api.ErrCut) {
					t.Errorf("got %v, want %v", err, api.ErrNoAnswer)
				}
			})
		}
	}
}

// TestSilentWork: who says that it is there may be silent for long.
func TestSilentWork(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 64)
	c := listening(t, timeouts{silence: time.Millisecond, answer: time.Minute}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.HealthRoute.Path {
			asked <- struct{}{}
			fmt.Fprint(w, "{}")
			return
		}
		for range 3 {
			<-asked
		}
		fmt.Fprint(w, "whole")
	})
	var got bytes.Buffer
	if err := c.Backup(t.Context(), &got); err != nil || got.String() != "whole" {
		t.Errorf("got %q, %v", &got, err)
	}
}

// TestProbesHaveTheirOwnConnections: the question whether the daemon is there is cancelled as soon as its daemon answers, which
// may end what else uses its connection.
func TestProbesHaveTheirOwnConnections(t *testing.T) {
	t.Parallel()
	type connection struct{}
	var number, mixed atomic.Int64
	var probes, others sync.Map
	seen := make(chan struct{}, 64)
	c := serving(t, timeouts{silence: time.Millisecond, answer: time.Minute}, &http.Server{
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, connection{}, number.Add(1))
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mine, theirs := &others, &probes
			if r.URL.Path == api.HealthRoute.Path {
				mine, theirs = theirs, mine
				seen <- struct{}{}
			} else {
				<-seen
			}
			at := r.Context().Value(connection{})
			mine.Store(at, true)
			if _, ok := theirs.Load(at); ok {
				mixed.Add(1)
			}
			w.WriteHeader(http.StatusNoContent)
		}),
	})
	for range 8 {
		res, err := c.Do(t.Context(), http.MethodPost, "/v1/hooks/any", nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	if n := mixed.Load(); n > 0 {
		t.Errorf("%d requests shared a connection with a probe", n)
	}
}
