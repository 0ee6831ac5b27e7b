package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/cmemd/cmemd/api"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// openTemp opens a daemon over a home of its own, without a port.
func openTemp(t *testing.T) (d *daemon, ctx context.Context) {
	t.Helper()
	p := pathsOf(t.TempDir())
	if err := p.make(); err != nil {
		t.Fatal(err)
	}
	l := standardConfig()
	l.Listen = ""
	ctx, stop := context.WithCancelCause(t.Context())
	d, err := openDaemon(ctx, l, p, slog.New(slog.DiscardHandler), "test", stop)
	if err != nil {
		t.Fatal(err)
	}
	return d, ctx
}

// serving runs d and returns when it is ready; what run returned comes over the channel.
func serving(t *testing.T, ctx context.Context, d *daemon) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- d.run(ctx, thisProcess()) }()
	client := api.Dial(d.paths.home)
	defer client.Close()
	for limit := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if r, err := client.Ready(ctx); err == nil && r.Ready {
			return ended
		}
		if time.Now().After(limit) {
			t.Fatal("the daemon is not ready")
		}
	}
}

func waitEnd(t *testing.T, ended <-chan error, limit time.Duration) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(limit):
		t.Fatalf("the daemon has not ended after %s", limit)
		return nil
	}
}

// TestFailedLogEndsTheDaemon takes the log away: the daemon must end at once, and not well.
func TestFailedLogEndsTheDaemon(t *testing.T) {
	t.Parallel()
	d, ctx := openTemp(t)
	ended := serving(t, ctx, d)
	if err := d.log.Close(); err != nil {
		t.Fatal(err)
	}
	err := waitEnd(t, ended, failLimit+2*time.Second)
	if !errors.Is(err, eventlog.ErrClosed) || exitCode(err) != exitFailure {
		t.Errorf("ended with %v, exit code %d", err, exitCode(err))
	}
}

func TestStoppedDaemonEndsWell(t *testing.T) {
	t.Parallel()
	d, ctx := openTemp(t)
	ended := serving(t, ctx, d)
	if info, err := os.Lstat(d.paths.socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	d.stop(stopped("a test"))
	if err := waitEnd(t, ended, endLimit+time.Second); err != nil {
		t.Error(err)
	}
	log, err := eventlog.OpenReadOnly(d.paths.log, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	last, err := log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := log.Get(t.Context(), last)
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Event()
	if want := (events.DaemonStopped{Clean: true, Cause: "a test"}); err != nil || e != want {
		t.Errorf("the last record is %+v, %v, want %+v", e, err, want)
	}
}

// TestTaskFailureEndsTheDaemon has a part of the daemon end by itself.
func TestTaskFailureEndsTheDaemon(t *testing.T) {
	t.Parallel()
	d, ctx := openTemp(t)
	ended := serving(t, ctx, d)
	broken := errors.New("broken")
	d.stop(broken)
	if err := waitEnd(t, ended, endLimit+time.Second); !errors.Is(err, broken) {
		t.Errorf("ended with %v", err)
	}
}

// TestStillViewsKeepTheDaemon closes the views under it: what happens must still be captured.
func TestStillViewsKeepTheDaemon(t *testing.T) {
	t.Parallel()
	d, ctx := openTemp(t)
	ended := serving(t, ctx, d)
	if err := d.views.Close(); err != nil {
		t.Fatal(err)
	}
	client := api.Dial(d.paths.home)
	defer client.Close()
	before, err := d.log.Last(ctx)
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte(`{"session_id":"s","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"still here"}`)
	if _, err := client.Hook(ctx, "claude-code", payload, events.ID{}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if after, err := d.log.Last(ctx); err != nil || after <= before {
		t.Errorf("the log stands at %d, %v; it stood at %d", after, err, before)
	}
	select {
	case err := <-ended:
		t.Fatalf("the daemon ended: %v", err)
	default:
	}
	d.stop(stopped("a test"))
	_ = waitEnd(t, ended, endLimit+time.Second) // that the views are closed already may be told
}
