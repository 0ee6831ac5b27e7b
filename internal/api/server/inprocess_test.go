package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/api"
)

// The server's own client gives the answers, and the problems, that one on a socket gives.
func TestOwnClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	own := w.server.Own()
	saved, err := own.Save(t.Context(), api.Memory{Project: "shop", Text: "deploys go out on Tuesdays"})
	if err != nil {
		t.Fatal(err)
	}
	q := api.SearchQuery{Text: "tuesday", After: saved.Position}
	far, err := w.client.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	near, err := own.Search(t.Context(), q)
	if diff := cmp.Diff(far, near); diff != "" || err != nil || len(near.Results) != 1 {
		t.Errorf("%v (-socket +own):\n%s", err, diff)
	}
	if _, err := own.Rebuild(t.Context(), nil, nil); err != nil {
		t.Errorf("with progress: %v", err)
	}
	_, err = own.Row(t.Context(), newID().String())
	if p := problem(t, err); p.Status != http.StatusNotFound || p.Type != api.ProblemNotFound {
		t.Errorf("got %+v, want 404", p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := own.Search(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: got %v, want %v", err, context.Canceled)
	}
}

// An answer that its handler cut is no answer.
func TestOwnClientOfACutAnswer(t *testing.T) {
	t.Parallel()
	a := &held{header: http.Header{}}
	err := a.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("{"))
		panic(http.ErrAbortHandler)
	}), nil)
	if !errors.Is(err, api.ErrCut) {
		t.Errorf("got %v, want %v", err, api.ErrCut)
	}
}

func TestDialStarting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var starts atomic.Int32
	start := func(err error) func(context.Context) error {
		return func(context.Context) error { starts.Add(1); return err }
	}
	none := filepath.Join(shortDir(t), "none")
	t.Run("nobody can start one", func(t *testing.T) {
		c := api.DialStarting(none, start(errors.New("the disk is full")))
		defer c.Close()
		if _, err := c.Status(t.Context()); !errors.Is(err, api.ErrNotRunning) || !strings.HasSuffix(err.Error(), ": the disk is full") {
			t.Errorf("got %v, want %v and why", err, api.ErrNotRunning)
		}
	})
	t.Run("it is started", func(t *testing.T) {
		home := shortDir(t)
		c := api.DialStarting(home, func(ctx context.Context) error {
			starts.Add(1)
			l, err := net.Listen("unix", filepath.Join(makeRun(t, home), "cmemd.sock"))
			if err == nil {
				srv := &http.Server{Handler: w.server.Local()}
				go func() { _ = srv.Serve(l) }()
				t.Cleanup(func() { _ = srv.Close() })
			}
			return err
		})
		defer c.Close()
		for range 2 {
			if st, err := c.Status(t.Context()); err != nil || st.PID != 7 {
				t.Errorf("got %d, %v", st.PID, err)
			}
		}
	})
	if n := starts.Load(); n != 2 {
		t.Errorf("start was called %d times, want once each", n)
	}
}
