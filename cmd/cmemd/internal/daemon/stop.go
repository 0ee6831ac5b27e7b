package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/process"
	"github.com/cmemd/cmemd/internal/sleep"
)

// stopWait is how long a daemon that was asked to end may take: it has shutdownTimeout for itself.
const stopWait = shutdownTimeout + 2*time.Second

// askEvery is how long a command waits between two questions whether a daemon is there, or ready, or gone.
const askEvery = 10 * time.Millisecond

func newStop(a *terminal.App) *cobra.Command {
	kill := false
	c := &cobra.Command{
		Use: "stop", Short: "End the daemon, in order", Args: terminal.Takes(0, 0, ""),
		Long: "Stop asks the daemon to end and waits for it. Nothing is lost: hooks keep what they report in the spool meanwhile.",
	}
	c.Flags().BoolVar(&kill, "kill", false, "kill a daemon that does not end; what it accepted is in the log")
	c.RunE = func(c *cobra.Command, _ []string) error {
		p, err := homedir.Of(a)
		if err != nil {
			return err
		}
		return a.WithClient(func(client *client.Client) error {
			was, err := Stop(c.Context(), client, p, kill)
			if err != nil {
				return err
			}
			return a.Show(map[string]any{"stopped": was != 0, "pid": was}, func() {
				if was == 0 {
					a.Printf("cmemd is not running\n")
					return
				}
				a.Printf("stopped, pid %d\n", was)
			})
		})
	}
	return c
}

// Stop ends the daemon and returns its pid; 0 if none runs. One that does not answer is sent a signal, if the process is
// still the one that wrote down its pid. With kill a daemon that does not end is killed.
func Stop(ctx context.Context, client *client.Client, p homedir.Paths, kill bool) (pid int, err error) {
	d, err := homedir.ReadDaemonFile(p.Daemon)
	if err != nil {
		d = describeRunning(ctx, client)
	}
	err = askToStop(ctx, client)
	if errors.Is(err, api.ErrNotRunning) && !d.Lives() {
		return 0, nil
	}
	if err != nil && d.PID == 0 {
		return 0, err // nothing tells which process that would be
	}
	if err != nil {
		err = d.Signal(syscall.SIGTERM)
	}
	if err == nil {
		err = awaitEnd(ctx, client, p, d)
	}
	if err != nil && d.Lives() && savesHeld(ctx, client) {
		return d.PID, terminal.Advise(fmt.Errorf("the daemon (pid %d) does not end yet: its log was exchanged, and what it accepted is not saved", d.PID), terminal.ExchangedStep)
	}
	if err != nil && kill && d.Lives() {
		err = errors.Join(d.Signal(os.Kill), awaitEnd(ctx, client, p, d))
	}
	if err != nil {
		return d.PID, terminal.Advise(fmt.Errorf("the daemon (pid %d) does not end: %w", d.PID, err), "`cmemd stop --kill`; what it accepted is in the log")
	}
	return d.PID, nil
}

// savesHeld reports whether a daemon has yet to save what it had recorded in a log that was exchanged: to kill it would lose that.
func savesHeld(ctx context.Context, client *client.Client) bool {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	_, err := api.StatusRoute.Call(ctx, client, api.NoQuery{})
	var p *api.Problem
	return errors.As(err, &p) && p.Type == api.ProblemExchanged
}

// describeRunning describes the daemon that answers at the socket, as far as it can be told; nothing if none does.
func describeRunning(ctx context.Context, client *client.Client) homedir.DaemonFile {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	s, err := api.StatusRoute.Call(ctx, client, api.NoQuery{})
	if err != nil {
		return homedir.DaemonFile{}
	}
	return homedir.DaemonFile{Identity: process.Identify(s.PID), Version: s.Version}
}

// askToStop asks over the socket. A daemon that does not answer soon is an error.
func askToStop(ctx context.Context, client *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return client.Stop(ctx)
}

// awaitEnd waits until the process of d has ended and answers no more, for stopWait at most. In the middle of a session a hook may have
// started another daemon by then.
func awaitEnd(ctx context.Context, client *client.Client, p homedir.Paths, d homedir.DaemonFile) error {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	for d.Lives() || client.Alive(ctx) == nil && !isAnother(p, d) {
		if err := sleep.For(ctx, askEvery); err != nil {
			return err
		}
	}
	return nil
}

// isAnother reports whether the daemon that last wrote itself down is another process than that of d.
func isAnother(p homedir.Paths, d homedir.DaemonFile) bool {
	now, err := homedir.ReadDaemonFile(p.Daemon)
	return err == nil && (now.PID != d.PID || now.StartTime != d.StartTime)
}
