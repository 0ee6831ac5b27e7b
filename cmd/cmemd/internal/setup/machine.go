package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/daemon"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/programs"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/process"
)

// Here is this machine, as agents are installed on it, and where this home has the records of that.
func Here(a *terminal.App) (m install.Machine, s install.Store, err error) {
	home, err := a.Home()
	if err != nil {
		return m, s, err
	}
	person, err := relay.UserHome()
	m = install.Machine{OS: runtime.GOOS, Home: person, Getenv: a.Getenv, LookPath: exec.LookPath}
	return m, install.Store{Dir: filepath.Join(home, "install")}, err
}

// newInstallation gathers what installing needs to know of this machine.
func newInstallation(a *terminal.App, f installCommand) (*installation, error) {
	home, err := a.Home()
	if err != nil {
		return nil, err
	}
	x := &installation{app: a, flags: f}
	if x.machine, x.store, err = Here(a); err != nil {
		return nil, err
	}
	x.options = install.Options{Version: a.Version, Home: home, Settings: f.settings, NoMCP: f.noMCP}
	if f.remove {
		if l, err := config.ForHome(a); err == nil { // settings that cannot be read keep nobody from removing
			x.options.Listen = l.Listen
		}
		return x, nil
	}
	if x.options.Program, x.copyFrom, err = ownProgram(home); err != nil {
		return nil, err
	}
	for _, agent := range install.Agents() {
		if agent.Hooks.Plugin {
			_, err := exec.LookPath(agent.Programs[0])
			x.options.Settings = x.options.Settings || err != nil
		}
	}
	return x, x.configure(home)
}

// configure takes over what the settings say.
func (x *installation) configure(home string) error {
	l, err := config.ForHome(x.app)
	if err != nil {
		return err
	}
	x.options.Listen = l.Listen
	if !x.flags.http {
		return nil
	}
	if l.Listen == "" {
		return terminal.Advise(errors.New("the daemon listens at no address that hooks could post to"), "set one: `cmemd config set listen 127.0.0.1:37911`")
	}
	token, err := x.hookToken(homedir.PathsOf(home))
	x.options.HTTP = &install.HTTP{Addr: l.Listen, Token: token}
	return err
}

// ownProgram is how agents are to call this very cmemd. Where it lies in a place that something else clears up, that is the copy in the
// home, and from is what keepProgram is to copy; else from is empty.
func ownProgram(home string) (p install.Program, from string, err error) {
	self, err := os.Executable()
	if err != nil {
		return p, "", err
	}
	p.Home = home // whatever variables an agent has, or a folder that it is started in gives it
	p.Cmemd = programs.Stable(self)
	if _, passing := programs.TransientWay(p.Cmemd); passing {
		from, p.Cmemd = self, programs.Path(programs.Dir(home), "cmemd", programs.Ext(self))
	}
	p.Hook = []string{p.Cmemd, "hook"}
	hook := "cmemd-hook" + programs.Ext(self)
	beside := filepath.Join(filepath.Dir(p.Cmemd), hook)
	if isThere(beside) || from != "" && isThere(filepath.Join(filepath.Dir(from), hook)) {
		p.Hook = []string{beside}
	} else if found, err := exec.LookPath("cmemd-hook"); err == nil && filepath.IsAbs(found) && from == "" {
		p.Hook = []string{found}
	}
	return p, from, nil
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// keepProgram copies the program at from, and those beside it, to where agents find them; nothing where from is empty.
func keepProgram(ctx context.Context, a *terminal.App, home, from string) error {
	if from == "" {
		return nil
	}
	if err := homedir.PathsOf(home).Make(); err != nil {
		return err
	}
	differing := programs.Differing(from, home)
	if runtime.GOOS == "windows" && len(differing) > 0 && programs.Newer(from, home, a.Version) == "" { // it replaces no program that runs
		release, err := daemon.MakeRoom(ctx, a)
		if err != nil {
			return err
		}
		defer release()
	}
	_, err := programs.Copy(from, home, a.Version, a.Now())
	if errors.Is(err, programs.ErrNewer) {
		a.Infof("%v; they stay, and agents use them: to go back, `cmemd stop`, remove that folder, and run this again", err)
		return nil
	}
	if err != nil {
		return err
	}
	if len(differing) > 0 {
		a.Infof("copied %s to %s: where they lay they do not stay", strings.Join(differing, ", "), programs.Dir(home))
	}
	return mayStart(ctx, programs.Path(programs.Dir(home), "cmemd", programs.Ext(from)))
}

// mayStart returns an error where the system does not start the program at path, as on a disk that is mounted with noexec: each hook of an
// agent would fail there.
func mayStart(ctx context.Context, path string) error {
	if _, err := programs.AskVersion(ctx, path, programs.CommandVersion); errors.Is(err, fs.ErrPermission) {
		return terminal.Advise(fmt.Errorf("%s may not be run here: %w", filepath.Dir(path), syscall.EACCES),
			"let CMEMD_HOME name a folder on a disk that is not mounted with noexec, or put cmemd into a folder of PATH where it stays")
	}
	return nil
}

// agentClientWait is how long an agent's own client may take for one command. It was seen to take a second.
const agentClientWait = 2 * time.Minute

// runClient runs a command of an agent's client.
func runClient(ctx context.Context, a *terminal.App, c install.Command) error {
	ctx, cancel := context.WithTimeout(ctx, agentClientWait)
	defer cancel()
	env := slices.DeleteFunc(slices.Clone(a.Environ), func(kv string) bool {
		return slices.ContainsFunc(known.Secrets(), func(beginning string) bool { return strings.HasPrefix(kv, beginning) })
	})
	return run(ctx, c.Args, append(env, "CMEMD_DISABLE=1")) // nothing that it does is a session
}

// run runs a command, in this environment if env is nil. What it said is in the error.
func run(ctx context.Context, argv, env []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.WaitDelay = env, time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, terminal.EndOf(string(out)))
}

// How long an agent may take to say which hooks it trusts, and then to end. It was seen to take half a second, and no time; where
// seven others wanted each of the processors, 2.5 to 4 s, and once more than 5.
const (
	trustTimeout = 15 * time.Second
	exitTimeout  = 2 * time.Second
)

// AskTrust asks an agent's client what it thinks of cmemd's hooks. Its databases are written to a folder of their own, and what it would
// fetch or unpack at a start is switched off: of its home it changes nothing but that it makes an installation_id where it was
// never started. The error of one that gave no answer in time says so; that of one that was stopped is ctx's.
func AskTrust(ctx context.Context, a *terminal.App, agent install.Agent) (found []install.Trust, err error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, trustTimeout)
	defer cancel()
	until, _ := ctx.Deadline() // that of who asks, where it is before ours
	dir, err := os.MkdirTemp("", "cmemd-"+agent.Name+"-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	cmd := exec.CommandContext(ctx, agent.Programs[0], agent.Hooks.Trust.Args...)
	cmd.Env = append(cmd.Environ(), agent.Hooks.Trust.Scratch+"="+dir)
	cmd.WaitDelay = time.Second
	process.OwnGroup(cmd)
	cmd.Cancel = func() error { return process.KillGroup(cmd.Process) } // with what it started
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// Children of one that is killed may hold on to its pipes.
	defer context.AfterFunc(ctx, func() { _ = errors.Join(in.Close(), out.Close()) })()
	here, _ := os.Getwd() // "" is a folder too, of which nothing is known
	if _, err = in.Write([]byte(install.TrustRequest(a.Version, here))); err == nil {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 8<<20)
		found, err = install.ReadTrust(lines)
	}
	if err != nil && ctx.Err() != nil { // what it would have been read from is closed
		err = ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s gave no answer within %s", agent.Programs[0], until.Sub(began).Round(time.Second))
	}
	_ = in.Close() // which tells it to end; killed it would leave its own temporary files
	defer time.AfterFunc(exitTimeout, cancel).Stop()
	_ = cmd.Wait() // what it said counts, not how it ended
	return found, err
}

// hookToken is what hooks that post are given. It is a word for it in what is printed, and where nothing is to be written and
// the daemon has made none yet.
func (x *installation) hookToken(p homedir.Paths) (string, error) {
	if x.flags.print {
		return noToken, nil
	}
	if !x.flags.dryRun {
		if err := p.Make(); err != nil {
			return "", err
		}
		return homedir.LoadToken(p.Token)
	}
	token, err := homedir.ReadToken(p.Token)
	if errors.Is(err, fs.ErrNotExist) {
		return noToken, nil
	}
	return token, err
}

// An installCommand is the flags of install and uninstall.
type installCommand struct {
	remove, yes, dryRun, print bool
	settings, http, noMCP      bool
	projects                   []string // that agents may reach by their tools
	projectsGiven              bool
}

// An installation is one run of install or uninstall.
type installation struct {
	app         *terminal.App
	flags       installCommand
	machine     install.Machine
	options     install.Options
	store       install.Store
	copyFrom    string // what is to be copied to where the options say that the program is; empty: it is there
	agentsGiven bool   // the person named the agents
}

// noToken is a word for a token.
const noToken = "TOKEN"
