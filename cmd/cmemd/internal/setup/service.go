package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/daemon"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/sleep"
)

const serviceHelp = `Service has the system start the daemon when you log in, and start it again should it fail: by a systemd user unit on Linux,
a launchd agent on macOS. It is not needed: hooks start a daemon where none runs.`

func newService(a *terminal.App) *cobra.Command {
	c := &cobra.Command{Use: "service", Short: "Have the system run the daemon", Long: serviceHelp, Args: terminal.NoSuchCommand, RunE: terminal.ShowHelp}
	printOnly := false
	put := &cobra.Command{
		Use: "install", Short: "Write the unit, and have the system start the daemon", Args: terminal.Takes(0, 0, ""),
		Long: "Install writes a systemd user unit, or a launchd agent, and starts it. A daemon that runs already is stopped first. A second\nrun writes the file anew; one that somebody else wrote, or that is of another home, is left alone.",
		RunE: func(c *cobra.Command, _ []string) error { return installService(c.Context(), a, printOnly) },
	}
	put.Flags().BoolVar(&printOnly, "print", false, "only print the file")
	c.AddCommand(put,
		&cobra.Command{
			Use: "uninstall", Short: "Stop the daemon, and take the unit away; that of another home is left alone", Args: terminal.Takes(0, 0, ""),
			RunE: func(c *cobra.Command, _ []string) error { return uninstallService(c.Context(), a) },
		},
		&cobra.Command{
			Use: "status", Short: "Say whether the system runs the daemon; exit code 3 if it does not", Args: terminal.Takes(0, 0, ""),
			RunE: func(c *cobra.Command, _ []string) error { return serviceStatus(c.Context(), a) },
		},
	)
	return c
}

// A shownService is what is said of the service.
type shownService struct {
	Manager   string `json:"manager"`
	Path      string `json:"path"`
	Installed bool   `json:"installed"`
	Foreign   bool   `json:"foreign,omitempty"` // somebody else wrote the file
	ThisHome  bool   `json:"this_home"`         // the file has the system run the daemon of this home
	Current   bool   `json:"current"`           // the file is what this cmemd would write
	Enabled   bool   `json:"enabled"`           // it is started at login
	Active    bool   `json:"active"`            // it runs
	Alone     bool   `json:"alone,omitempty"`   // a daemon runs that the system did not start
	Note      string `json:"note,omitempty"`
}

// service is the file of this machine.
func service(a *terminal.App) (s serviceFile, err error) {
	home, err := a.Home()
	if err != nil {
		return s, err
	}
	person, err := relay.UserHome()
	if err != nil {
		return s, err
	}
	config := a.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(person, ".config")
	}
	program, from, err := ownProgram(home)
	if err != nil {
		return s, err
	}
	s, ok := serviceFor(runtime.GOOS, person, config, program.Cmemd, home)
	if !ok {
		return s, fmt.Errorf("no service is known for %s", runtime.GOOS)
	}
	s.from = from
	return s, nil
}

// errOtherHome is a service file of another CMEMD_HOME: the system runs one daemon of a person.
var errOtherHome = errors.New("it has the system run the daemon of another home")

func installService(ctx context.Context, a *terminal.App, printOnly bool) error {
	s, err := service(a)
	if err != nil {
		return err
	}
	if printOnly {
		return a.ShowLine(map[string]string{"path": s.path, "text": s.text}, "%s", terminal.Visible(s.text))
	}
	switch text, err := s.read(); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return terminal.Advise(err, "move it away, or keep it: hooks start a daemon where none runs")
	default:
		if err := s.checkHome(text); err != nil {
			return err
		}
	}
	if err := keepProgram(ctx, a, s.home, s.from); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	if err := durable.Replace(s.path, []byte(s.text), 0o600); err != nil {
		return err
	}
	p, err := homedir.Made(a)
	if err != nil {
		return err
	}
	if err := startService(ctx, s, p); err != nil {
		return err
	}
	return serviceStatus(ctx, a)
}

// startService has the system run what s says, and not what it said before.
func startService(ctx context.Context, s serviceFile, p homedir.Paths) error {
	if s.manager == "launchd" { // it has nothing that would do it
		if err := forgetAgent(ctx, s); err != nil {
			return err
		}
		if err := stopRunning(ctx, p); err != nil {
			return err
		}
	}
	for _, argv := range s.start {
		if err := manage(ctx, argv); err != nil {
			return terminal.Advise(fmt.Errorf("%s is written, and the system does not take it: %w", s.path, err),
				"`cmemd service install` once more, where you are logged in and the system answers; until then hooks start a daemon")
		}
	}
	return nil
}

// forgetPollInterval is how often launchd is asked whether it has forgotten an agent: it answers before the daemon has ended.
const forgetPollInterval = 100 * time.Millisecond

// forgetAgent has launchd end and forget what it knows under the name of s, and returns when it has. That it knows nothing is
// no error: an agent that it knows cannot be put in again.
func forgetAgent(ctx context.Context, s serviceFile) error {
	ctx, cancel := context.WithTimeout(ctx, manageWait)
	defer cancel()
	for _, argv := range s.stop {
		_ = manage(ctx, argv) // whether it is known is asked next
	}
	for manage(ctx, s.known) == nil {
		if err := sleep.For(ctx, forgetPollInterval); err != nil {
			return fmt.Errorf("launchd still runs the daemon that it is to start anew: %w", err)
		}
	}
	return nil
}

// stopRunning stops the daemon of a home, if one runs.
func stopRunning(ctx context.Context, p homedir.Paths) error {
	client := client.Dial(p.Home)
	defer client.Close()
	if errors.Is(client.Alive(ctx), api.ErrNotRunning) {
		return nil
	}
	_, err := daemon.Stop(ctx, client, p, false)
	return err
}

// manageWait is how long the system's own command may take; a daemon that is stopped takes up to 5 s.
const manageWait = 30 * time.Second

// manage runs a command of the system's.
func manage(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithTimeout(ctx, manageWait)
	defer cancel()
	return run(ctx, argv, nil)
}

func uninstallService(ctx context.Context, a *terminal.App) error {
	s, err := service(a)
	if err != nil {
		return err
	}
	text, err := s.read()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no %s", terminal.ErrNothing, s.path)
	}
	if err != nil {
		return terminal.Advise(err, "it was left as it is")
	}
	if err := s.checkHome(text); err != nil {
		return err
	}
	var stopped error
	for _, argv := range s.stop {
		stopped = errors.Join(stopped, manage(ctx, argv))
	}
	if err := os.Remove(s.path); err != nil {
		return err
	}
	if err := durable.SyncDir(filepath.Dir(s.path)); err != nil {
		return err
	}
	note := ""
	if s.manager == "systemd" {
		stopped = errors.Join(stopped, manage(ctx, systemctl("daemon-reload")))
	}
	if stopped != nil {
		note = "the system was not told: " + stopped.Error()
	}
	return a.Show(shownService{Manager: s.manager, Path: s.path, Note: note}, func() {
		a.Printf("%s is gone\n", terminal.VisibleLine(s.path))
		if note != "" {
			a.Infof("%s", terminal.Visible(note))
		}
	})
}

func serviceStatus(ctx context.Context, a *terminal.App) error {
	s, err := service(a)
	if err != nil {
		return err
	}
	shown := shownService{Manager: s.manager, Path: s.path}
	text, err := s.read()
	shown.Foreign = errors.Is(err, errForeignService)
	shown.Installed, shown.Current = err == nil || shown.Foreign, text == s.text
	shown.ThisHome = shown.Installed && s.isOfHome(text)
	shown.Enabled = shown.Installed
	if s.manager == "systemd" {
		shown.Enabled = manage(ctx, systemctl("is-enabled", unitName)) == nil
	}
	err = manage(ctx, s.known)
	if shown.Active = err == nil; err != nil {
		shown.Note, shown.Alone = err.Error(), daemonRuns(ctx, a)
	}
	if err := a.Show(shown, func() { showService(a, shown) }); err != nil {
		return err
	}
	switch {
	case shown.Installed && !shown.Foreign && !shown.ThisHome:
		return a.MarkReported(terminal.Advise(fmt.Errorf("%w of this home", terminal.ErrNoService), "%s, then `cmemd service install`, has it run this one instead; without it, hooks start a daemon where none runs", s.uninstallOf(text)))
	case shown.Alone:
		return a.MarkReported(terminal.Advise(fmt.Errorf("%w: one runs that hooks or `cmemd start` started", terminal.ErrNoService), "nothing has to be done; `cmemd service install` has the system run it instead"))
	case !shown.Active:
		return a.MarkReported(terminal.Advise(terminal.ErrNoService, "`cmemd service install`; without it, hooks start a daemon where none runs"))
	}
	return nil
}

// daemonRuns reports whether the daemon of this home answers, whoever started it.
func daemonRuns(ctx context.Context, a *terminal.App) bool {
	return a.Stream(ctx, func(*client.Client) error { return nil }) == nil
}

func showService(a *terminal.App, s shownService) {
	yesNo := map[bool]string{true: "yes", false: "no"}
	a.Field("manager", s.Manager)
	a.Field("file", s.Path)
	a.Field("installed", yesNo[s.Installed])
	switch {
	case s.Foreign:
		a.Field("", "cmemd did not write it, and leaves it alone")
	case s.Installed && !s.ThisHome:
		a.Field("", "it runs the daemon of another home than this one")
	case s.Installed && !s.Current:
		a.Field("", "another one than this cmemd writes: `cmemd service install` writes it anew")
	}
	a.Field("at login", yesNo[s.Enabled])
	a.Field("runs", yesNo[s.Active])
	a.Field("note", s.Note)
}
