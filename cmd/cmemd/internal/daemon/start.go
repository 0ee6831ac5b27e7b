package daemon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/programs"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/internal/process"
	"github.com/cmemd/cmemd/internal/sleep"
	"github.com/cmemd/cmemd/internal/transient"
)

// startWait is how long a daemon may take to be ready: views may have to be made anew.
const startWait = 15 * time.Second

func newStart(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "start", Short: "Run the daemon in the background, unless it runs", Args: terminal.Takes(0, 0, ""),
		Long: "Start returns when the daemon is ready. An older daemon is stopped, and this version takes its place;\n" +
			"the system's service does that where it runs the daemon.",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.WithClient(func(client *client.Client) error { return start(c.Context(), a, client) })
		},
	}
}

// A Started is what `cmemd start` says.
type Started struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Ready   bool   `json:"ready"`
	Phase   string `json:"phase"`
	Started bool   `json:"started"`           // by this command
	Stopped string `json:"stopped,omitempty"` // the version of the older daemon that was stopped
	Logs    string `json:"logs"`

	Unserved *api.Unserved `json:"unserved,omitempty"` // the loopback address that it could not have

	Room homedir.Room `json:"-"` // for what it captures; zero where the system does not say
}

func start(ctx context.Context, a *terminal.App, client *client.Client) error {
	s, err := startProgram(ctx, a, client, "")
	if err != nil {
		return err
	}
	if full := s.Room.Check(); full != nil {
		a.Infof("%v: %s", full, terminal.NextStep(full))
	}
	return a.Show(s, func() { s.Print(a) })
}

// Start has program, a cmemd by its path, run in the background as the daemon of this home, unless one runs that is not older than this
// command, which "" stands for. It returns when the daemon is ready, or has had its time.
func Start(ctx context.Context, a *terminal.App, program string) (s Started, err error) {
	err = a.WithClient(func(client *client.Client) error {
		s, err = startProgram(ctx, a, client, program)
		return err
	})
	return s, err
}

func startProgram(ctx context.Context, a *terminal.App, client *client.Client, program string) (s Started, err error) {
	p, err := homedir.Made(a)
	if err != nil {
		return s, err
	}
	l, err := config.ForHome(a)
	if err != nil { // said here, and not in the log of a daemon that ends at once
		return s, err
	}
	if client.Alive(ctx) != nil || isOlder(a, p) {
		if l, err = adoptVariables(ctx, a, p, l); err != nil { // a person may take long to answer: nothing is stopped yet
			return s, err
		}
	}
	release, err := holdStart(ctx, p)
	if err != nil {
		return s, err
	}
	defer release()
	if s, err = startLocked(ctx, a, client, p, l, program); err == nil {
		s.Room, _ = homedir.RoomOf(p.Home, l.MinFreeBytes) // a system that does not say keeps nobody from starting
	}
	return s, err
}

// holdStart keeps hooks, and other commands, from starting a daemon until release is called.
func holdStart(ctx context.Context, p homedir.Paths) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, stopWait+startWait) // as long as another command may hold it
	defer cancel()
	release, err = relay.HoldStart(ctx, p.Home)
	return release, terminal.Advise(err, "try again; `cmemd status` says what runs")
}

// MakeRoom stops the daemon of this home, if it is older than this command, and keeps others from starting one until release is called: for
// whoever replaces its programs on a system that does not let those be replaced that run.
func MakeRoom(ctx context.Context, a *terminal.App) (release func(), err error) {
	p, err := homedir.Made(a)
	if err != nil {
		return nil, err
	}
	if release, err = holdStart(ctx, p); err != nil {
		return nil, err
	}
	err = a.WithClient(func(client *client.Client) error {
		if client.Alive(ctx) != nil || !isOlder(a, p) {
			return nil
		}
		_, err := Stop(ctx, client, p, false)
		return err
	})
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// replaceTries is how often start looks again where an older daemon listens in the end: one that a hook had started just before may have
// waited for the log, and got it first.
const replaceTries = 5

// startLocked is startProgram once nobody else starts a daemon.
func startLocked(
	ctx context.Context, a *terminal.App, client *client.Client, p homedir.Paths, l *config.Loaded, program string,
) (s Started, err error) {
	s.Logs = p.LogFile
	for range replaceTries {
		there := client.Alive(ctx)
		switch {
		case errors.Is(there, api.ErrNoAnswer):
			return s, there
		case there == nil && !isOlder(a, p):
			return s, s.await(ctx, a, client)
		case there == nil:
			byService, err := s.replaceByService(ctx, a, p, program)
			if err != nil {
				return s, err
			}
			if byService {
				return s, s.await(ctx, a, client)
			}
			if err := s.stopOlder(ctx, client, p); err != nil {
				return s, err
			}
		}
		pid, err := s.begin(ctx, a, client, p, l, program)
		if err != nil {
			return s, err
		}
		if s.Started = s.PID == pid; s.Started || !isOlder(a, p) {
			return s, nil
		}
	}
	return s, terminal.Advise(fmt.Errorf("the older daemon %s was started again each time that it was stopped", s.Version),
		"stop what starts it: `cmemd service status`, and `cmemd doctor` for other copies of cmemd; then `cmemd start`")
}

// begin starts the daemon, and returns its pid when it is ready, or has had its time. One that ended at once is an error at once.
func (s *Started) begin(
	ctx context.Context, a *terminal.App, client *client.Client, p homedir.Paths, l *config.Loaded, program string,
) (pid int, err error) {
	if program == "" {
		if program, err = renewCopy(a, p); err != nil {
			return 0, err
		}
	}
	if err = p.CheckLog(); err != nil {
		return 0, err
	}
	if pid, err = launch(ctx, a, client, p, l, program); err != nil {
		return 0, err
	}
	return pid, s.await(ctx, a, client)
}

// renewCopy has the programs that a home keeps follow this one, and returns the copy, or "" where the home keeps none. They follow a newer
// version whichever way it came: hooks start what is kept. One that cannot be compared they follow if it came as they did and does not
// stay where it is. A newer copy stays, and is returned to what does not. No daemon runs: Windows would not let it be replaced.
func renewCopy(a *terminal.App, p homedir.Paths) (program string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir := programs.Dir(p.Home)
	kept, err := programs.ReadSource(dir)
	if err != nil {
		return "", nil
	}
	way, passing := programs.TransientWay(self)
	follows := passing && kept.Way == way
	if order, known := terminal.CompareVersions(a.Version, kept.Version); known && order != 0 {
		follows = passing || order > 0 && startsCopy(p)
	}
	if !follows {
		return "", nil
	}
	differing := programs.Differing(self, p.Home)
	switch _, err = programs.Copy(self, p.Home, a.Version, a.Now()); {
	case errors.Is(err, programs.ErrNewer):
		a.Infof("%v: they stay, and the daemon is started from them", err)
		err = nil
	case err == nil && len(differing) > 0 && !passing:
		a.Infof("copied %s to %s, which agents use", strings.Join(differing, ", "), dir)
	}
	return programs.Path(dir, "cmemd", programs.Ext(self)), err
}

// startsCopy reports whether hooks of a home start the copy that it keeps.
func startsCopy(p homedir.Paths) bool {
	hooks, err := relay.ReadPrograms(p.Home)
	return err == nil && filepath.Dir(hooks.Cmemd) == programs.Dir(p.Home)
}

// isOlder reports whether the daemon that last wrote itself down is older than this command.
func isOlder(a *terminal.App, p homedir.Paths) bool {
	d, err := homedir.ReadDaemonFile(p.Daemon)
	return err == nil && d.OlderThan(a.Version)
}

// serviceWait is how long the system may take to replace a daemon: a command of its own has 30 s.
const serviceWait = time.Minute

// replaceByService has the system's service start program, or with "" this very command, in the place of the daemon, where it runs the
// daemon of this home; byService is false where it does not. A daemon that it does not know of would be gone from it until the next login.
func (s *Started) replaceByService(ctx context.Context, a *terminal.App, p homedir.Paths, program string) (byService bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, serviceWait)
	defer cancel()
	said, _ := callCommand(ctx, p, program, "service", "status", "--json") // it ends with 3 where no service runs
	var service struct {
		Active, Foreign bool
		ThisHome        bool `json:"this_home"`
	}
	if json.Unmarshal(said, &service) != nil || !service.Active || service.Foreign || !service.ThisHome {
		return false, nil
	}
	if d, err := homedir.ReadDaemonFile(p.Daemon); err == nil {
		s.Stopped = d.Version
	}
	if program == "" {
		if program, err = renewCopy(a, p); err != nil {
			return true, err
		}
	}
	_, err = callCommand(ctx, p, program, "service", "install")
	s.Started = err == nil
	return true, terminal.Advise(err, "`cmemd service install`, and `cmemd service status` says what runs")
}

// callCommand runs a command of program, a cmemd by its path, or with "" of this very one, and returns what it prints,
// whichever way it ends.
func callCommand(ctx context.Context, p homedir.Paths, program string, args ...string) ([]byte, error) {
	name, err := program, error(nil)
	if program == "" {
		name = os.Args[0]
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Args, cmd.WaitDelay = append([]string{name, "--home", p.Home}, args...), time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()[:min(said.Len(), terminal.MaxSaid)]))
	}
	return out, err
}

// stopOlder stops the daemon that answers, and notes its version.
func (s *Started) stopOlder(ctx context.Context, client *client.Client, p homedir.Paths) error {
	if d, err := homedir.ReadDaemonFile(p.Daemon); err == nil {
		s.Stopped = d.Version
	}
	_, err := Stop(ctx, client, p, false)
	return err
}

// launch starts program, or with "" this very command, as a daemon that outlives this one, and returns its pid when something listens: that
// daemon, or one that was quicker. A daemon that ends before is an error with what it said; where another process holds
// the log, which may be a daemon that does not listen yet, only once nothing has listened for startWait.
func launch(
	ctx context.Context, a *terminal.App, client *client.Client, p homedir.Paths, l *config.Loaded, program string,
) (pid int, err error) {
	if err := ctx.Err(); err != nil { // to which no daemon seemed to answer
		return 0, err
	}
	name := program
	if program == "" {
		name = os.Args[0]
		if program, err = os.Executable(); err != nil {
			return 0, err
		}
	}
	said, err := os.OpenFile(p.StartLog, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	defer said.Close()
	cmd := &exec.Cmd{
		Path: program, Args: append([]string{name}, relay.ServeArgs(p.Home)...), Dir: p.Home,
		Env:    relay.ServeEnv(a.Environ, p.Home, l.Variables()),
		Stdout: said, Stderr: said,
	}
	process.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", program, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // the daemon outlives it
	return cmd.Process.Pid, awaitListener(ctx, client, p, ended, said)
}

// awaitListener is launch once the daemon runs; ended tells once when it has ended.
func awaitListener(ctx context.Context, client *client.Client, p homedir.Paths, ended <-chan error, said startLog) error {
	var lost error // why ours ended; nil while it runs
	within, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		there := client.Alive(within)
		if there == nil || errors.Is(there, api.ErrNoAnswer) {
			return there
		}
		select {
		case err := <-ended:
			lost = endedAtOnce(cmp.Or(err, errEnded), said, p.StartLog)
			if client.Alive(within) != nil && !isHeld(p.Log) {
				return lost
			}
		case <-within.Done():
			if err := cmp.Or(lost, ctx.Err()); err != nil {
				return err
			}
			return terminal.Advise(fmt.Errorf("the daemon does not listen after %s", startWait), "see `cmemd logs`")
		case <-time.After(askEvery):
		}
	}
}

// isHeld reports whether another process has the log open for writing.
func isHeld(path string) bool {
	log, err := eventlog.OpenReadOnly(path, eventlog.Config{Timeout: time.Millisecond})
	if err == nil {
		err = log.Close()
	}
	return errors.Is(err, eventlog.ErrLocked)
}

// startLog is the file for what a daemon says until it has a log file.
type startLog interface {
	io.ReaderAt
	io.Writer
	Truncate(size int64) error
}

// endedAtOnce is the error of a daemon that ended with err, and whose start log lies at path. Where that is empty since the disk is full,
// the error is that: nothing else could say it.
func endedAtOnce(err error, said startLog, path string) error {
	text := whatItSaid(said)
	if text == "" {
		if _, failed := said.Write(bytes.Repeat([]byte("\n"), 4096)); transient.IsFull(failed) {
			return fmt.Errorf("the daemon ended at once: %w", failed)
		}
		_ = said.Truncate(0) // it was to find out whether there is room
	}
	return terminal.Advise(fmt.Errorf("the daemon ended at once: %w%s", err, text), "see %s and `cmemd logs`", path)
}

func whatItSaid(f io.ReaderAt) string {
	b := make([]byte, terminal.MaxSaid)
	n, _ := f.ReadAt(b, 0) // the end of the file is no error
	text := strings.TrimSpace(string(b[:n]))
	if text == "" {
		return ""
	}
	return "\n" + text
}

// await waits until the daemon is ready, or has been given enough time.
func (s *Started) await(ctx context.Context, a *terminal.App, client *client.Client) error {
	limited, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		r, err := api.ReadyRoute.Call(limited, client, api.ReadyQuery{Always: true})
		if err == nil {
			s.Ready, s.Phase = r.Ready, r.Phase
		}
		if s.Ready || strings.HasPrefix(s.Phase, server.StoppedPhase) || limited.Err() != nil {
			break
		}
		if err != nil && !errors.Is(err, api.ErrNotRunning) {
			return err
		}
		_ = sleep.For(limited, askEvery)
	}
	status, err := a.Status(ctx)
	for isBehind(err) && limited.Err() == nil { // views that are made anew are there in a moment, and the daemon runs
		time.Sleep(askEvery)
		status, err = a.Status(ctx)
	}
	s.PID, s.Version, s.Unserved = status.PID, status.Version, status.Unserved
	return err
}

func isBehind(err error) bool {
	p, ok := errors.AsType[*api.Problem](err)
	return ok && p.Type == api.ProblemBehind
}

// Print says what came of a start.
func (s Started) Print(a *terminal.App) {
	if s.Stopped != "" {
		a.Printf("stopped the older daemon %s\n", terminal.VisibleLine(s.Stopped))
	}
	word := "started"
	if !s.Started {
		word = "is running already"
	}
	a.Printf("cmemd %s %s, pid %d\n", terminal.VisibleLine(s.Version), word, s.PID)
	if !s.Ready {
		a.Printf("it is not ready yet (%s); `cmemd status` tells when it is\n", terminal.VisibleLine(s.Phase))
	}
	if u := s.Unserved; u != nil {
		a.Printf("%s; to mend it: %s\n", terminal.VisibleLine(terminal.UnservedLine(*u)), terminal.VisibleLine(terminal.UnservedStep(*u)))
	}
	a.Printf("logs: %s\n", terminal.VisibleLine(s.Logs))
}
