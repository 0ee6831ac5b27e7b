package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/internal/process"
)

// shutdownTimeout is how long the end may take in all, and failedShutdownTimeout where the log has failed. A hook that comes meanwhile keeps
// its payload in the spool; whatever is not done by then a crash would have left undone too, and the next start finds it.
const (
	shutdownTimeout       = 5 * time.Second
	failedShutdownTimeout = time.Second
)

// run serves until ctx is done, ends in order, and returns nil if that was asked for. ctx is done with a cause: an endRequest
// for an end that somebody wanted.
func (d *daemon) run(ctx context.Context, me homedir.DaemonFile) error {
	t := d.tasks()
	listeners, err := d.listen(&me)
	if err != nil {
		return errors.Join(err, d.endInOrder(t, d.previous.Clean, err))
	}
	return d.serveOn(ctx, t, listeners)
}

// serveOn is run once there are listeners.
func (d *daemon) serveOn(ctx context.Context, t *tasks, listeners []net.Listener) error {
	d.watchLog(ctx, t)
	d.startAll(ctx, t, listeners)
	<-ctx.Done()
	return d.end(t, context.Cause(ctx))
}

// tasks is what will run; the first task to end by itself ends the daemon.
func (d *daemon) tasks() *tasks {
	return &tasks{onFailure: func(err error) { d.stop(err) }}
}

// listen opens the socket, and the loopback address where one is set, and writes down where that is. What a daemon left
// at the socket's path is removed: the log is ours, so it is dead.
func (d *daemon) listen(me *homedir.DaemonFile) ([]net.Listener, error) {
	me.Socket = d.paths.Socket
	if err := relay.MakeSocketDir(me.Socket); err != nil {
		return nil, err
	}
	if err := removeSocket(me.Socket); err != nil {
		return nil, err
	}
	socket, err := net.Listen("unix", me.Socket)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(me.Socket, 0o600); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	d.socket = socket
	listeners := []net.Listener{socket}
	if d.config.Listen != "" {
		port, err := net.Listen("tcp", d.config.Listen)
		if err != nil { // hooks and commands use the socket: only who needs the port goes without
			u := unservedAt(d.config.Listen, err)
			d.logger.Error("the address cannot be used; the socket serves alone", "addr", u.Addr, "err", err, "pid", u.PID, "command", u.Command)
			d.unserved.Store(u)
		} else {
			listeners, me.Addr = append(listeners, port), port.Addr().String()
		}
	}
	if err := me.Write(d.paths.Daemon); err != nil {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
		return nil, err
	}
	d.logger.Info("listening", "socket", me.Socket, "addr", me.Addr)
	return listeners, nil
}

// unservedAt describes an address that cannot be listened at because of err.
func unservedAt(addr string, err error) *api.Unserved {
	u := &api.Unserved{Addr: addr, Why: err.Error()}
	if cause, ok := errors.AsType[*os.SyscallError](err); ok {
		u.Why = cause.Err.Error()
	}
	_, port, _ := net.SplitHostPort(addr)
	u.Port, _ = strconv.Atoi(port) // the setting was checked
	if u.Port != 0 {
		u.PID, u.Command = process.Listener(u.Port)
	}
	return u
}

// removeSocket removes what is left of a socket, and nothing else.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != os.ModeSocket:
		return terminal.Advise(fmt.Errorf("%s is in the way: it is no socket", path), "move it away")
	}
	return os.Remove(path)
}

// lookEvery is how often an idle daemon looks whether its log still is where it was: one question of the file system.
const lookEvery = 10 * time.Second

// watchLog ends the daemon as soon as the log fails: nothing can be accepted any more.
func (d *daemon) watchLog(ctx context.Context, t *tasks) {
	t.start(ctx, "watch", func(ctx context.Context) error {
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		for {
			select {
			case <-look.C:
				_ = d.log.CheckInPlace(ctx) // an error ends the log
			case <-d.log.Done():
				d.stop(fmt.Errorf("the log has failed: %w", d.log.Err()))
				<-ctx.Done()
				return nil
			case <-ctx.Done():
				return nil
			}
		}
	})
}

// startAll starts the views, what acts on them, and what answers, in this order; they are stopped in the opposite one.
func (d *daemon) startAll(ctx context.Context, t *tasks, listeners []net.Listener) {
	t.start(ctx, "views", d.withoutEndingDaemon("views", d.views.Run))
	t.start(ctx, "index", d.withoutEndingDaemon("index", d.index.Run))
	if d.vectors != nil {
		t.start(ctx, "vectors", d.withoutEndingDaemon("vectors", d.vectors.Run))
	}
	acting := make(chan struct{})
	t.start(ctx, "actors", func(ctx context.Context) error { return d.actors.Run(ctx, acting) })
	select {
	case <-acting:
	case <-ctx.Done():
	}
	t.start(ctx, "recheck of the log", d.recheckLog)
	t.start(ctx, "eraser", d.eraser.Run)
	t.start(ctx, "copies", d.trimCopies)
	t.start(ctx, "server", func(ctx context.Context) error { return d.server.Run(ctx, listeners...) })
	if d.watch != nil {
		t.start(ctx, "watch transcripts", d.watchTranscripts)
	}
	t.start(ctx, "ready", func(ctx context.Context) error {
		d.becomeReady(ctx)
		<-ctx.Done()
		return nil
	})
	t.start(ctx, "spool", func(ctx context.Context) error {
		if err := d.caughtUp(ctx, d.views.WaitUnlessStopped, d.index.WaitUnlessStopped); err != nil && ctx.Err() == nil {
			d.logger.Debug("the spool is taken in though the views are behind", "err", err)
		}
		return d.capture.Drain(ctx)
	})
	d.sharing.Start()
}

// drainWait is how long transcripts wait for the spool: something in it may be refused for ever.
const drainWait = time.Minute

// watchTranscripts follows transcripts once the log has what hooks left in the spool: of some agents nothing but that tells
// what a transcript repeats.
func (d *daemon) watchTranscripts(ctx context.Context) error {
	select {
	case <-d.capture.Drained():
	case <-time.After(drainWait):
		d.logger.Warn("following transcripts, though what hooks left in the spool is not all taken in")
	case <-ctx.Done():
		return nil
	}
	return d.watch.Run(ctx)
}

// withoutEndingDaemon is run, a view's, whose failure does not end the daemon: what is captured is in the log, and a view that stands
// still says so in its answers and in status. Without vectors searches go on by words.
func (d *daemon) withoutEndingDaemon(name string, run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			d.logger.Error("it stands still until the next start; what happens is captured all the same", "view", name, "err", err)
			<-ctx.Done()
		}
		return nil
	}
}

// A wait is for something that follows the log to know a position.
type wait func(ctx context.Context, at events.Position) error

// caughtUp waits until the views know what happened before this start.
func (d *daemon) caughtUp(ctx context.Context, views, index wait) error {
	if err := views(ctx, d.begun); err != nil {
		return err
	}
	return index(ctx, d.begun)
}

// becomeReady waits until the views know what happened before this start; then the daemon is ready. It gives up, without
// being ready, when ctx ends, or where they go no further for good.
func (d *daemon) becomeReady(ctx context.Context) {
	began := time.Now()
	d.server.SetPhase("views")
	err := d.caughtUp(ctx, d.views.Wait, func(ctx context.Context, at events.Position) error {
		d.server.SetPhase("index")
		return d.index.Wait(ctx, at)
	})
	if err != nil {
		d.logger.Debug("not ready", "err", err)
		return
	}
	d.giveOld(ctx)
	d.server.SetPhase(server.PhaseReady)
	d.logger.Info("ready", "position", d.begun, "took", time.Since(began).Round(time.Millisecond))
}

// giveOld keeps given what was given by its mere name until this release. Where it cannot, that stays searchable.
func (d *daemon) giveOld(ctx context.Context) {
	switch given, err := d.server.GiveOld(ctx); {
	case err != nil:
		d.logger.Warn("memory without a folder could not be given to the folders of its names: `cmemd project give` does it", "err", err)
	case given > 0:
		d.logger.Info("memory without a folder was given to the folders of its names: `cmemd project list` shows it", "names", given)
	}
}

// end stops everything in order: what answers, what acts, the views; then it says so in the log, and closes. A log that
// failed is not written to, and not waited for.
func (d *daemon) end(t *tasks, cause error) error {
	d.logger.Info("ending", "cause", cause)
	d.checkLogInPlace()
	held := d.saveExchangedLog()
	done := make(chan error, 1)
	var asked endRequest
	clean := errors.As(cause, &asked)
	go func() { done <- d.endInOrder(t, clean, cause) }()
	limit := shutdownTimeout
	if d.log.Err() != nil {
		limit = failedShutdownTimeout
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var err error
	select {
	case err = <-done:
	case <-timer.C:
		if errors.Is(d.log.Err(), eventlog.ErrExchanged) && !d.exchangedSaved.Load() { // its records are on the way
			err = <-done
			break
		}
		err = fmt.Errorf("the end took longer than %s", limit)
	}
	err = errors.Join(held, err)
	if !clean {
		err = errors.Join(cause, err)
	}
	if err != nil {
		d.logger.Error("ended", "err", err)
	}
	return err
}

func (d *daemon) endInOrder(t *tasks, clean bool, cause error) error {
	d.leaveOthers()
	d.sharing.Stop()
	errs := []error{t.stop()}
	if d.log.Err() == nil {
		d.capture.RecordHidden(context.Background())
		errs = append(errs, d.recordEnd(clean, cause))
	}
	errs = append(errs, d.saveExchangedLog())
	errs = append(errs, d.removeTraces(clean), d.close())
	return errors.Join(errs...)
}
