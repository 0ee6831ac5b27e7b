package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/transient"
)

// isAtHome reports whether the home's path still names the folder that this life began in. Where it does not, what lies there is another
// daemon's.
func (d *daemon) isAtHome() bool {
	now, err := os.Stat(d.paths.Home)
	if err != nil {
		return false
	}
	then, err := d.home.Stat(".")
	return err == nil && os.SameFile(now, then)
}

// leaveOthers keeps the end from removing the socket of another daemon that was begun where this one's home was.
func (d *daemon) leaveOthers() {
	if socket, ok := d.socket.(*net.UnixListener); ok && !d.isAtHome() {
		socket.SetUnlinkOnClose(false)
	}
}

// removeTraces removes what said where this daemon is, from its own home, wherever that is by now. After a clean end hooks need not
// wait before they start the next one: see relay.StartStamp.
func (d *daemon) removeTraces(clean bool) error {
	if d.socket == nil {
		return nil // it never listened: what lies there is not its own
	}
	var errs []error
	paths := []string{d.paths.Daemon, d.paths.Socket}
	if clean {
		paths = append(paths, relay.StartStamp(d.paths.Home))
	}
	for _, path := range paths {
		name, err := filepath.Rel(d.paths.Home, path)
		if err != nil || !filepath.IsLocal(name) {
			continue // a socket in the system's folder
		}
		if err := d.home.Remove(name); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// heldTries is how often the end tries to save the file that a log had open when another took its place, and heldPause how long it waits
// in between: nobody else has what was recorded in it. A full disk may have room again at any time, and does not count.
const (
	heldTries = 60
	heldPause = 5 * time.Second
)

// checkLogInPlace has the log notice, before it is closed, that its file was exchanged since the last commit or look. It waits for a moment: a
// disk that does not answer is no reason not to end.
func (d *daemon) checkLogInPlace() {
	ctx, cancel := context.WithTimeout(context.Background(), failedShutdownTimeout)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = d.log.CheckInPlace(ctx) // an error ends the log
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// saveExchangedLog keeps what was recorded in a log whose file was exchanged or moved, before the log is closed and that is gone for good. Once
// it has, it does nothing any more.
func (d *daemon) saveExchangedLog() error {
	if d.exchangedSaved.Load() || !errors.Is(d.log.Err(), eventlog.ErrExchanged) {
		return nil
	}
	defer d.exchangedSaved.Store(true)
	path, err := persist(d.logger, func() (string, error) { return d.log.SaveHeld(time.Now()) })
	if err == nil {
		d.logger.Error("the log was exchanged or moved under the daemon; what it had recorded is kept", "path", path)
	}
	return err
}

// persist calls save until it does not fail: heldTries times, and as often as the disk is full.
func persist(logger *slog.Logger, save func() (path string, err error)) (path string, err error) {
	for tries := 0; tries < heldTries; {
		if path, err = save(); err == nil {
			break
		}
		logger.Error("what was recorded in a log that was exchanged cannot be saved", "err", err, "again_in", heldPause)
		if !transient.IsFull(err) {
			tries++
		}
		time.Sleep(heldPause)
	}
	return path, err
}
