package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/api/server"
)

// openTemp opens a daemon over a home of its own, without a port.
func openTemp(t *testing.T) (d *daemon, ctx context.Context) {
	t.Helper()
	p, l := clitest.TempHome(t)
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
	go func() { ended <- d.run(ctx, homedir.ThisProcess()) }()
	awaitReady(t, ctx, d)
	return ended
}

func awaitReady(t *testing.T, ctx context.Context, d *daemon) {
	t.Helper()
	client := client.Dial(d.paths.Home)
	defer client.Close()
	for limit := time.Now().Add(clitest.Timeout); ; time.Sleep(5 * time.Millisecond) {
		if r, err := api.ReadyRoute.Call(ctx, client, api.ReadyQuery{Always: true}); err == nil && r.Ready {
			return
		}
		if time.Now().After(limit) {
			t.Fatal("the daemon is not ready")
		}
	}
}

func awaitPhase(t *testing.T, ctx context.Context, client *client.Client, want string) {
	t.Helper()
	for limit := time.Now().Add(clitest.Timeout); ; time.Sleep(5 * time.Millisecond) {
		r, err := api.ReadyRoute.Call(ctx, client, api.ReadyQuery{Always: true})
		if err == nil && r.Phase == want && !r.Ready {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("got %+v, %v; want phase %q, and not ready", r, err, want)
		}
	}
}

// waitEnd returns what a daemon, or a command, ends with. That it takes longer than it may, a daemon says itself.
func waitEnd(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(clitest.Timeout):
		t.Fatalf("it has not ended after %s", clitest.Timeout)
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
	err := waitEnd(t, ended)
	if !errors.Is(err, eventlog.ErrClosed) || terminal.ExitCode(err) != terminal.ExitFailure {
		t.Errorf("ended with %v, exit code %d", err, terminal.ExitCode(err))
	}
}

func TestStoppedDaemonEndsWell(t *testing.T) {
	t.Parallel()
	d, ctx := openTemp(t)
	ended := serving(t, ctx, d)
	if info, err := os.Lstat(d.paths.Socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Error(err)
	}
	if e, want := lastEvent(t, d.paths), (events.DaemonStopped{Clean: true, Cause: "a test"}); e != want {
		t.Errorf("the last record is %+v, want %+v", e, want)
	}
}

// lastEvent reads the last record of a log that nobody has open.
func lastEvent(t *testing.T, p homedir.Paths) events.Event {
	t.Helper()
	log, err := eventlog.OpenReadOnly(p.Log, eventlog.Config{})
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
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFailedStartLeavesTheLastEnd has a start fail, before and after it is recorded: how the last life ended must stand.
func TestFailedStartLeavesTheLastEnd(t *testing.T) {
	t.Parallel()
	d, ctx := openTemp(t)
	p, l := d.paths, d.config
	ended := serving(t, ctx, d)
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(p.Views); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Views, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := openDaemon(t.Context(), l, p, slog.New(slog.DiscardHandler), "test", nil)
	if err == nil || !strings.Contains(err.Error(), p.Views) {
		t.Fatalf("with a file in the place of the views: got %v, want an error that names %s", err, p.Views)
	}
	if e, want := lastEvent(t, p), (events.DaemonStopped{Clean: true, Cause: "a test"}); e != want {
		t.Errorf("the last record is %+v, want %+v", e, want)
	}
	if err := os.Remove(p.Views); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Socket, nil, 0o600); err != nil { // the start is recorded by then
		t.Fatal(err)
	}
	if d, err = openDaemon(t.Context(), l, p, slog.New(slog.DiscardHandler), "test", nil); err != nil {
		t.Fatal(err)
	}
	if err := d.run(t.Context(), homedir.ThisProcess()); err == nil || !strings.Contains(err.Error(), p.Socket) {
		t.Fatalf("with a file in the place of the socket: got %v, want an error that names %s", err, p.Socket)
	}
	if e, ok := lastEvent(t, p).(events.DaemonStopped); !ok || !e.Clean || !strings.Contains(e.Cause, p.Socket) {
		t.Errorf("the last record is %+v, want a clean end for the socket", e)
	}
}

// TestNearlyFullDisk has less room than is kept free: hooks must hear it from a daemon that lives, and ends well.
func TestNearlyFullDisk(t *testing.T) {
	t.Parallel()
	p, l := clitest.TempHome(t)
	l.MinFreeBytes = 1 << 60
	ctx, stop := context.WithCancelCause(t.Context())
	d, err := openDaemon(ctx, l, p, slog.New(slog.DiscardHandler), "test", stop)
	if err != nil {
		t.Fatal(err)
	}
	ended := serving(t, ctx, d)
	client := client.Dial(p.Home)
	defer client.Close()
	payload := []byte(`{"session_id":"s","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"no room"}`)
	_, err = client.Hook(ctx, "claude-code", payload, events.ID{}, time.Time{})
	var problem *api.Problem
	if !errors.As(err, &problem) || problem.Type != api.ProblemDiskFull || problem.Status != http.StatusServiceUnavailable {
		t.Errorf("a hook got %v, want 503 for the full disk", err)
	}
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// TestTaskFailureEndsTheDaemon has a part of the daemon end by itself.
func TestTaskFailureEndsTheDaemon(t *testing.T) {
	t.Parallel()
	d, ctx := openTemp(t)
	me := homedir.ThisProcess()
	listeners, err := d.listen(&me)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.serveOn(ctx, d.tasks(), listeners) }()
	awaitReady(t, ctx, d)
	if err := listeners[0].Close(); err != nil {
		t.Fatal(err)
	}
	if err := waitEnd(t, ended); !errors.Is(err, net.ErrClosed) || !strings.Contains(err.Error(), "server ended: ") {
		t.Errorf("ended with %v", err)
	}
	if e, want := lastEvent(t, d.paths).(events.DaemonStopped), "server ended: "; e.Clean || !strings.HasPrefix(e.Cause, want) {
		t.Errorf("the last record is %+v, want no clean end, and a cause that begins with %q", e, want)
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
	client := client.Dial(d.paths.Home)
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
	awaitPhase(t, ctx, client, server.StoppedPhase+"views")
	select {
	case err := <-ended:
		t.Fatalf("the daemon ended: %v", err)
	default:
	}
	d.stop(endRequest("a test"))
	_ = waitEnd(t, ended) // that the views are closed already may be told
}
