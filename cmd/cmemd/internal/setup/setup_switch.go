package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/daemon"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/process"
	"github.com/cmemd/cmemd/internal/sleep"
)

// observeNext has a model observe what comes from now on. Old sessions are left to the built-in observer, as they were offered for nothing:
// while anything waits for it, a process of its own waits too, and changes the settings then.
func (s *setupRun) observeNext(ctx context.Context, o *observerAnswer, next homedir.NextObserver) error {
	o.Next, o.Answered = &next, true
	if !next.Lives() {
		idle, err := s.isIdle(ctx)
		if err != nil {
			return err
		}
		if idle {
			return s.observeNow(ctx, o, next)
		}
		if err := s.leaveSwitch(next); err != nil {
			return err
		}
	}
	s.app.Infof("%s observes once the built-in observer is done with what is here; `cmemd status` says whether it is, `cmemd config set provider %s` takes that back",
		next.Provider, extractive.Name)
	return nil
}

// observeNow changes the settings, and has the daemon start with them.
func (s *setupRun) observeNow(ctx context.Context, o *observerAnswer, next homedir.NextObserver) error {
	if err := s.set(ctx, o, next.Provider, next.Model); err != nil {
		return err
	}
	if err := s.forgetNext(); err != nil {
		return err
	}
	o.Next = nil
	err := s.app.WithClient(func(c *client.Client) error {
		_, err := daemon.Stop(ctx, c, s.paths(), false)
		return err
	})
	if err != nil {
		return terminal.Advise(err, "it observes with the next start: `cmemd restart`")
	}
	s.app.Infof("%s observes from now on; `cmemd observer test` asks it once, `cmemd config set provider %s` takes that back", next.Provider, extractive.Name)
	return s.start(ctx)
}

// isIdle reports whether no old session is being taken in, and nothing waits for the observer, by views that know all of the log.
func (s *setupRun) isIdle(ctx context.Context) (bool, error) {
	ingest, err := homedir.ReadIngest(s.paths().Ingest)
	if err != nil || ingest.Runs() {
		return false, err
	}
	status, err := s.app.Status(ctx)
	return err == nil && isObserved(status), err
}

// leaveSwitch starts the process that waits, and writes it down.
func (s *setupRun) leaveSwitch(next homedir.NextObserver) error {
	said, err := os.OpenFile(s.paths().NextLog, os.O_RDWR|os.O_CREATE|os.O_TRUNC, homedir.OwnFile)
	if err != nil {
		return err
	}
	defer said.Close()
	cmd := exec.Command(s.options.Program.Cmemd, "--home", s.options.Home, "setup", "--"+switchFlag)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.options.Home, s.app.Environ, said, said
	if err := next.Write(s.paths().NextObserver); err != nil { // before it starts, which reads it
		return err
	}
	process.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it outlives this command
	return next.WithProcess(cmd.Process.Pid).Write(s.paths().NextObserver)
}

// switchFlag is the hidden flag of the process that waits.
const switchFlag = "switch-observer"

// How the process that waits does so.
const (
	idleEvery  = time.Second    // between two looks; a summary is begun sooner after the inputs before it are observed
	idleLooks  = 2              // that have to find nothing, one after the other
	switchWait = 24 * time.Hour // an evening without work is among it
	goneLooks  = 60             // without a daemon, one after the other: a restart takes a few
)

// switchObserver waits until nothing waits for the observer, and then has the model observe that a person chose. Where somebody
// has set another one meanwhile, that one stays.
func switchObserver(ctx context.Context, a *terminal.App) error {
	x, err := newInstallation(a, installCommand{})
	if err != nil {
		return err
	}
	s := &setupRun{installation: x}
	ctx, cancel := context.WithTimeout(ctx, switchWait)
	defer cancel()
	for idle, gone := 0, 0; idle < idleLooks; {
		if err := sleep.For(ctx, idleEvery); err != nil {
			return fmt.Errorf("something still waits for the observer: %w", err)
		}
		if answered, err := isProviderSet(a); err != nil {
			return err
		} else if answered {
			return s.forgetNext()
		}
		switch ok, err := s.isIdle(ctx); {
		case err != nil:
			if gone, idle = gone+1, 0; gone == goneLooks {
				return err
			}
		case ok:
			idle, gone = idle+1, 0
		default:
			idle, gone = 0, 0
		}
	}
	next, err := homedir.ReadNextObserver(s.paths().NextObserver)
	if err != nil || next.Provider == "" {
		return err
	}
	return s.observeNow(ctx, &observerAnswer{}, next)
}

// isProviderSet reports whether somebody has set who observes.
func isProviderSet(a *terminal.App) (bool, error) {
	l, err := config.ForHome(a)
	return err == nil && l.From[keyProvider] != config.FromDefault, err
}

// forgetNext removes the note of who is to observe next.
func (s *setupRun) forgetNext() error { return durable.Remove(s.paths().NextObserver) }
