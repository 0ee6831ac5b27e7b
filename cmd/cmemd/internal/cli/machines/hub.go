package machines

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/daemon"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/programs"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog/share/store/jet"
	"github.com/cmemd/cmemd/internal/api"
)

const hubHelp = `Hub runs a store on this machine for all your machines, joins this machine to it, and prints what to type on the other one. It
goes on until it is interrupted; the machines work without it meanwhile, and catch up when it is back. What it keeps is sealed: it reads nothing.
Started again it goes on with what it has, and prints no code: ` + "`cmemd invite`" + ` makes one.

The store is a program of its own, cmemd-hub, beside cmemd or on PATH.

With --dev 3 it runs three stores on loopback instead, which keep each object on all of them, and joins nothing to them: to see what
machines do when a store is killed. Its files are for trying: they go with it, unless --dir says where they are kept.`

type hubFlags struct {
	listen, dir, advertise string
	dev                    int
}

const (
	hubListen = ":4222"
	devListen = "127.0.0.1:4222" // where the folder is kept: machines find the stores there again
	devFree   = "127.0.0.1:0"
)

func newHub(a *terminal.App) *cobra.Command {
	f := hubFlags{listen: hubListen}
	c := &cobra.Command{
		Use: "hub", Short: "Run a store for your machines on this one, and join it", Long: hubHelp, Args: terminal.Takes(0, 0, ""),
		Example: "  cmemd hub\n  cmemd hub --dev 3",
		RunE: func(c *cobra.Command, _ []string) error {
			run := hub
			if f.dev != 0 {
				run = hubDev
			}
			return misused(c, run(c.Context(), a, f))
		},
	}
	c.Flags().StringVar(&f.listen, "listen", f.listen, "HOST:PORT; an empty host is every interface")
	c.Flags().StringVar(&f.dir, "dir", "", "the folder of what is stored; without it, hub in CMEMD_HOME")
	c.Flags().StringVar(&f.advertise, "advertise", "",
		"the host by which other machines reach this one; without it, its name and its first address")
	c.Flags().IntVar(&f.dev, "dev", 0, "run so many stores on loopback, for trying; 3 is the number")
	return c
}

// hubAddress is what cmemd-hub says on its first line.
type hubAddress struct {
	Address string `json:"address"`
	Listen  string `json:"listen"`
}

// misused is err, or a wrong command line where the store ended because of what it was given, which it said.
func misused(c *cobra.Command, err error) error {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == terminal.ExitUsage {
		return terminal.Misused(c, "%s does not take what %s was given; if that is right, it is of an older release than this cmemd", programs.Hub, c.CommandPath())
	}
	return err
}

// hub runs the store until ctx is done, and has this machine join it.
func hub(ctx context.Context, a *terminal.App, f hubFlags) error {
	program, err := programs.FindHub()
	if err != nil {
		return err
	}
	if f.dir == "" {
		home, err := a.Home()
		if err != nil {
			return err
		}
		f.dir = filepath.Join(home, "hub")
	}
	if _, err := daemon.Start(ctx, a, ""); err != nil {
		return err
	}
	arguments := []string{"--json", "--listen", f.listen, "--dir", f.dir}
	if f.advertise != "" {
		arguments = append(arguments, "--advertise", f.advertise)
	}
	_, before := os.Stat(f.dir)
	running, err := programs.HubCommand(ctx, program, arguments...)
	if err != nil {
		return err
	}
	running.Stderr = a.Err
	out, err := running.StdoutPipe()
	if err == nil {
		err = running.Start()
	}
	if err != nil {
		return err
	}
	var at hubAddress
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err == nil {
		err = enterHub(ctx, a, at)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		_ = running.Process.Signal(syscall.SIGTERM) // the error is reported, not its end
	}
	ended := running.Wait()
	if errors.Is(before, fs.ErrNotExist) && isRefused(err) {
		err = errors.Join(err, os.RemoveAll(f.dir)) // nobody was shown how to join what it holds
	}
	if ctx.Err() != nil {
		a.Infof("the store has ended; what it holds stays in %s, and `cmemd hub` goes on with it", terminal.VisibleLine(f.dir))
		return nil
	}
	if errors.Is(err, io.EOF) { // it did not start, and said why
		return fmt.Errorf("%s ended: %w", programs.Hub, ended)
	}
	return errors.Join(err, ended)
}

// isRefused reports whether the daemon does not let this caller do what it asked for.
func isRefused(err error) bool {
	problem, ok := errors.AsType[*api.Problem](err)
	return ok && problem.Type == api.ProblemForbidden
}

// hubDev runs several stores for trying until ctx is done, and says what stays of them.
func hubDev(ctx context.Context, a *terminal.App, f hubFlags) (err error) {
	program, err := programs.FindHub()
	if err != nil {
		return err
	}
	ctx, stop := terminal.UntilHangup(ctx)
	defer stop()
	kept, dir, listen := f.dir != "", f.dir, f.listen
	if listen == hubListen {
		listen = devListen
	}
	if !kept {
		if dir, err = os.MkdirTemp("", "cmemd-hub-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		if f.listen == hubListen {
			listen = devFree
		}
	}
	arguments := []string{"--dev", strconv.Itoa(f.dev), "--dir", dir, "--listen", listen}
	if f.advertise != "" {
		arguments = append(arguments, "--advertise", f.advertise)
	}
	if a.JSON {
		arguments = append(arguments, "--json")
	}
	running, err := programs.HubCommand(ctx, program, arguments...)
	if err != nil {
		return err
	}
	running.Stdout, running.Stderr = a.Out, a.Err
	if err := running.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s ended: %w", programs.Hub, err) // it said why
	}
	if kept {
		a.Infof("the stores have ended; what they hold stays in %s", terminal.VisibleLine(dir))
		return nil
	}
	a.Infof("the stores have ended, and their files are removed: machines that joined them keep their own logs; `cmemd leave --force` there")
	return nil
}

// enterHub has this machine join the hub, and prints a code for the next one. A machine that has joined already is let be: the
// hub runs, and nothing that lets anybody in is written to where a service keeps what it prints.
func enterHub(ctx context.Context, a *terminal.App, at hubAddress) error {
	c, err := ask(ctx, a)
	if err != nil {
		return err
	}
	if c.Joined {
		return sayHubRuns(a, at, c.Where)
	}
	j, err := join(ctx, a, api.ClusterJoin{Where: at.Address})
	if err != nil {
		return err
	}
	return a.Show(j, func() { showJoined(a, j) })
}

// hubAgain is what a hub says of itself on a machine that has joined already.
type hubAgain struct {
	Listen string `json:"listen"`
	Where  string `json:"where"` // the store of this machine
	Used   bool   `json:"used"`  // that is this hub
}

// sayHubRuns says that the hub runs, and warns where this machine has joined another store.
func sayHubRuns(a *terminal.App, at hubAddress, where string) error {
	out := hubAgain{at.Listen, where, sameStore(at.Address, where)}
	if !out.Used {
		a.Infof("this machine shares its memory through %s, which is not this hub: nothing of it comes here. "+
			"To change over, `cmemd leave`, then `cmemd hub` again", terminal.VisibleLine(where))
	}
	return a.ShowLine(out, "the hub listens on %s; `cmemd invite` makes a code for one more machine\n", at.Listen)
}

// sameStore reports whether an address, as cmemd-hub says it, and a store, as it is shown, have a host and port in common.
func sameStore(address, shown string) bool {
	all, err := jet.ParseAddresses(address)
	if err != nil {
		return false
	}
	for one := range strings.SplitSeq(shown, ",") {
		_, host, _ := strings.Cut(one, "://")
		if slices.ContainsFunc(all, func(a jet.Address) bool { return a.URL.Host == host }) {
			return true
		}
	}
	return false
}
